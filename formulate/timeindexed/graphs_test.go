package timeindexed_test

import (
	"context"
	"errors"
	"testing"

	"yardstick/formulate/timeindexed"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
)

// TestGraphs: the interval holds the optimum of jobs whose stages are graphs, and
// slices, which not any free GPUs can hold, are refused.
func TestGraphs(t *testing.T) {
	graphs := 0
	for seed := range uint64(tier.Draws(13, 40)) {
		rng := schedtest.Rand(7000 + seed)
		in := schedtest.Gang(rng, schedtest.Shape{Jobs: 1 + rng.IntN(3), Servers: 1 + rng.IntN(2), GPUs: 4, Uniform: true, Stages: 3, Traffic: true, Graph: true})
		for j := range in.Jobs {
			if !in.Jobs[j].Chain() {
				graphs++
			}
		}
		_, optimum := schedtest.BruteForce(in, sched.TotalCompletion)
		r, err := timeindexed.Solve(context.Background(), in, sched.TotalCompletion, branch.New(lpsolve.LP{}), timeindexed.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		v := schedtest.Verify(t, in, r.Schedule)
		if r.Bound.Cmp(optimum) > 0 || v.Cost(sched.TotalCompletion).Cmp(optimum) < 0 {
			t.Errorf("seed %d: bound %v, schedule %v, the optimum is %v", seed, r.Bound, v.Cost(sched.TotalCompletion), optimum)
		}
	}
	if graphs < tier.Draws(5, 15) {
		t.Errorf("only %d graphs", graphs)
	}
	in := schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 4, Uniform: true, Stages: 1})
	in.Jobs[1].Stages = []sched.Stage{{Replicas: 1, Slices: 2, Compute: in.Jobs[1].Stages[0].Compute}}
	if _, err := timeindexed.Solve(context.Background(), in, sched.TotalCompletion, branch.New(lpsolve.LP{}), timeindexed.Options{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("slices: %v", err)
	}
}
