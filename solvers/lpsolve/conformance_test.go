//go:build cgo

package lpsolve

import (
	"testing"

	"yardstick/solvers/solvertest"
)

func TestConformance(t *testing.T) { solvertest.Solver(t, MIP{}) }

func TestLinearConformance(t *testing.T) { solvertest.LPSolver(t, LP{}) }
