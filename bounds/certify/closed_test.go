package certify_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

var minimised = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan}

// document returns the certificate of a bound.
func document(t *testing.T, in *sched.Instance, b *bounds.Bound) []byte {
	t.Helper()
	text, err := b.Document(in.Hash())
	if err != nil || text == nil {
		t.Fatalf("%s has no certificate: %v", b.Name, err)
	}
	return text
}

// agree checks that the certificate of a bound is accepted, and proves as much as
// the bound states, no more and no less.
func agree(t *testing.T, in *sched.Instance, b *bounds.Bound) *certify.Statement {
	t.Helper()
	s, err := certify.Check(in, document(t, in, b))
	if err != nil {
		t.Fatalf("%s: %v", b.Name, err)
	}
	if s.Value.Cmp(b.Value) != 0 || s.Objective != b.Objective || s.Class != b.Class {
		t.Fatalf("%s is %v, the certificate states %+v", b.Name, b.Value, s)
	}
	return s
}

// shapes are the random instances that tests use.
func shape(r *rand.Rand, seed uint64) schedtest.Shape {
	s := schedtest.Shape{Jobs: 1 + r.IntN(7), Servers: 1 + r.IntN(3), GPUs: 1 + r.IntN(4), Stages: 1 + r.IntN(3), Weights: seed%2 == 0, Traffic: seed%3 != 0, Uniform: seed%4 == 0, Span: seed%5 == 0}
	if seed%6 == 0 {
		s.Slices = 2
	}
	s.Graph = seed%7 == 0
	return s
}

type closed = func(*sched.Instance, sched.Objective) (bounds.Bound, error)

func gangBounds() []closed {
	return append(priced(), bounds.LB0, bounds.SRPT, bounds.Ranked, bounds.MeanBusyTime, bounds.Area, bounds.Energy, bounds.Packing,
		bounds.PackedSRPT, bounds.PackedBusyTime,
		func(in *sched.Instance, o sched.Objective) (bounds.Bound, error) {
			return bounds.Hybrid(context.Background(), in, o, bounds.HybridOptions{Evaluations: 50})
		})
}

// priced lists bounds by prices, of every class that they bound.
func priced() (list []closed) {
	for _, class := range []sched.Kind{sched.N, sched.P0, sched.Fluid} {
		list = append(list, func(in *sched.Instance, o sched.Objective) (bounds.Bound, error) {
			d, err := bounds.Lagrangian(context.Background(), in, o, bounds.LagrangianOptions{Slots: 40, Iterations: 20, Class: class})
			if err != nil {
				return bounds.Bound{}, err
			}
			return d.Bound, nil
		})
		if class == sched.Fluid {
			continue
		}
		list = append(list, func(in *sched.Instance, o sched.Objective) (bounds.Bound, error) {
			d, err := bounds.Knapsack(context.Background(), in, o, bounds.KnapsackOptions{Slots: 30, Iterations: 40, Class: class})
			if err != nil {
				return bounds.Bound{}, err
			}
			return d.Bound, nil
		})
	}
	return list
}

// TestGangs: what package bounds computes for exclusive gangs, this package does
// too, by other code.
func TestGangs(t *testing.T) {
	for seed := range uint64(60) {
		r := schedtest.Rand(seed)
		in := schedtest.Preemptive(r, shape(r, seed))
		if seed%2 == 0 {
			in = schedtest.Gang(r, shape(r, seed))
		}
		for _, obj := range minimised {
			for _, f := range gangBounds() {
				b, err := f(in, obj)
				if errors.Is(err, sched.ErrNotApplicable) {
					continue
				}
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				s := agree(t, in, &b)
				if s.Proven.Cmp(b.Value) != 0 && b.Name != "area" && obj != sched.MeanJCT {
					t.Errorf("seed %d: %s of %v is %v, the certificate proves %v", seed, b.Name, obj, b.Value.RatString(), s.Proven.RatString())
				}
			}
		}
	}
}

// placed is the bound by places, by prices that have climbed a little.
func placed(in *sched.Instance, o sched.Objective) (bounds.Bound, error) {
	d, err := bounds.Places(context.Background(), in, o, bounds.KnapsackOptions{Slots: 12, Iterations: 15})
	if err != nil {
		return bounds.Bound{}, err
	}
	return d.Bound, nil
}

// TestSharing does so for jobs that share GPUs. Places round rates, which the check does
// not.
func TestSharing(t *testing.T) {
	for seed := range uint64(120) {
		r := schedtest.Rand(seed)
		in := schedtest.Sharing(r, shape(r, seed))
		if seed >= 80 { // interference by accumulation
			in = schedtest.Rowed(r, in, 4, 6)
		}
		for _, obj := range minimised {
			for _, f := range []closed{bounds.ThetaLB0, bounds.ThetaSRPT, bounds.ThetaRanked, bounds.ThetaArea, bounds.ThetaEEI,
				func(in *sched.Instance, o sched.Objective) (bounds.Bound, error) {
					return bounds.ThetaHybrid(context.Background(), in, o, bounds.HybridOptions{})
				}, placed} {
				b, err := f(in, obj)
				if errors.Is(err, sched.ErrNotApplicable) {
					continue
				}
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if s := agree(t, in, &b); s.Proven.Cmp(b.Value) != 0 && obj != sched.MeanJCT && b.Name != "places" {
					t.Errorf("seed %d: %s of %v is %v, the certificate proves %v", seed, b.Name, obj, b.Value.RatString(), s.Proven.RatString())
				}
			}
		}
	}
}
