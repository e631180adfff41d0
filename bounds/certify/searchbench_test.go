package certify_test

import (
	"context"
	"testing"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/formulate/elastic"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/exhaustive/sharing"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// BenchmarkSearch times the confirmation of optima by search.
func BenchmarkSearch(b *testing.B) {
	r := schedtest.Rand(1)
	gangs := schedtest.Gang(r, schedtest.Shape{Jobs: 7, Servers: 2, GPUs: 4, Uniform: true, Stages: 2, Traffic: true})
	stopped := schedtest.Preemptive(r, schedtest.Shape{Jobs: 4, Servers: 1, GPUs: 4, Uniform: true, Stages: 1, Slot: sched.Second})
	shared := schedtest.SlottedSharing(1, schedtest.Slots{Jobs: 4, Servers: []int{2, 1}, Work: [2]int{1, 5}, Span: 3, Gang: 3, Xi: 2, Options: 2})
	chosen := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 4, Servers: 2, Resources: 2, WorkerTypes: 2, ServerTypes: 1, Workers: 3, Capacity: 6, Slots: 6})
	ctx, obj := context.Background(), sched.TotalCompletion
	for _, x := range []struct {
		name    string
		in      *sched.Instance
		class   sched.Class
		optimum func() (*bounds.Bound, error)
	}{
		{"gangs", gangs, sched.Class{Kind: sched.N}, func() (*bounds.Bound, error) {
			s, err := exhaustive.Solve(ctx, gangs, obj, milp.Limits{})
			return &bounds.Bound{Value: s.Bound}, err
		}},
		{"bouts", stopped, sched.Class{Kind: sched.P, Slotted: true}, func() (*bounds.Bound, error) {
			s, err := bouts.Search{}.Solve(ctx, stopped, obj, exact.Limits{})
			return &bounds.Bound{Value: s.Bound}, err
		}},
		{"sharing", shared, sched.Class{Kind: sched.S, Slotted: true}, func() (*bounds.Bound, error) {
			s, err := sharing.Solve(ctx, shared, obj, milp.Limits{})
			return &bounds.Bound{Value: s.Bound}, err
		}},
		{"elastic", chosen, sched.Class{Kind: sched.E, Slotted: true}, func() (*bounds.Bound, error) {
			s, err := elastic.Solve(ctx, chosen, obj, lpsolve.LP{}, milp.Limits{})
			return &bounds.Bound{Value: s.Bound}, err
		}},
	} {
		b.Run(x.name, func(b *testing.B) {
			bound, err := x.optimum()
			if err != nil {
				b.Fatal(err)
			}
			bound.Class, bound.Objective, bound.Proof = x.class, obj, &bounds.Proof{Kind: "search"}
			hash := x.in.Hash()
			text, err := bound.Document(hash)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := certify.New(x.in, hash).Check(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
