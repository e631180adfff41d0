package bouts

import (
	"math"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestBoundOfStates compares the bound with what is really left to pay, in every
// state that small instances lead to.
func TestBoundOfStates(t *testing.T) {
	states, tight := 0, 0
	for seed := range uint64(90) {
		r := schedtest.Rand(seed)
		in := schedtest.Preemptive(r, schedtest.Shape{Jobs: 3, Servers: 1, GPUs: 4, Stages: 1, Weights: seed%2 == 0, Slot: 7})
		for i := range in.Jobs {
			in.Jobs[i].Release %= 4 * 7
			in.Jobs[i].Pause = sched.Time(r.IntN(4)) * 7
		}
		obj := []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.Makespan}[seed%3]
		p, err := newProblem(in, obj, false)
		if err != nil {
			t.Fatal(err)
		}
		relax := newRelaxation(p)
		const open = math.MaxInt64
		left := map[key]int64{}
		var cost func(k key) int64
		cost = func(k key) int64 {
			if p.rate(&k) == 0 {
				return 0
			}
			if v, ok := left[k]; ok {
				return v
			}
			left[k] = open // no way round leads back here at no cost
			best := int64(open)
			p.successors(&k, func(next *key) {
				if v := cost(*next); v < open {
					best = min(best, v+p.rate(&k))
				}
			})
			left[k] = best
			return best
		}
		cost(key{})
		for k, v := range left {
			b := relax.bound(&k, k.slot, open)
			if b > v {
				t.Fatalf("seed %d: state %v costs %d, but the bound is %d", seed, k, v, b)
			}
			states++
			if b == v {
				tight++
			}
		}
	}
	t.Logf("%d states, in %d of which the bound is the cost", states, tight)
}
