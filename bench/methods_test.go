package bench

import (
	"context"
	"math/big"
	"testing"

	"yardstick/formulate/timeindexed"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// A makespan is excluded by the proof that its program has no point: that is no
// failure, while a claim or a limit is what the user should see.
func TestTimeIndexedTermination(t *testing.T) {
	run := func(how milp.Termination, dual milp.Evidence) timeindexed.Run {
		return timeindexed.Run{Result: &milp.Result{Termination: how, Dual: dual}}
	}
	solved, excluded := run(milp.Optimal, milp.Proven), run(milp.Infeasible, milp.Proven)
	for _, c := range []struct {
		lower int64
		runs  []timeindexed.Run
		want  milp.Termination
	}{
		{5, []timeindexed.Run{excluded}, milp.Optimal},
		{4, []timeindexed.Run{solved, excluded}, slotLimit},
		{4, []timeindexed.Run{excluded, run(milp.Infeasible, milp.Claimed)}, milp.Infeasible},
		{4, []timeindexed.Run{excluded, run(milp.TimeLimit, milp.None)}, milp.TimeLimit},
	} {
		r := &timeindexed.Result{Cost: big.NewRat(5, 1), Lower: big.NewRat(c.lower, 1), Solves: c.runs}
		if got := timeIndexedTermination(r); got != c.want {
			t.Errorf("%+v: %s, want %s", c.runs, got, c.want)
		}
	}
}

// TestHeuristic: it is offline, and objectives that differ by a constant are
// solved once.
func TestHeuristic(t *testing.T) {
	calls := 0
	m := Heuristic(MethodRef{Name: "h"}, "1", func(_ context.Context, p Problem, o sched.Objective) (Outcome, error) {
		calls++
		return Outcome{Termination: milp.Skipped}, nil
	})
	out, err := m.Run(context.Background(), Problem{Instance: schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 5)), Objectives: []sched.Objective{sched.TotalJCT, sched.TotalCompletion, sched.MeanJCT}})
	if err != nil || len(out) != 3 || calls != 1 || m.Kind() != Offline {
		t.Errorf("%d outcomes, %d calls, %v, %v", len(out), calls, m.Kind(), err)
	}
}
