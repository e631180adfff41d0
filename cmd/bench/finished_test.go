package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/bench"
)

const finishedSuite = `apiVersion: yardstick/v1
name: finished
instances:
  - name: small
    trace: TRACE
    slice: {jobs: 4, at: random, repeat: 2}
    history: 0
    cluster: {servers: 2, gpusPerServer: 4, inter: 10Gbps, intra: 300GB/s}
    tooLarge: drop
    methods: [fifo, lb0]
    references: [exhaustive]
    prove: {upTo: 8}
objectives: [total-jct]
`

// A run with nothing left to do leaves every file as it is and prints the report again;
// whatever has changed in its directory, its inputs, the environment or its flags has it
// make the tables again, equal ones.
func TestFinished(t *testing.T) {
	folder := t.TempDir()
	trace, dir := filepath.Join(folder, "trace.parquet"), filepath.Join(folder, "r")
	mustRun(t, "dataset", "generate", "--like", "philly", "--jobs", "200", "--seed", "1", "-o", trace)
	suite := write(t, "suite.yaml", strings.Replace(finishedSuite, "TRACE", trace, 1))
	args := []string{"run", suite, "-q", "-o", dir}
	mustRun(t, args...)
	want := digestOf(t, dir)
	untouched := func() bool { // the tables of a run are written anew
		before := stat(t, filepath.Join(dir, "manifest.json"))
		code, out, errOut := benchCommand(t, args...)
		if code != exitOK || digestOf(t, dir) != want || !strings.Contains(out, "\nreport "+filepath.Join(dir, "report.html")) {
			t.Fatalf("exit code %d, digest %s, want %s: %s%s", code, digestOf(t, dir), want, out, errOut)
		}
		same := os.SameFile(before, stat(t, filepath.Join(dir, "manifest.json")))
		if same && !strings.Contains(errOut, "6 of 6 cells were finished before") {
			t.Errorf("nothing is said of cells that were finished: %s", errOut)
		}
		return same
	}
	if !untouched() {
		t.Error("a run with nothing to do wrote its tables")
	}
	_, first, _ := benchCommand(t, args...)
	if _, byFolder, _ := benchCommand(t, "run", dir, "-q"); byFolder != first {
		t.Errorf("by the suite: %s\nby the folder: %s", first, byFolder)
	}
	var files []string
	for _, pattern := range []string{"*.json", "*.arrow", "*.html", "certificates/*", "instances/*", "proofs/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		if len(found) == 0 {
			t.Fatalf("no %s", pattern)
		}
		files = append(files, found[len(found)-1])
	}
	for _, name := range append(files, trace) {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := append([]byte{}, content...)
		bad[len(bad)/2] ^= 1
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if name == trace || filepath.Base(name) == bench.PlanFileName {
			if done, err := standingOf(t, suite, dir); done || err != nil {
				t.Errorf("with another %s nothing is to do, %v", name, err)
			}
			if err := os.WriteFile(name, content, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if untouched() {
			t.Errorf("with another %s nothing is to do", name)
		}
		if !untouched() {
			t.Errorf("with another %s tables are made twice", name)
		}
	}
	t.Setenv("BENCH_MAX_JOBS", "100000")
	if untouched() {
		t.Error("in another environment nothing is to do")
	}
	if !untouched() {
		t.Error("in another environment tables are made twice")
	}
	forced := append(slices.Clone(args), "--force")
	mustRun(t, forced...)
	if !untouched() {
		t.Error("after --force something is to do")
	}
	journals, _ := filepath.Glob(filepath.Join(dir, "cells", "*"))
	content, err := os.ReadFile(journals[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-10] ^= 1
	if err := os.WriteFile(journals[0], content, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a damaged line stays, and is told of every time
		if untouched() {
			t.Error("with a damaged journal nothing is to do")
		}
	}
}

// A run that failed in part, or took cells of any build, is not finished.
func TestNotFinished(t *testing.T) {
	dir := t.TempDir() + "/r"
	suite := write(t, "suite.yaml", strings.NewReplacer("TRACE", "builtin:philly-like", "fifo", "{name: external, params: {command: /none}}").Replace(finishedSuite))
	for range 2 {
		if code, _, errOut := benchCommand(t, "run", suite, "-q", "-o", dir); code != exitIncomplete {
			t.Fatalf("exit code %d: %s", code, errOut)
		}
		if _, err := bench.ReadFinished(dir); err == nil {
			t.Error("a run with failures is finished")
		}
	}
	dir = t.TempDir() + "/r"
	suite = write(t, "suite.yaml", strings.Replace(finishedSuite, "TRACE", "builtin:philly-like", 1))
	mustRun(t, "run", suite, "-q", "--any-build", "-o", dir)
	if _, err := bench.ReadFinished(dir); err == nil {
		t.Error("a run of any build is finished")
	}
}

func standingOf(t *testing.T, suite, dir string) (bool, error) {
	t.Helper()
	file, parsed, err := readSuite([]string{suite}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	a := &app{out: &out, err: &out}
	return a.standing(t.Context(), runFlags{out: dir, origin: originOf(parsed)}, file)
}

func stat(t *testing.T, name string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
