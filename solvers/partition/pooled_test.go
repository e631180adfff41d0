package partition

import (
	"errors"
	"reflect"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// Where place has no effect every job runs for its least time, and no optimum is larger
// than with it; what has no place already keeps its optimum, and what is pooled twice is
// what is pooled once.
func TestPooled(t *testing.T) {
	for seed := range uint64(tier.Draws(20, 200)) {
		shape := schedtest.Shape{Jobs: 4, Servers: 3, GPUs: 2, Uniform: true, Stages: 2, Traffic: true, Span: true, Weights: seed%2 == 0}
		if seed%5 == 0 {
			shape = schedtest.Shape{Jobs: 5, Servers: 2, GPUs: 3, Stages: 1}
		}
		in := schedtest.Gang(schedtest.Rand(seed), shape)
		pooled, err := Pooled(in)
		if err != nil {
			t.Fatal(err)
		}
		least, err := LeastRunTimes(in)
		if err != nil {
			t.Fatal(err)
		}
		again, err := LeastRunTimes(pooled)
		if err != nil || !reflect.DeepEqual(least, again) {
			t.Fatalf("seed %d: least times %v, pooled %v, %v", seed, least, again, err)
		}
		for _, obj := range []sched.Objective{sched.TotalJCT, sched.WeightedCompletion, sched.Makespan} {
			_, with := schedtest.BruteForce(in, obj)
			_, without := schedtest.BruteForce(pooled, obj)
			if c := without.Cmp(with); c > 0 || c < 0 && shape.Stages == 1 {
				t.Errorf("seed %d, %v: the optimum is %v, pooled %v", seed, obj, with, without)
			}
		}
	}
	// Of three gangs of two on two servers of three GPUs, one is split or waits.
	split := schedtest.Job(0, 2, sched.Second)
	split.Stages[0].Params = 1e6
	in := schedtest.Plain(schedtest.Servers(3, 3), split, split, split)
	in.Cluster.Intra = 1e12
	pooled, err := Pooled(in)
	if err != nil {
		t.Fatal(err)
	}
	_, with := schedtest.BruteForce(in, sched.TotalJCT)
	if _, without := schedtest.BruteForce(pooled, sched.TotalJCT); without.Cmp(with) >= 0 {
		t.Errorf("the optimum is %v where one gang is split, pooled %v", with, without)
	}
	sharing := schedtest.Every(1)["sharing of 1"]
	if _, err := Pooled(sharing); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("jobs that share GPUs: %v", err)
	}
}
