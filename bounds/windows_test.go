package bounds

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// TestWindows compares the windows with every start there is, and checks that the
// starts of no schedule that costs less lie outside: that of an optimum, with what is
// to be beaten just above it.
func TestWindows(t *testing.T) {
	fixed, starts, none := 0, 0, 0
	for seed := range uint64(tier.Draws(100, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 19))
		in := randomInstance(rng, 1+rng.IntN(4), 1+sched.Time(rng.IntN(12)), []float64{1, 2, 0.25})
		obj := totals[seed%4]
		plan, optimum := schedtest.BruteForce(in, obj)
		upper := new(big.Rat).Add(optimum, big.NewRat(1+rng.Int64N(8), 1+rng.Int64N(4)))
		if seed%8 == 0 {
			upper = optimum
		}
		byJob := randomJobPrices(rng, len(in.Jobs), 1+sched.Time(rng.IntN(40)))
		shared := randomPrices(rng, 1+sched.Time(rng.IntN(40)))
		if seed%3 == 0 {
			byJob = mustPack(t, in, obj, KnapsackOptions{Slots: 20, Iterations: 50, Upper: optimum}).Prices
			shared = mustClimb(t, in, obj, LagrangianOptions{Slots: 20, Iterations: 20}).Prices
		}
		if seed%2 == 1 {
			byJob = shared.byJob(in)
		}
		got, err := byJob.Windows(in, obj, upper)
		if err != nil {
			t.Fatal(err)
		}
		if optimum.Cmp(upper) < 0 {
			for _, s := range plan.Segments {
				if got == nil || s.Start < got[s.Job].First || s.Start > got[s.Job].Last {
					t.Fatalf("seed %d, %v: an optimum of %v starts job %d at %v, to beat %v it must be in %v\n%+v", seed, obj, optimum, s.Job, s.Start, upper, got, in)
				}
			}
		}
		want := plainWindows(t, byJob, in, obj, upper)
		if (got == nil) != (want == nil) {
			t.Fatalf("seed %d: windows %v, by definition %v", seed, got, want)
		}
		if got == nil {
			none++
		}
		for j := range got {
			if got[j] != want[j] {
				t.Fatalf("seed %d, %v: job %d may start in %v, by definition in %v\n%+v\n%+v", seed, obj, j, got[j], want[j], in, byJob)
			}
			starts++
			if got[j].Last < byJob.Grid.End() || got[j].First > in.Jobs[j].Release {
				fixed++
			}
		}
	}
	if fixed == 0 || none == 0 {
		t.Errorf("%d of %d windows were narrow, %d times there was none", fixed, starts, none)
	}
}

// plainWindows tries every start, with L from the evaluation of bounds, which other
// tests compare with its definition.
func plainWindows(t *testing.T, p *JobPrices, in *sched.Instance, obj sched.Objective, upper *big.Rat) []Window {
	t.Helper()
	base := sched.WeightedCompletion
	if !obj.Weighted() {
		base = sched.TotalCompletion
	}
	w, err := newWorkload(in, base)
	if err != nil {
		t.Fatal(err)
	}
	spare := obj.ToBase(in, upper)
	spare.Sub(spare, p.total(sched.N, w, base))
	var out []Window
	for j, d := range w.length {
		weight := big.NewRat(1, 1)
		if obj.Weighted() {
			weight.SetFloat64(in.Jobs[j].Weight)
		}
		term := func(s sched.Time) *big.Rat {
			paid := int64(0)
			for u := s; u < s+d; u++ {
				if k := p.Grid.Slot(u); k < len(p.Price[j]) {
					paid += p.Price[j][k]
				}
			}
			v := new(big.Rat).Mul(weight, integer(int64(s+d)))
			return v.Add(v, new(big.Rat).SetFrac64(paid, 1<<-p.Exponent))
		}
		r, least := in.Jobs[j].Release, (*big.Rat)(nil)
		end := max(r, p.Grid.End())
		for s := r; s <= end; s++ {
			if v := term(s); least == nil || v.Cmp(least) < 0 {
				least = v
			}
		}
		limit, found := new(big.Rat).Add(least, spare), Window{First: -1}
		for s := r; s <= end || term(s).Cmp(limit) < 0; s++ {
			if term(s).Cmp(limit) < 0 {
				if found.First < 0 {
					found.First = s
				}
				found.Last = s
			}
		}
		if found.First < 0 {
			return nil
		}
		out = append(out, found)
	}
	return out
}

// TestExcesses: every schedule costs at least L and the excesses of its starts, an
// optimum with equality where prices leave no gap; and between two starts excesses are
// no more than what the term itself says.
func TestExcesses(t *testing.T) {
	tight := 0
	for seed := range uint64(tier.Draws(100, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 20))
		in := randomInstance(rng, 1+rng.IntN(4), 1+sched.Time(rng.IntN(12)), []float64{1, 2, 0.25})
		obj := []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion}[seed%2]
		plan, optimum := schedtest.BruteForce(in, obj)
		unit := big.NewRat(1+rng.Int64N(2), 1+rng.Int64N(4))
		p := randomJobPrices(rng, len(in.Jobs), 1+sched.Time(rng.IntN(40)))
		if seed%3 == 0 {
			p = mustPack(t, in, obj, KnapsackOptions{Slots: 20, Iterations: 50, Upper: optimum}).Prices
		}
		upper := new(big.Rat).Add(optimum, integer(1+rng.Int64N(20)))
		least, starts, err := p.Excesses(in, obj, unit, upper)
		if err != nil {
			t.Fatal(err)
		}
		w, err := newWorkload(in, obj)
		if err != nil {
			t.Fatal(err)
		}
		c := newTariffOn(p.Grid, p.Exponent, w, obj)
		sum := new(big.Int).Set(least)
		for _, s := range plan.Segments {
			list := starts[s.Job]
			if s.Start < list[0].At || s.Start > list[len(list)-1].At {
				t.Fatalf("seed %d: an optimum starts job %d at %v, beyond %v", seed, s.Job, s.Start, list)
			}
			for k := 1; k < len(list) && list[k-1].At < s.Start; k++ {
				if list[k].At >= s.Start { // at an interval's end, or the lower of both
					sum.Add(sum, big.NewInt(min(list[k].Cost, list[k-1].Cost)))
				}
			}
			if list[0].At == s.Start {
				sum.Add(sum, big.NewInt(list[0].Cost))
			}
		}
		value := new(big.Rat).Mul(new(big.Rat).SetInt(sum), unit)
		if value.Cmp(optimum) > 0 {
			t.Fatalf("seed %d, %v: L and the excesses of an optimum are %v, it costs %v\n%+v\n%+v", seed, obj, value, optimum, in, p)
		}
		if value.Add(value, integer(3)).Cmp(optimum) >= 0 {
			tight++
		}
		for j, list := range starts {
			p.charge(c, j)
			best := c.least(j)
			for _, x := range list {
				s := start{x.At, w.length[j], p.Grid.Slot(x.At), p.Grid.Slot(x.At + w.length[j])}
				exact := new(big.Rat).Quo(c.rational(new(big.Int).Sub(c.exactly(j, &s), best)), unit)
				if got := integer(x.Cost); got.Cmp(exact) > 0 || got.Add(got, integer(1)).Cmp(exact) <= 0 {
					t.Fatalf("seed %d: job %d at %v exceeds its best start by %v, not %d", seed, j, x.At, exact, x.Cost)
				}
			}
		}
	}
	if tight == 0 {
		t.Error("no optimum was met")
	}
}
