package python

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/internal/built"
)

// TestCompare: the script that compares the exact search with other solvers, with the one
// that tests have: on twelve jobs both prove the same optima, which bench score has checked.
func TestCompare(t *testing.T) {
	interpreter := Interpreter(t, "highspy")
	script, err := filepath.Abs("../../docs/examples/solvers/compare.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, objective := range []string{"total-jct", "makespan"} {
		cmd := exec.CommandContext(t.Context(), interpreter, script, "--bench", built.Bench(t), "--jobs", "12", "--load", "0.3", "--seeds", "2", "--limit", "60", "--solvers", "HiGHS", "--objective", objective)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, row := range []string{"| exhaustive | 2 of 2 | 2 of 2 |", "| HiGHS | 2 of 2 | 2 of 2 |"} {
			if !strings.Contains(string(out), row) {
				t.Errorf("%s: no row %q in\n%s", objective, row, out)
			}
		}
	}
}
