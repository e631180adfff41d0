//go:build cgo

package lpsolve

import (
	"testing"

	"yardstick/solvers/solvertest"
)

func TestConformance(t *testing.T) {
	solvertest.Solver(t, MIP{}, "start", "round") // lp_solve's search takes neither
}

func TestLinearConformance(t *testing.T) { solvertest.LPSolver(t, LP{}) }
