package bench

import (
	"context"
	"testing"

	"yardstick/bench/suite"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// TestHeuristic: it is offline, and objectives that differ by a constant are
// solved once.
func TestHeuristic(t *testing.T) {
	calls := 0
	m := Heuristic(suite.MethodRef{Name: "h"}, "1", func(_ context.Context, p Problem, o sched.Objective) (Outcome, error) {
		calls++
		return Outcome{Termination: milp.Skipped}, nil
	})
	out, err := m.Run(context.Background(), Problem{Instance: schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 5)), Objectives: []sched.Objective{sched.TotalJCT, sched.TotalCompletion, sched.MeanJCT}})
	if err != nil || len(out) != 3 || calls != 1 || m.Kind() != Offline {
		t.Errorf("%d outcomes, %d calls, %v, %v", len(out), calls, m.Kind(), err)
	}
}
