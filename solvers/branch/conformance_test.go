package branch_test

import (
	"testing"

	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/solvertest"
)

func TestConformance(t *testing.T) {
	solvertest.Solver(t, branch.New(lpsolve.LP{}))
}
