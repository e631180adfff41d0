package bounds

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// randomJobPrices returns prices by job on a random grid.
func randomJobPrices(rng *rand.Rand, jobs int, until sched.Time) *JobPrices {
	p := randomPrices(rng, until)
	out := &JobPrices{Grid: p.Grid, Exponent: p.Exponent}
	for range jobs {
		row := []int64{}
		for range rng.IntN(len(p.Price) + 1) {
			row = append(row, int64(max(0, rng.IntN(6)-2))*rng.Int64N(4000))
		}
		out.Price = append(out.Price, row)
	}
	return out
}

// plainPack is L(λ) by its definition: every start or completion, and every set.
func plainPack(t *testing.T, p *JobPrices, in *sched.Instance, obj sched.Objective, kind sched.Kind) *big.Rat {
	t.Helper()
	w, err := newWorkload(in, obj)
	if err != nil {
		t.Fatal(err)
	}
	sum := new(big.Rat)
	alone := *in // with gangs of one GPU, so that plainSpread charges the price itself
	alone.Jobs = slices.Clone(in.Jobs)
	for i := range alone.Jobs {
		alone.Jobs[i].Stages = []sched.Stage{{Replicas: 1, Compute: 1}}
	}
	single := *w
	single.in = &alone
	for j, d := range w.length {
		row := make([]int64, p.Grid.Slots())
		copy(row, p.Price[j])
		if kind == sched.P0 {
			sum.Add(sum, plainSpread(&Prices{Grid: p.Grid, Price: row, Exponent: p.Exponent}, &single, obj, j, row))
			continue
		}
		var best *big.Rat
		for s := in.Jobs[j].Release; s <= max(p.Grid.End(), in.Jobs[j].Release); s++ {
			paid := int64(0)
			for u := s; u < s+d; u++ {
				if k := p.Grid.Slot(u); k < p.Grid.Slots() {
					paid += row[k]
				}
			}
			v := integer(int64(s + d))
			if obj.Weighted() {
				v.Mul(v, new(big.Rat).SetFloat64(in.Jobs[j].Weight))
			}
			if v.Add(v, new(big.Rat).SetFrac64(paid, 1<<-p.Exponent)); best == nil || v.Cmp(best) < 0 {
				best = v
			}
		}
		sum.Add(sum, best)
	}
	for k := range p.Grid.Slots() {
		most := int64(0)
		for set := range 1 << len(in.Jobs) {
			gpus, value := 0, int64(0)
			for j := range in.Jobs {
				if set>>j&1 == 1 && in.Jobs[j].Release < p.Grid[k+1] {
					gpus += in.Jobs[j].Gang()
					if k < len(p.Price[j]) {
						value += p.Price[j][k]
					}
				}
			}
			if gpus <= in.Cluster.GPUs() {
				most = max(most, value)
			}
		}
		sum.Sub(sum, new(big.Rat).SetFrac64(most*int64(p.Grid[k+1]-p.Grid[k]), 1<<-p.Exponent))
	}
	return sum
}

// TestKnapsackAgainstDefinition compares the evaluation with one over all starts,
// completions and sets of jobs.
func TestKnapsackAgainstDefinition(t *testing.T) {
	for seed := range uint64(tier.Draws(300, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 16))
		in := randomInstance(rng, 1+rng.IntN(5), 1+sched.Time(rng.IntN(12)), []float64{1, 2, 0.1, 7e5})
		p := randomJobPrices(rng, len(in.Jobs), 1+sched.Time(rng.IntN(30)))
		for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion} {
			for _, kind := range []sched.Kind{sched.N, sched.P0} {
				w, err := newWorkload(in, obj)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := p.total(kind, w, obj), plainPack(t, p, in, obj, kind); got.Cmp(want) != 0 {
					t.Fatalf("seed %d, %v, %v: L = %v, by definition %v\n%+v\n%+v", seed, obj, sched.Class{Kind: kind}, got, want, in, p)
				}
			}
		}
	}
}

// wholeGangs runs the jobs at random, each with all of its GPUs or none, in steps of a
// microsecond, and returns when they complete.
func wholeGangs(rng *rand.Rand, in *sched.Instance) []sched.Time {
	left, completion := make([]int64, len(in.Jobs)), make([]sched.Time, len(in.Jobs))
	for i := range left {
		left[i] = in.Jobs[i].Iters
	}
	order := rng.Perm(len(left))
	for t, open := sched.Time(0), len(left); open > 0; t++ {
		if rng.IntN(3) == 0 {
			rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		}
		room := in.Cluster.GPUs()
		for _, i := range order {
			if gang := in.Jobs[i].Gang(); in.Jobs[i].Release <= t && left[i] > 0 && gang <= room && rng.IntN(8) > 0 {
				room -= gang
				if left[i]--; left[i] == 0 {
					completion[i] = t + 1
					open--
				}
			}
		}
	}
	return completion
}

// TestJobPricesAreProof: whatever the prices by job, no schedule of whole gangs costs
// less than they prove of P0, nor any without preemption less than of N.
func TestJobPricesAreProof(t *testing.T) {
	campaign(t, func(seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 17))
		in := randomInstance(rng, 1+rng.IntN(4), 1+sched.Time(rng.IntN(15)), []float64{1, 3, 0.25})
		obj := totals[seed%4]
		cost := obj.Cost(in, wholeGangs(rng, in))
		_, optimum := schedtest.BruteForce(in, obj)
		p := randomJobPrices(rng, len(in.Jobs), 1+sched.Time(rng.IntN(60)))
		if seed%2 == 0 {
			p = mustPack(t, in, obj, KnapsackOptions{Slots: 1 + rng.IntN(20), Iterations: 30, Class: []sched.Kind{sched.N, sched.P0}[seed/2%2], Upper: optimum}).Prices
		}
		n, err := p.BoundOf(sched.N, in, obj)
		if err != nil {
			t.Fatal(err)
		}
		p0, err := p.BoundOf(sched.P0, in, obj)
		if err != nil {
			t.Fatal(err)
		}
		if n.Value.Cmp(optimum) > 0 || p0.Value.Cmp(cost) > 0 || p0.Value.Cmp(n.Value) > 0 || p0.Value.Cmp(optimum) > 0 {
			t.Fatalf("seed %d, %v: N %v of %v, P0 %v of at most %v\n%+v\n%+v", seed, obj, n.Value, optimum, p0.Value, cost, in, p)
		}
	})
}

// BoundOf is bound from the raw data.
func (p *JobPrices) BoundOf(kind sched.Kind, in *sched.Instance, obj sched.Objective) (Bound, error) {
	w, err := newWorkload(in, obj)
	if err != nil {
		return Bound{}, err
	}
	return p.bound(kind, w, obj)
}

// campaign runs a test on some instances, on 2,000 of all tests, and on 10^5 of long ones.
func campaign(t *testing.T, f func(seed uint64)) {
	t.Helper()
	n := tier.Draws(300, 2000)
	if tier.Long() {
		n = 100_000
	}
	for seed := range uint64(n) {
		f(seed)
	}
}

func mustPack(t testing.TB, in *sched.Instance, obj sched.Objective, opt KnapsackOptions) *KnapsackDual {
	t.Helper()
	d, err := Knapsack(context.Background(), in, obj, opt)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Prices.BoundOf(d.Class.Kind, in, obj)
	if err != nil || !reflect.DeepEqual(again, d.Bound) || d.Interrupted {
		t.Fatalf("the prices prove %+v (%v), not %+v", again, err, d.Bound)
	}
	return d
}

// TestKnapsackPlaces: where iteration times depend on places, servers are uneven and
// gangs span them, the bound stays below the optimum by brute force. It is never less
// than that of prices by GPU after as many evaluations, from which it begins, and on some
// instances more.
func TestKnapsackPlaces(t *testing.T) {
	better := 0
	for seed := range uint64(tier.Draws(30, 300)) {
		rng := schedtest.Rand(seed)
		shape := schedtest.Shape{Jobs: 1 + rng.IntN(4), Servers: 1 + rng.IntN(3), GPUs: 3, Uniform: rng.IntN(2) == 0, Stages: 1 + rng.IntN(2), Traffic: true, Weights: true, Span: rng.IntN(2) == 0}
		in := schedtest.Gang(rng, shape)
		obj := totals[seed%4]
		_, optimum := schedtest.BruteForce(in, obj)
		d := mustPack(t, in, obj, KnapsackOptions{Slots: 40, Iterations: 100, Effort: rng.IntN(2)})
		row := mustClimb(t, in, obj, LagrangianOptions{Slots: 40, Iterations: 100})
		if d.Value.Cmp(optimum) > 0 || d.Value.Cmp(row.Value) < 0 {
			t.Fatalf("seed %d, %v: knapsack %v, prices by GPU %v, optimum %v\n%+v", seed, obj, d.Value, row.Value, optimum, in)
		}
		if d.Value.Cmp(row.Value) > 0 {
			better++
		}
	}
	if better == 0 {
		t.Error("it was never better")
	}
}

// TestKnapsackIsNotFluid: two gangs of 3 and unit length on 4 GPUs. Prices 1.5 and 0.5
// prove 3, the optimum of whole gangs. A fluid schedule serves one job at its full rate
// and the other at a third of it on the GPU that is left, then in full: they complete
// at 1 and 5/3, which is 2⅔. So no bound by prices per job is one of F(1).
func TestKnapsackIsNotFluid(t *testing.T) {
	const unit = 600
	in := instance(1, 4, job(0, 3, unit, 1), job(0, 3, unit, 1))
	p := &JobPrices{Grid: Grid{0, unit, 2 * unit}, Price: [][]int64{{3, 1}, {3, 1}}, Exponent: -1}
	for _, kind := range []sched.Kind{sched.N, sched.P0} {
		if b, err := p.BoundOf(kind, in, sched.TotalCompletion); err != nil || b.Value.Cmp(integer(3*unit)) != 0 || b.Divides(sched.Class{Kind: sched.Fluid}, sched.TotalCompletion) == nil {
			t.Errorf("the prices prove %+v, %v", b, err)
		}
	}
	fluid := sched.TotalCompletion.Cost(in, []sched.Time{unit, unit * 5 / 3})
	if fluid.Cmp(integer(3*unit)) >= 0 {
		t.Errorf("the fluid schedule costs %v", fluid)
	}
	if b, err := p.BoundOf(sched.Fluid, in, sched.TotalCompletion); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("of F(1) they prove %+v, %v", b, err)
	}
	if d, err := Knapsack(context.Background(), in, sched.TotalCompletion, KnapsackOptions{Class: sched.Fluid}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("of F(1) %+v, %v", d, err)
	}
	d := mustClimb(t, in, sched.TotalCompletion, LagrangianOptions{Class: sched.Fluid, Slots: 600, Iterations: 300})
	if d.Value.Cmp(fluid) > 0 || d.Value.Cmp(integer(2*unit)) <= 0 {
		t.Errorf("of F(1) prices by GPU prove %v", d.Value)
	}
}

// TestKnapsackMoves checks how L(λ) moves with the instance and the grid.
func TestKnapsackMoves(t *testing.T) {
	for seed := range uint64(tier.Draws(100, 1000)) {
		rng := rand.New(rand.NewPCG(seed, 18))
		in := randomInstance(rng, 1+rng.IntN(7), 1+sched.Time(rng.IntN(40)), []float64{1, 2, 0.7})
		p := randomJobPrices(rng, len(in.Jobs), 1+sched.Time(rng.IntN(200)))
		for _, kind := range []sched.Kind{sched.N, sched.P0} {
			value := func(in *sched.Instance, p *JobPrices) *big.Rat {
				b, err := p.BoundOf(kind, in, sched.MeanJCT)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				return b.Value
			}
			base := value(in, p)
			const k = 7
			longer := &JobPrices{Grid: slices.Clone(p.Grid), Price: p.Price, Exponent: p.Exponent}
			for i := range longer.Grid {
				longer.Grid[i] *= k
			}
			if got := value(schedtest.Scale(in, k), longer); got.Cmp(new(big.Rat).Mul(base, integer(k))) != 0 {
				t.Fatalf("seed %d: %v becomes %v when time is scaled by %d", seed, base, got, k)
			}
			perm := rng.Perm(len(in.Jobs))
			moved := schedtest.PermuteJobs(in, perm)
			permuted := &JobPrices{Grid: p.Grid, Exponent: p.Exponent, Price: make([][]int64, len(perm))}
			for i := range perm {
				permuted.Price[i] = p.Price[slices.IndexFunc(in.Jobs, func(j sched.Job) bool { return reflect.DeepEqual(j, moved.Jobs[i]) })]
			}
			if !repeats(in) && value(moved, permuted).Cmp(base) != 0 {
				t.Fatalf("seed %d: %v becomes %v when jobs are permuted", seed, base, value(moved, permuted))
			}
			if got := value(schedtest.AddServer(in, sched.Server{GPUs: 1 + rng.IntN(4)}), p); got.Cmp(base) > 0 {
				t.Fatalf("seed %d: %v becomes %v with another server", seed, base, got)
			}
			// Slots cut in two, at a time at which nothing is released.
			finer := &JobPrices{Grid: Grid{0}, Price: make([][]int64, len(in.Jobs)), Exponent: p.Exponent}
			for s := range p.Grid.Slots() {
				mid := p.Grid[s] + (p.Grid[s+1]-p.Grid[s])/2
				cut := mid > p.Grid[s] && !slices.ContainsFunc(in.Jobs, func(j sched.Job) bool { return mid <= j.Release && j.Release < p.Grid[s+1] })
				for range map[bool]int{false: 1, true: 2}[cut] {
					for j, row := range p.Price {
						if s < len(row) {
							finer.Price[j] = append(finer.Price[j], row[s])
						}
					}
				}
				if cut {
					finer.Grid = append(finer.Grid, mid)
				}
				finer.Grid = append(finer.Grid, p.Grid[s+1])
			}
			if got := value(in, finer); got.Cmp(base) != 0 {
				t.Fatalf("seed %d: %v becomes %v on a finer grid", seed, base, got)
			}
		}
	}
}

// repeats reports whether two jobs are alike.
func repeats(in *sched.Instance) bool {
	for i := range in.Jobs {
		for k := range i {
			if reflect.DeepEqual(in.Jobs[i], in.Jobs[k]) {
				return true
			}
		}
	}
	return false
}

// TestKnapsackExtremes: weights and times as far apart as they may be, wide clusters,
// one job; bad options and prices; contexts that end.
func TestKnapsackExtremes(t *testing.T) {
	in := instance(1, 10_000)
	for i := range 20 {
		in.Jobs = append(in.Jobs, job(sched.MaxTime-sched.Time(i), 10_000, int64(sched.MaxTime), 1e300))
	}
	check := func(in *sched.Instance, obj sched.Objective) {
		t.Helper()
		for _, kind := range []sched.Kind{sched.N, sched.P0} {
			d := mustPack(t, in, obj, KnapsackOptions{Slots: 20, Iterations: 5, Class: kind})
			if alone := mustValue(t, in, obj, LB0); d.Value.Cmp(alone) < 0 {
				t.Errorf("%v: %v is below LB0 %v", obj, d.Value, alone)
			}
		}
	}
	check(in, sched.TotalJCT)
	check(in, sched.WeightedCompletion)
	in.Jobs[0].Weight = 1e-300
	check(in, sched.WeightedCompletion)
	in.Jobs = in.Jobs[:1]
	check(in, sched.WeightedCompletion)

	in = instance(1, 2, job(0, 2, 5, 1), job(0, 2, 5, 1))
	for name, opt := range map[string]KnapsackOptions{"slots": {Slots: -1}, "iterations": {Iterations: -1}, "effort": {Effort: -1}, "steps": {Steps: -1}} {
		if _, err := Knapsack(context.Background(), in, sched.TotalJCT, opt); err == nil || errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("bad %s: %v", name, err)
		}
	}
	for _, obj := range []sched.Objective{sched.Makespan, sched.ScheduledWeight} {
		if _, err := Knapsack(context.Background(), in, obj, KnapsackOptions{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%v: %v", obj, err)
		}
	}
	if _, err := Knapsack(context.Background(), in, sched.TotalJCT, KnapsackOptions{Slots: maxSlots}); err != nil {
		t.Errorf("2^20 slots for two jobs: %v", err)
	}
	if _, err := Knapsack(context.Background(), busy(1, 20_000, 250, 1), sched.TotalJCT, KnapsackOptions{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("20,000 jobs: %v", err)
	}
	for name, p := range map[string]*JobPrices{
		"no grid":   {Price: [][]int64{{}, {}}},
		"jobs":      {Grid: Grid{0, 1}, Price: [][]int64{{1}}},
		"slots":     {Grid: Grid{0, 1}, Price: [][]int64{{1, 1}, {}}},
		"negative":  {Grid: Grid{0, 1}, Price: [][]int64{{-1}, {}}},
		"too large": {Grid: Grid{0, 1}, Price: [][]int64{{1<<61 + 1}, {}}},
		"exponent":  {Grid: Grid{0, 1}, Price: [][]int64{{1}, {}}, Exponent: 1 << 40},
	} {
		if _, err := p.BoundOf(sched.N, in, sched.TotalJCT); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for left := range 40 {
		d, err := Knapsack(&waning{context.Background(), left}, in, sched.TotalJCT, KnapsackOptions{Slots: 4, Iterations: 5})
		if err != nil || d.Value.Cmp(integer(10)) < 0 || d.Value.Cmp(integer(15)) > 0 {
			t.Errorf("after %d questions: %+v, %v", left, d, err)
		}
	}
}
