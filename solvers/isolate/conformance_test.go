//go:build cgo

package isolate

import (
	"testing"

	"yardstick/solvers/solvertest"
)

func TestConformance(t *testing.T) {
	solvertest.Solver(t, Solver{Solver: "lpsolve-mip"}, "start", "round") // lp_solve's search takes neither
}

// A point reaches the child; a function cannot be sent.
func TestStarts(t *testing.T) {
	solvertest.Starts(t, Solver{Solver: "branch"}, "round")
}
