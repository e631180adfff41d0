//go:build cgo

package isolate

import (
	"testing"

	"yardstick/solvers/solvertest"
)

func TestConformance(t *testing.T) { solvertest.Solver(t, Solver{Solver: "lpsolve-mip"}) }
