package sched_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/sched"
)

// naiveCost adds up in big rationals.
func naiveCost(o sched.Objective, in *sched.Instance, completion []sched.Time) *big.Rat {
	integer := func(v int64) *big.Rat { return new(big.Rat).SetInt64(v) }
	total, last := new(big.Rat), integer(int64(completion[0]))
	for i, c := range completion {
		weight, _ := new(big.Rat).SetString(new(big.Float).SetFloat64(in.Jobs[i].Weight).Text('p', 0)) // exact in hexadecimal
		jct := integer(int64(c))
		jct.Sub(jct, integer(int64(in.Jobs[i].Release)))
		switch o {
		case sched.TotalCompletion:
			total.Add(total, integer(int64(c)))
		case sched.WeightedCompletion:
			total.Add(total, weight.Mul(weight, integer(int64(c))))
		case sched.TotalJCT:
			total.Add(total, jct)
		case sched.MeanJCT:
			total.Add(total, jct.Quo(jct, integer(int64(len(completion)))))
		case sched.ScheduledWeight:
			if 0 <= c && c <= in.Deadline {
				total.Add(total, weight)
			}
		}
		if v := integer(int64(c)); v.Cmp(last) > 0 {
			last = v
		}
	}
	if o == sched.Makespan {
		return last
	}
	return total
}

func TestCost(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		in := &sched.Instance{Deadline: sched.Time(r.Int64N(1 << 40))}
		var completion []sched.Time
		top := []int64{10, int64(sched.MaxTime), math.MaxInt64}[r.IntN(3)] // the last overflows an int64 sum
		for range 1 + r.IntN(20) {
			w := 1.0
			if r.IntN(2) == 0 {
				w = math.Ldexp(1+r.Float64(), r.IntN(200)-100)
			}
			in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(r.Int64N(10)), Weight: w})
			c := sched.Time(10 + r.Int64N(top-9))
			if r.IntN(6) == 0 {
				c = in.Deadline
			}
			completion = append(completion, c)
		}
		for _, o := range sched.Objectives() {
			if got, want := o.Cost(in, completion), naiveCost(o, in, completion); got.Cmp(want) != 0 {
				t.Fatalf("seed %d: %v is %v, want %v", seed, o, got, want)
			}
		}
		completion[0] = -1 // left out
		if got, want := sched.ScheduledWeight.Cost(in, completion), naiveCost(sched.ScheduledWeight, in, completion); got.Cmp(want) != 0 {
			t.Fatalf("seed %d: the weight is %v, want %v", seed, got, want)
		}
	}
}

func TestObjectiveProperties(t *testing.T) {
	in := &sched.Instance{Jobs: []sched.Job{{Weight: 3}, {Weight: 2}}}
	for _, o := range sched.Objectives() {
		if o.Maximised() != (o == sched.ScheduledWeight) || o.IsTime() == o.Maximised() {
			t.Errorf("%v: maximised %v, time %v", o, o.Maximised(), o.IsTime())
		}
		if o.Integral(in) != (o != sched.MeanJCT) {
			t.Errorf("%v of whole weights is integral: %v", o, o.Integral(in))
		}
	}
	in.Jobs[0].Weight = 2.5
	for _, o := range []sched.Objective{sched.WeightedCompletion, sched.ScheduledWeight} {
		if o.Integral(in) {
			t.Errorf("%v of a weight of 2.5 claims to be integral", o)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("one completion time for two jobs did not panic")
		}
	}()
	sched.Makespan.Cost(in, []sched.Time{1})
}

// TestBase: the value of an objective follows from that of its base, and back.
func TestBase(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		in := &sched.Instance{Deadline: 500}
		completion := make([]sched.Time, 1+r.IntN(5))
		for i := range completion {
			in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(r.Int64N(1000)), Weight: float64(r.IntN(9)) / 4})
			completion[i] = in.Jobs[i].Release + sched.Time(r.Int64N(1000))
		}
		for _, o := range sched.Objectives() {
			cost, base := o.Cost(in, completion), o.Base().Cost(in, completion)
			if got := o.FromBase(in, base); got.Cmp(cost) != 0 {
				t.Errorf("seed %d: %v of %v %v is %v, not %v", seed, o, o.Base(), base, got, cost)
			}
			if got := o.ToBase(in, cost); got.Cmp(base) != 0 {
				t.Errorf("seed %d: %v of %v %v is %v, not %v", seed, o.Base(), o, cost, got, base)
			}
			if o.Base().Base() != o.Base() {
				t.Errorf("the base of %v has a base", o)
			}
		}
	}
}
