package bounds

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// plainSpread is the term of job j of the bound for P0 and F(1) by its definition:
// every completion, and of the microseconds up to it the cheapest.
func plainSpread(p *Prices, w *workload, obj sched.Objective, j int, price []int64) *big.Rat {
	weight, factor := big.NewRat(1, 1), new(big.Rat).SetFrac64(int64(w.in.Jobs[j].Gang()), 1<<-p.Exponent)
	if obj.Weighted() {
		weight.SetFloat64(w.in.Jobs[j].Weight)
	}
	r, d := w.in.Jobs[j].Release, w.length[j]
	var best *big.Rat
	var units []int64
	for c := r + 1; c <= max(r, p.Grid.End())+d; c++ {
		unit := int64(0)
		if k := p.Grid.Slot(c - 1); k < p.Grid.Slots() {
			unit = price[k]
		}
		at, _ := slices.BinarySearch(units, unit)
		units = slices.Insert(units, at, unit)
		if c < r+d {
			continue
		}
		sum := int64(0)
		for _, u := range units[:d] {
			sum += u
		}
		v := new(big.Rat).Mul(factor, integer(sum))
		if v.Add(v, new(big.Rat).Mul(weight, integer(int64(c)))); best == nil || v.Cmp(best) < 0 {
			best = v
		}
	}
	return best
}

// TestSpreadAgainstDefinition compares the sweep with every completion there is, and
// the climb's with both.
func TestSpreadAgainstDefinition(t *testing.T) {
	waits := 0
	for seed := range uint64(tier.Draws(1000, 20_000)) {
		rng := rand.New(rand.NewPCG(seed, 14))
		in := randomInstance(rng, 1, 1+sched.Time(rng.IntN(15)), []float64{1, 2, 0.1, 1.0 / 3, 7e2})
		p := randomPrices(rng, 1+sched.Time(rng.IntN(40)))
		obj := []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion}[rng.IntN(2)]
		w, err := newWorkload(in, obj)
		if err != nil {
			t.Fatal(err)
		}
		c := newTariff(p, w, obj)
		got, want := c.rational(c.leastSpread(0)), plainSpread(p, w, obj, 0, p.Price)
		if got.Cmp(want) != 0 {
			t.Fatalf("seed %d: the sweep finds %v, %v is the least\n%+v\n%+v", seed, got, want, in.Jobs, p)
		}
		weight := 1.0
		if obj.Weighted() {
			weight = in.Jobs[0].Weight
		}
		a := newAscent(w, []float64{weight}, sched.P0)
		prices := make([]float64, len(p.Price))
		for k, v := range p.Price {
			prices[k], _ = new(big.Rat).SetFrac64(v, 1<<-p.Exponent).Float64()
		}
		a.on(p.Grid, prices)
		alone, _ := new(big.Rat).Mul(new(big.Rat).SetFloat64(weight), integer(int64(in.Jobs[0].Release+w.length[0]))).Float64()
		exact, _ := want.Float64()
		if more := a.buy(&a.jobs[0]); more+alone < exact*(1-1e-12) || more+alone > exact*(1+1e-12) {
			t.Fatalf("seed %d: the climb finds %v, %v is the least", seed, more+alone, exact)
		} else if more > 0 {
			waits++
		}
		held := 0.0
		for k := range p.Price {
			held += a.part[k]
			if a.part[k] < 0 || a.part[k] > float64(in.Jobs[0].Gang())*float64(p.Grid[k+1]-p.Grid[k]) {
				t.Fatalf("seed %d: the job is served for %v of slot %d", seed, a.part[k], k)
			}
		}
		if held > float64(in.Jobs[0].Gang())*float64(w.length[0]) {
			t.Fatalf("seed %d: the job is served for %v", seed, held)
		}
	}
	if waits == 0 {
		t.Error("no job ever paid")
	}
}

// TestSpreadPricesAreProof: whatever the prices, no fluid schedule costs less than
// what they prove of F(1), nor any schedule of whole gangs less than of P0; the first
// is never more than the second, nor that than what they prove of N.
func TestSpreadPricesAreProof(t *testing.T) {
	climbed := 0
	for seed := range uint64(tier.Draws(150, 1500)) {
		rng := rand.New(rand.NewPCG(seed, 15))
		in := randomInstance(rng, 1+rng.IntN(4), 1+sched.Time(rng.IntN(15)), []float64{1, 3, 0.25})
		obj := totals[seed%4]
		cost := obj.Cost(in, fluidSchedule(rng, in))
		_, optimum := schedtest.BruteForce(in, obj)
		p := randomPrices(rng, 1+sched.Time(rng.IntN(60)))
		if seed%3 == 0 {
			p = mustClimb(t, in, obj, LagrangianOptions{Slots: 1 + rng.IntN(40), Iterations: 10, Class: sched.P0}).Prices
		}
		value := map[sched.Kind]*big.Rat{}
		for _, kind := range []sched.Kind{sched.N, sched.P0, sched.Fluid} {
			b, err := p.BoundOf(kind, in, obj)
			if err != nil || b.Class.Kind != kind {
				t.Fatalf("seed %d: %+v, %v", seed, b, err)
			}
			value[kind] = b.Value
		}
		if value[sched.Fluid].Cmp(cost) > 0 || value[sched.N].Cmp(optimum) > 0 || value[sched.Fluid].Cmp(value[sched.P0]) > 0 || value[sched.P0].Cmp(value[sched.N]) > 0 {
			t.Fatalf("seed %d, %v: F(1) %v of at most %v, P0 %v, N %v of %v\n%+v\n%+v", seed, obj, value[sched.Fluid], cost, value[sched.P0], value[sched.N], optimum, in, p)
		}
		if alone := mustValue(t, in, obj, LB0); seed%3 == 0 && value[sched.P0].Cmp(alone) > 0 {
			climbed++
		}
	}
	if climbed == 0 {
		t.Error("no climb was worth anything")
	}
}
