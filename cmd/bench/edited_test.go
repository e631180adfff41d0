package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/internal/python"
)

// A trace that pyarrow or pandas edited is described, sliced and run as any other; where
// the checksums of the old values are still in it, a line says so, and slices have new
// ones.
func TestEditedTraces(t *testing.T) {
	interpreter := python.Interpreter(t, "pandas")
	dir := t.TempDir()
	own := filepath.Join(dir, "own.parquet")
	mustRun(t, "dataset", "slice", "builtin:philly-like", "-w", "submit_s=<100000", "-o", own)
	if text, err := exec.Command(interpreter, "../../datasets/testdata/edited/edit.py", own, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for name, told := range map[string]bool{"arrow-copied": false, "arrow-filtered": true, "arrow-weighted": true, "pandas-filtered": false, "pandas-weighted": false} {
		path := filepath.Join(dir, name+".parquet")
		for _, args := range [][]string{{"dataset", "describe", path}, {"dataset", "slice", path, "-w", "gpus=>=1", "-o", filepath.Join(dir, "sliced.parquet")},
			{"plan", write(t, "s.yaml", "name: s\ninstances: [{name: i, trace: "+path+", slice: {jobs: 5, at: busiest}, tooLarge: drop}]\nobjectives: [makespan]\nmethods: [fifo]\nreferences: [lb0]\n")}} {
			code, _, errOut := benchCommand(t, args...)
			if code != exitOK || strings.Contains(errOut, "no longer apply") != told {
				t.Errorf("%v: exit code %d: %s", args, code, errOut)
			}
		}
		if code, _, errOut := benchCommand(t, "dataset", "describe", filepath.Join(dir, "sliced.parquet")); code != exitOK || strings.Contains(errOut, "no longer apply") {
			t.Errorf("%s sliced: exit code %d: %s", name, code, errOut)
		}
	}
}
