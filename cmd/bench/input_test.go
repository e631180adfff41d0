package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestInputsThatAreNoFiles: every argument of every command that names a file is
// exchanged for a pipe that nobody writes, a device that never ends, a socket and a
// folder, and the command says so at once, in one line, as bad input. A folder in the
// place of a folder is another matter.
func TestInputsThatAreNoFiles(t *testing.T) {
	dir := t.TempDir()
	odd := map[string]string{"pipe": filepath.Join(dir, "pipe"), "socket": filepath.Join(dir, "socket"), "device": "/dev/zero", "directory": dir}
	if err := syscall.Mkfifo(odd["pipe"], 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", odd["socket"])
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tried := 0
	for name, args := range commandLines(t) {
		for i, arg := range args {
			info, err := os.Stat(arg)
			if err != nil || arg == "." || i > 0 && args[i-1] == "-o" || name == "merge" {
				continue
			}
			for what, path := range odd {
				if info.IsDir() && what == "directory" {
					continue
				}
				tried++
				says := "is a " + what
				switch {
				case what == "directory" && slices.Contains([]string{"run", "submit slurm"}, name):
					says = "holds no plan"
				case info.IsDir(), slices.Contains([]string{"simulate", "verify", "validate"}, name):
					says = "" // the first thing wrong is another: no result directory, no cluster
				}
				refused(t, name+" of a "+what, says, slices.Concat(args[:i], []string{path}, args[i+1:]))
			}
		}
	}
	for _, keys := range []string{"slice: {jobs: 3}, trace: ODD", "file: ODD", "slice: {jobs: 3}, profiles: ODD",
		"slice: {jobs: 3}, model: sharing, sharing: {interference: ODD}"} {
		for what, path := range odd {
			tried++
			suite := write(t, "s.yaml", "name: s\ninstances: [{"+strings.ReplaceAll(keys, "ODD", path)+"}]\nobjectives: [total-jct]\nmethods: [exhaustive]\n")
			refused(t, keys+" that is a "+what, "is a "+what, []string{"plan", suite})
		}
	}
	if tried < 60 {
		t.Errorf("only %d were tried", tried)
	}
}

// refused runs a command line that must end at once, in one line that says why, as bad
// input. One that reads what never ends does not come back.
func refused(t *testing.T, what, says string, args []string) {
	t.Helper()
	code, _, errOut := benchCommand(t, args...)
	if code != exitUsage || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, says) {
		t.Errorf("%s: exit code %d: %s", what, code, errOut)
	}
}
