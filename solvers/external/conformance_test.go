package external

import (
	"errors"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/solvers/solvertest"
)

// present returns the solver.
func present(t *testing.T, find func() (*Solver, error)) *Solver {
	t.Helper()
	s, err := find()
	if errors.Is(err, ErrAbsent) {
		schedtest.Missing(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGLPSOL(t *testing.T) {
	solvertest.Solver(t, present(t, GLPSOL),
		"node limit",     // glpsol has no such option
		"start", "round") // see Solve
}

func TestCBC(t *testing.T) {
	solvertest.Solver(t, present(t, CBC), "start", "round") // see Solve
}

func TestHiGHS(t *testing.T) {
	solvertest.Solver(t, withHiGHS(t), "start", "round") // see Solve
}
