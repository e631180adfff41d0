package exhaustive_test

import (
	"context"
	"errors"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
	"yardstick/solvers/milp"
)

// TestGraphs compares with brute force over jobs whose stages are graphs.
func TestGraphs(t *testing.T) {
	graphs := 0
	for seed := range uint64(tier.Draws(70, 200)) {
		rng := schedtest.Rand(5000 + seed)
		in := schedtest.Gang(rng, schedtest.Shape{Jobs: 1 + rng.IntN(4), Servers: 1 + rng.IntN(3), GPUs: 4, Uniform: rng.IntN(2) == 0, Stages: 3, Traffic: true, Graph: true})
		for j := range in.Jobs {
			if !in.Jobs[j].Chain() {
				graphs++
			}
		}
		for _, obj := range []sched.Objective{sched.TotalCompletion, sched.Makespan} {
			_, optimum := schedtest.BruteForce(in, obj)
			r, err := exhaustive.Solve(context.Background(), in, obj, exact.Limits{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			v := schedtest.Verify(t, in, r.Schedule)
			if r.Termination != milp.Optimal || v.Cost(obj).Cmp(optimum) != 0 || r.Bound.Cmp(optimum) != 0 {
				t.Fatalf("seed %d, %v: %s at %v, bound %v, the optimum is %v", seed, obj, r.Termination, v.Cost(obj), r.Bound, optimum)
			}
		}
	}
	if graphs < 50 {
		t.Errorf("only %d graphs", graphs)
	}
}

// TestSlicesRefused: the search counts free GPUs, and slices must share a server.
func TestSlicesRefused(t *testing.T) {
	in := schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 4, Uniform: true, Stages: 1})
	in.Jobs[1].Stages = []sched.Stage{{Replicas: 1, Slices: 2, Compute: in.Jobs[1].Stages[0].Compute}}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := exhaustive.Solve(context.Background(), in, sched.TotalCompletion, exact.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("%v", err)
	}
}
