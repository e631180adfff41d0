package main

import "testing"

func TestZFifo(t *testing.T) {
	mustRun(t, "simulate", "/tmp/b/big.csv", "--servers", "250", "--gpus-per-server", "8", "--policy", "fifo", "--time-limit", "0")
}

func TestZPython(t *testing.T) {
	mustRun(t, "simulate", "/tmp/b/big.csv", "--servers", "250", "--gpus-per-server", "8", "--policy-command", "/usr/bin/python3 ../../python/examples/lists.py fifo strict")
}
