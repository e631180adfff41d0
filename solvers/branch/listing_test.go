package branch_test

import (
	"testing"

	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
	"yardstick/solvers/solvertest"
)

// Time-indexed programs have an incumbent after the first node, and it is not
// far from the optimum.
func TestListing(t *testing.T) {
	programs, found, gap := 0, 0, 0.0
	for seed := range uint64(40) {
		m := solvertest.TimeIndexed(6, 60, 12, seed)
		full := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{})
		if full.Termination != milp.Optimal || full.Stats.Nodes < 2 {
			continue
		}
		programs++
		first := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{Nodes: 1})
		if first.X == nil {
			continue
		}
		found++
		gap += first.PrimalBound/full.PrimalBound - 1
		if first.PrimalBound < full.PrimalBound || first.DualBound > full.PrimalBound {
			t.Errorf("seed %d: [%v, %v] after the first node, optimum %v", seed, first.DualBound, first.PrimalBound, full.PrimalBound)
		}
	}
	t.Logf("%d of %d programs have an incumbent after the first node, %.1f %% above the optimum on average", found, programs, 100*gap/float64(found))
	if programs < 10 || found < programs-2 {
		t.Errorf("%d of %d programs have an incumbent after the first node", found, programs)
	}
	if gap > 0.1*float64(found) {
		t.Errorf("incumbents are %.1f %% above the optimum on average", 100*gap/float64(found))
	}
}
