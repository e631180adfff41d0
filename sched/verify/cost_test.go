package verify_test

import (
	"math"
	"math/big"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// TestCost compares every cost with Objective.Cost, on small schedules and on
// completion times and weights large enough to overflow.
func TestCost(t *testing.T) {
	compare := func(in *sched.Instance, v *verify.Verified) {
		completion := make([]sched.Time, len(in.Jobs))
		for j := range completion {
			c, ok := v.Completion(sched.JobID(j))
			if completion[j] = c; !ok {
				completion[j] = -1
			}
		}
		for _, o := range sched.Objectives() {
			got := v.Cost(o)
			if defined := (o == sched.ScheduledWeight && in.Deadline > 0) || (o != sched.ScheduledWeight && v.Complete()); !defined {
				if got != nil {
					t.Fatalf("%v is %v where it is not defined", o, got)
				}
				continue
			}
			if want := o.Cost(in, completion); got.Cmp(want) != 0 {
				t.Fatalf("%v is %v, want %v", o, got, want)
			}
		}
	}
	for _, o := range allOptions() {
		for seed := range uint64(20) {
			r := newRand(seed)
			in := randomInstance(r, o)
			s := randomSchedule(r, in, o.class)
			v, err := verify.Check(in, s)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			compare(in, v)
		}
	}
	r := newRand(1)
	for _, deadline := range []sched.Time{0, sched.MaxTime - 5} {
		in := &sched.Instance{Model: sched.ModelGang, Cluster: sched.Uniform(1, 100, 1, 1), Deadline: deadline}
		s := &sched.Schedule{Class: sched.Class{Kind: sched.N}}
		for j := range sched.JobID(20_000) {
			w := math.Ldexp(1+r.Float64(), between(r, -60, 60))
			if j%100 == 0 {
				w = []float64{math.MaxFloat64, math.SmallestNonzeroFloat64, 1}[j/100%3]
			}
			in.Jobs = append(in.Jobs, sched.Job{Weight: w, Iters: 1, Release: sched.Time(r.IntN(9)), Stages: []sched.Stage{{Replicas: 1, Compute: 1}}})
			start := sched.MaxTime - sched.Time(1+j/100)
			s.Segments = append(s.Segments, seg(j, train, start, start+1, on(0, 1)))
		}
		v, err := verify.Check(in, s)
		if err != nil {
			t.Fatal(err)
		}
		if v.Cost(sched.TotalCompletion).Cmp(new(big.Rat).SetInt64(math.MaxInt64)) <= 0 {
			t.Fatal("the total fits an int64")
		}
		compare(in, v)
	}
}
