package bounds

import (
	"context"
	"errors"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// TestCampaign: no bound of a bracket exceeds the optimum by brute force, of 100,000
// instances in a long run: gangs of one GPU up to the cluster, even servers and uneven
// ones, placements that matter or do not, slots, weights and releases.
func TestCampaign(t *testing.T) {
	draws := tier.Draws(500, 4000)
	if tier.Long() {
		draws = 100_000
	}
	tried, met := map[string]int{}, map[string]int{}
	for seed := range uint64(draws) {
		rng := schedtest.Rand(1_000_000 + seed)
		shape := schedtest.Shape{Jobs: 1 + rng.IntN(5), Servers: 1 + rng.IntN(3), GPUs: 1 + rng.IntN(4), Uniform: rng.IntN(2) == 0, Stages: 1, Weights: rng.IntN(2) == 0, Span: rng.IntN(3) == 0}
		if rng.IntN(3) == 0 {
			shape.Jobs, shape.Stages, shape.Traffic = min(shape.Jobs, 4), 1+rng.IntN(2), true
		}
		if rng.IntN(4) == 0 {
			shape.Slot = sched.Second
		}
		in := schedtest.Gang(rng, shape)
		obj := []sched.Objective{sched.TotalJCT, sched.WeightedCompletion, sched.TotalCompletion, sched.MeanJCT, sched.Makespan}[rng.IntN(5)]
		_, optimum := schedtest.BruteForce(in, obj)
		held := func(b Bound, err error) {
			switch {
			case errors.Is(err, sched.ErrNotApplicable):
				return
			case err != nil:
				t.Fatalf("seed %d: %v", seed, err)
			case b.Divides(sched.Class{Kind: sched.N, Slotted: in.Slot > 0}, obj) != nil:
				t.Fatalf("seed %d: %s of class %v does not divide class N", seed, b.Name, b.Class)
			}
			tried[b.Name]++
			switch b.Value.Cmp(optimum) {
			case 0:
				met[b.Name]++
			case 1:
				t.Fatalf("seed %d, %v: %s of class %v is %v, more than the optimum %v\n%+v", seed, obj, b.Name, b.Class, b.Value, optimum, in)
			}
		}
		for _, f := range closedBounds() {
			held(f(in, obj))
		}
		ctx := context.Background()
		upper := optimum
		if rng.IntN(2) == 0 {
			upper = nil
		}
		for _, kind := range []sched.Kind{sched.N, sched.P0, sched.Fluid} {
			if d, err := Lagrangian(ctx, in, obj, LagrangianOptions{Class: kind, Slots: 20 + rng.IntN(60), Iterations: 30, Upper: upper}); err == nil {
				held(d.Bound, nil)
			} else {
				held(Bound{}, err)
			}
			if kind == sched.Fluid {
				continue // which has parts of gangs
			}
			if d, err := Knapsack(ctx, in, obj, KnapsackOptions{Class: kind, Slots: 10 + rng.IntN(30), Iterations: 20, Upper: upper}); err == nil {
				held(d.Bound, nil)
			} else {
				held(Bound{}, err)
			}
		}
	}
	t.Logf("%d instances: tried %v, at the optimum %v", draws, tried, met)
	for _, name := range []string{"lb0", "mean-busy-time", "lagrangian", "knapsack", "energy", "packing"} {
		if tried[name] < draws/10 {
			t.Errorf("%s was tried %d times in %d instances", name, tried[name], draws)
		}
	}
}
