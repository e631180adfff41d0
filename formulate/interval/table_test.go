package interval_test

import (
	"context"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/formulate/interval"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestTable reports how much of the optimum each bound reaches on 120 random
// instances of whole seconds without weights: two to five jobs of one or two
// stages whose place matters, on one to three equal servers of one to three
// GPUs. Each bound must keep the mean that it has shown here, less 0.005.
func TestTable(t *testing.T) {
	const n = 120
	want := map[string]float64{"lb0": 0.854, "srpt": 0.707, "srpt-ranked": 0.926, "mean-busy-time": 0.846, "hybrid": 0.926,
		"lagrangian": 0.969, "pti": 0.950, "npti": 0.969, "conf": 0.972}
	mean, least := map[string]float64{}, map[string]float64{}
	for seed := range uint64(n) {
		r := schedtest.Rand(seed)
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 2 + r.IntN(4), Servers: 1 + r.IntN(3), GPUs: 1 + r.IntN(3), Uniform: true, Stages: 2, Traffic: true, Slot: sched.Second})
		in.Slot = 0
		const obj = sched.TotalCompletion
		_, optimum := schedtest.BruteForce(in, obj)
		all, err := bounds.All(in, obj)
		if err != nil {
			t.Fatal(err)
		}
		h, err := bounds.Hybrid(context.Background(), in, obj, bounds.HybridOptions{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := bounds.Lagrangian(context.Background(), in, obj, bounds.LagrangianOptions{Slot: sched.Second, Iterations: 300})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h, l.Bound)
		for _, x := range interval.Relaxations() {
			all = append(all, bound(t, x, in, obj, interval.Options{}).Bound)
		}
		for _, b := range all {
			if b.Value.Cmp(optimum) > 0 {
				t.Fatalf("seed %d: %s = %v exceeds the optimum %v", seed, b.Name, b.Value, optimum)
			}
			share, _ := new(big.Rat).Quo(b.Value, optimum).Float64()
			if _, ok := least[b.Name]; !ok {
				least[b.Name] = share
			}
			mean[b.Name] += share / n
			least[b.Name] = min(least[b.Name], share)
		}
	}
	for name, w := range want {
		t.Logf("%-16s mean %.3f, least %.3f", name, mean[name], least[name])
		if mean[name] < w-0.005 {
			t.Errorf("%s is %.3f of the optimum on average: it was %.3f", name, mean[name], w)
		}
	}
}
