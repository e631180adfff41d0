package certify_test

import (
	"context"
	"testing"

	"yardstick/bounds"
	"yardstick/formulate/elastic"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func elasticShape(seed uint64) *sched.Instance {
	r := schedtest.Rand(seed)
	return schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 1 + r.IntN(4), Servers: 1 + r.IntN(3), Resources: 1 + r.IntN(3), WorkerTypes: 1 + r.IntN(2), ServerTypes: r.IntN(3),
		Workers: 1 + r.IntN(5), Capacity: 6, Slots: 8, Rings: seed%2 == 0, Weights: seed%3 == 0, Releases: 40 * sched.Second})
}

// TestElastic: the bounds of elastic jobs.
func TestElastic(t *testing.T) {
	classes := []sched.Class{{Kind: sched.E, Slotted: true}, {Kind: sched.FluidMin}, {Kind: sched.FluidMin, Slotted: true}}
	for seed := range uint64(40) {
		in := elasticShape(seed)
		for _, obj := range minimised[:4] {
			var list []bounds.Bound
			for _, class := range classes {
				for _, f := range []func(*sched.Instance, sched.Objective, sched.Class) (bounds.Bound, error){elastic.Alone, elastic.MeanBusyTime} {
					b, err := f(in, obj, class)
					if err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					list = append(list, b)
				}
			}
			r, err := elastic.Conf(context.Background(), in, obj, lpsolve.LP{}, milp.Limits{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, b := range append(list, r.Bound) {
				if s := agree(t, in, &b); s.Proven.Cmp(b.Value) != 0 && b.Class.Slotted && obj.Integral(in) {
					t.Errorf("seed %d: %s of %v, %v, is %v, proven %v", seed, b.Name, obj, b.Class, b.Value.RatString(), s.Proven.RatString())
				}
			}
		}
	}
}
