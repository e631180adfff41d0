package certify_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/formulate/elastic"
	"yardstick/formulate/maxweight"
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

// TestWeight: upper bounds on the weight done by a deadline.
func TestWeight(t *testing.T) {
	classes := []sched.Class{{Kind: sched.E, Slotted: true}, {Kind: sched.FluidMin}, {Kind: sched.FluidMin, Slotted: true}}
	for seed := range uint64(60) {
		in := elasticShape(seed)
		r := schedtest.Rand(seed)
		in.Deadline = in.Slot*sched.Time(2+r.IntN(6)) + sched.Time(r.IntN(3))*sched.Second
		optimum, err := maxweight.Solve(context.Background(), in, lpsolve.LP{}, milp.Limits{})
		if err != nil || !optimum.Optimal() {
			t.Fatalf("seed %d: %v", seed, err)
		}
		relaxed, err := maxweight.Relax(context.Background(), in, lpsolve.LP{}, milp.Limits{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		list := []bounds.Bound{{Name: "conf", Class: classes[0], Objective: sched.ScheduledWeight, Value: relaxed.Bound.Value,
			Proof: relaxed.Bound.Proof(len(in.Cluster.Servers), len(in.Elastic.Resources))}}
		for _, class := range classes {
			b, _, err := elastic.Weight(context.Background(), in, class, lpsolve.LP{}, milp.Limits{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			list = append(list, b)
		}
		for _, b := range list {
			if s := agree(t, in, &b); s.Proven.Cmp(optimum.Cost) < 0 || s.Proven.Cmp(b.Value) != 0 && sched.ScheduledWeight.Integral(in) {
				t.Errorf("seed %d: %s of class %v is %v, proven %v, the optimum is %v", seed, b.Name, b.Class, b.Value.RatString(), s.Proven.RatString(), optimum.Cost.RatString())
			}
		}
		b := bounds.Bound{Class: classes[0], Objective: sched.ScheduledWeight, Value: optimum.Cost, Proof: &bounds.Proof{Kind: "search"}}
		if _, err := certify.Check(in, document(t, in, &b)); err != nil {
			t.Errorf("seed %d: the optimum %v: %v", seed, optimum.Cost, err)
		}
		b.Value = new(big.Rat).Sub(b.Value, big.NewRat(1, 1000))
		if _, err := certify.Check(in, document(t, in, &b)); !errors.Is(err, certify.ErrRefuted) {
			t.Errorf("seed %d: less than the optimum %v: %v", seed, optimum.Cost, err)
		}
	}
}

// TestElasticIntervals: those of programs over a geometric grid.
func TestElasticIntervals(t *testing.T) {
	for seed := range uint64(40) {
		in := elasticShape(seed)
		for _, obj := range minimised[:4] {
			for _, class := range []sched.Class{{Kind: sched.E, Slotted: true}, {Kind: sched.FluidMin}, {Kind: sched.FluidMin, Slotted: true}} {
				b, _, err := elastic.Intervals(context.Background(), in, obj, class, 1.5, lpsolve.LP{}, milp.Limits{})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if s := agree(t, in, &b); s.Proven.Cmp(b.Value) != 0 && class.Slotted && obj.Integral(in) {
					t.Errorf("seed %d: %s of %v, %v, is %v, proven %v", seed, b.Proof.Kind, obj, class, b.Value.RatString(), s.Proven.RatString())
				}
			}
		}
	}
}
