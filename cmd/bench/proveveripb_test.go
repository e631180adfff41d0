package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bounds/proof/veripb"
	"yardstick/internal/schedtest"
)

// wholeHours is an instance whose times are multiples of an hour.
const wholeHours = `{"name": "hours", "model": "gang", "cluster": {"servers": [{"gpus": 8}], "inter": "10Gbps", "intra": "300GB/s"}, "jobs": [
{"name": "a", "release": "0h", "weight": 1, "iters": 5, "stages": [{"replicas": 5, "compute": "1h"}]},
{"name": "b", "release": "1h", "weight": 2, "iters": 2, "stages": [{"replicas": 4, "compute": "1h"}]},
{"name": "c", "release": "1h", "weight": 1, "iters": 3, "stages": [{"replicas": 6, "compute": "1h"}]},
{"name": "d", "release": "2h", "weight": 1, "iters": 4, "stages": [{"replicas": 3, "compute": "1h"}]}]}`

// A folder of both formats is accepted, and neither a changed claim nor a changed program.
func TestProveVeriPB(t *testing.T) {
	if _, err := veripb.Find(); err != nil {
		schedtest.Missing(t, "%v", err)
	}
	dir := t.TempDir()
	instance, folder := filepath.Join(dir, "hours.json"), filepath.Join(dir, "proof")
	if err := os.WriteFile(instance, []byte(wholeHours), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out, errOut := benchCommand(t, "prove", instance, "--format", "all", "-q", "-o", folder); code != exitOK || !strings.Contains(out, "the optimum of class N") {
		t.Fatalf("code %d: %s%s", code, out, errOut)
	}
	if code, out, errOut := benchCommand(t, "verify", instance, folder); code != exitOK || !strings.Contains(out, "VeriPB accepts") || !strings.Contains(out, "follows from") {
		t.Fatalf("code %d: %s%s", code, out, errOut)
	}
	bound := filepath.Join(dir, "bound")
	if code, out, errOut := benchCommand(t, "prove", instance, "--format", "veripb", "--bound", "40000", "-q", "-o", bound); code != exitOK {
		t.Fatalf("code %d: %s%s", code, out, errOut)
	}
	if code, out, errOut := benchCommand(t, "verify", instance, bound); code != exitOK || strings.Contains(out, "one costs") {
		t.Fatalf("code %d: %s%s", code, out, errOut)
	}
	// Where a tree has no end within its nodes, prices alone prove a bound.
	if code, out, errOut := benchCommand(t, "prove", instance, "--format", "veripb", "--nodes", "1", "-q", "-o", bound); code != exitOK || !strings.Contains(out, "no schedule of class N") {
		t.Fatalf("code %d: %s%s", code, out, errOut)
	}
	if code, out, errOut := benchCommand(t, "verify", instance, bound); code != exitOK || strings.Contains(out, "one costs") {
		t.Fatalf("code %d: %s%s", code, out, errOut)
	}
	// What the tree with prices proves stays, whatever the other form reaches.
	both := filepath.Join(dir, "both")
	code, out, errOut := benchCommand(t, "prove", instance, "--format", "all", "--nodes", "3", "-q", "-o", both)
	if code != exitOK || !strings.Contains(out, "the optimum of class N") || !strings.Contains(out, "the proof by veripb is one of a bound") {
		t.Fatalf("code %d: %s%s", code, out, errOut)
	}
	if code, out, errOut := benchCommand(t, "verify", instance, both); code != exitOK || strings.Count(out, "one costs") != 1 {
		t.Fatalf("code %d: %s%s", code, out, errOut)
	}
	if readme, err := os.ReadFile(filepath.Join(both, "README.md")); err != nil || !strings.Contains(string(readme), "this is the optimum") || !strings.Contains(string(readme), "Of this form the proof is one of a bound") {
		t.Fatalf("the README says nothing of both: %v", err)
	}
	for _, c := range []struct{ file, old, new, says string }{
		{veripb.ProofName, "conclusion BOUNDS ", "conclusion BOUNDS 9", "veripb refuses the proof"},
		{veripb.ModelName, " = 1 ;", " = 2 ;", "is not the program of"},
	} {
		path := filepath.Join(folder, c.file)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(good), c.old, c.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, out, errOut := benchCommand(t, "verify", folder); code != exitInvalid || !strings.Contains(errOut, c.says) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: code %d: %s%s", c.file, code, out, errOut)
		}
		if err := os.WriteFile(path, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
