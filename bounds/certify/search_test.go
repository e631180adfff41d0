package certify_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/partition"
)

// searched checks that the search accepts an optimum and nothing above it.
func searched(t *testing.T, in *sched.Instance, class sched.Class, obj sched.Objective, optimum *big.Rat) {
	t.Helper()
	b := bounds.Bound{Name: "optimum", Class: class, Objective: obj, Value: optimum, Proof: &bounds.Proof{Kind: "search"}}
	if _, err := certify.Check(in, document(t, in, &b)); err != nil {
		t.Errorf("the optimum %v of %v: %v", optimum.RatString(), obj, err)
	}
	b.Value = new(big.Rat).Add(optimum, big.NewRat(1, 1000))
	if _, err := certify.Check(in, document(t, in, &b)); !errors.Is(err, certify.ErrRefuted) {
		t.Errorf("more than the optimum %v of %v: %v", optimum.RatString(), obj, err)
	}
}

// TestSearchGangs compares with the optimum by enumeration.
func TestSearchGangs(t *testing.T) {
	for seed := range uint64(80) {
		r := schedtest.Rand(seed)
		s := shape(r, seed)
		s.Jobs, s.GPUs = 1+r.IntN(3), 1+r.IntN(3)
		in := schedtest.Gang(r, s)
		for _, obj := range minimised {
			_, optimum := schedtest.BruteForce(in, obj)
			searched(t, in, sched.Class{Kind: sched.N}, obj, optimum)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

// TestSearchBoutsOfStages: what a job of several stages takes alone is not refuted,
// though where it fits no server the search knows only less than that.
func TestSearchBoutsOfStages(t *testing.T) {
	open := 0
	for seed := range uint64(100) {
		in := schedtest.Preemptive(schedtest.Rand(seed), schedtest.Shape{Jobs: 1, Servers: 2, GPUs: 3, Stages: 3, Traffic: true, Span: true, Slot: sched.Second})
		least, err := partition.LeastRunTimes(in)
		if err != nil {
			t.Fatal(err)
		}
		slots := (in.Jobs[0].Load + least[0].Duration + in.Slot - 1) / in.Slot
		b := bounds.Bound{Name: "alone", Class: sched.Class{Kind: sched.P, Slotted: true}, Objective: sched.Makespan,
			Value: big.NewRat(int64(in.Jobs[0].Release+slots*in.Slot), 1), Proof: &bounds.Proof{Kind: "search"}}
		switch _, err := certify.Check(in, document(t, in, &b)); {
		case errors.Is(err, certify.ErrTooHard):
			open++
		case err != nil:
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if open == 0 {
		t.Error("no job fits no server")
	}
}

// TestSearchBouts compares with the dynamic program over preemptive schedules.
func TestSearchBouts(t *testing.T) {
	for seed := range uint64(60) {
		r := schedtest.Rand(seed)
		s := schedtest.Shape{Jobs: 1 + r.IntN(4), Servers: 1, GPUs: 4, Uniform: true, Stages: 1, Weights: seed%2 == 0, Slot: sched.Second}
		in := schedtest.Preemptive(r, s)
		if seed%3 == 0 { // what does not fit the slots
			in.Slot = 700_000 * sched.Time(1+seed%2)
		}
		for _, obj := range minimised {
			b, err := bouts.Search{}.Solve(context.Background(), in, obj, exact.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			searched(t, in, sched.Class{Kind: sched.P, Slotted: true}, obj, b.Bound)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

// TestSearchSharing compares with the optimum by enumeration.
func TestSearchSharing(t *testing.T) {
	for seed := range uint64(24) {
		s := schedtest.Slots{Jobs: 2 + int(seed%2), Servers: []int{2, 1}, Work: [2]int{1, 5}, Span: 3, Gang: 3, Xi: 1 + float64(seed%5)/2, Options: 1 + int(seed/2%2), Ragged: seed%3 == 0}
		in := schedtest.SlottedSharing(seed, s)
		for i := range in.Jobs {
			in.Jobs[i].Weight = float64(1 + (int(seed)+3*i)%5)
		}
		for _, obj := range minimised {
			_, optimum := schedtest.SharingBruteForce(in, obj)
			searched(t, in, sched.Class{Kind: sched.S, Slotted: true}, obj, optimum)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

// TestSearchElastic compares with the optimum by enumeration.
func TestSearchElastic(t *testing.T) {
	for seed := range uint64(20) {
		in := elasticShape(seed)
		in.Jobs = in.Jobs[:min(len(in.Jobs), 3)]
		for _, obj := range minimised {
			_, optimum := schedtest.ElasticBruteForce(in, obj)
			searched(t, in, sched.Class{Kind: sched.E, Slotted: true}, obj, optimum)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}
