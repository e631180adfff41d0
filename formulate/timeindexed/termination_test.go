package timeindexed

import (
	"math/big"
	"testing"

	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// A makespan is excluded by the proof that its program has no point: that is no
// failure, while a claim or a limit is what the user should see.
func TestTermination(t *testing.T) {
	run := func(how milp.Termination, dual milp.Evidence) exact.Program {
		return exact.Program{Result: &milp.Result{Termination: how, Dual: dual}}
	}
	solved, excluded := run(milp.Optimal, milp.Proven), run(milp.Infeasible, milp.Proven)
	for _, c := range []struct {
		lower int64
		runs  []exact.Program
		want  milp.Termination
	}{
		{5, []exact.Program{excluded}, milp.Optimal},
		{4, []exact.Program{solved, excluded}, SlotLimit},
		{4, []exact.Program{excluded, run(milp.Infeasible, milp.Claimed)}, milp.Infeasible},
		{4, []exact.Program{excluded, run(milp.TimeLimit, milp.None)}, milp.TimeLimit},
	} {
		r := &exact.Result{Cost: big.NewRat(5, 1), Bound: big.NewRat(c.lower, 1), Programs: c.runs}
		if got := termination(r); got != c.want {
			t.Errorf("%+v: %s, want %s", c.runs, got, c.want)
		}
	}
}
