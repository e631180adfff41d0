package bounds

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/internal/number"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

var totals = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT}

// randomPrices returns prices on a random grid up to about the given time, many
// of them 0.
func randomPrices(rng *rand.Rand, until sched.Time) *Prices {
	p := &Prices{Grid: Grid{0}, Exponent: -10}
	for p.Grid.End() < until {
		p.Grid = append(p.Grid, p.Grid.End()+1+sched.Time(rng.Int64N(int64(until)/8+1)))
		p.Price = append(p.Price, int64(max(0, rng.IntN(6)-3))*rng.Int64N(2000))
	}
	return p
}

// plainValue is L(π) by its definition: every integral start, one microsecond
// at a time.
func plainValue(t *testing.T, p *Prices, in *sched.Instance, obj sched.Objective) *big.Rat {
	t.Helper()
	w, err := newWorkload(in, obj)
	if err != nil {
		t.Fatal(err)
	}
	at := func(time sched.Time) *big.Rat {
		k := p.Grid.Slot(time)
		if k == p.Grid.Slots() {
			return new(big.Rat)
		}
		v := new(big.Rat).SetFloat64(math.Ldexp(1, p.Exponent))
		return v.Mul(v, integer(p.Price[k]))
	}
	sum, releases := new(big.Rat), new(big.Rat)
	for j, d := range w.length {
		var best *big.Rat
		for s := in.Jobs[j].Release; s <= max(p.Grid.End(), in.Jobs[j].Release); s++ {
			v := integer(int64(s + d))
			if obj == sched.WeightedCompletion {
				v.Mul(v, new(big.Rat).SetFloat64(in.Jobs[j].Weight))
			}
			for u := s; u < s+d; u++ {
				v.Add(v, new(big.Rat).Mul(integer(int64(in.Jobs[j].Gang())), at(u)))
			}
			if best == nil || v.Cmp(best) < 0 {
				best = v
			}
		}
		sum.Add(sum, best)
		releases.Add(releases, integer(int64(in.Jobs[j].Release)))
	}
	for u := range p.Grid.End() {
		sum.Sub(sum, new(big.Rat).Mul(integer(Reachable(in)), at(u)))
	}
	if obj == sched.TotalJCT || obj == sched.MeanJCT {
		sum.Sub(sum, releases)
	}
	if obj == sched.MeanJCT {
		return sum.Quo(sum, integer(int64(len(in.Jobs))))
	}
	if obj.Integral(in) {
		return number.Ceil(sum)
	}
	return sum
}

// TestPricesAgainstDefinition compares the evaluation over few starts with one
// over all.
func TestPricesAgainstDefinition(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 10))
		in := randomInstance(rng, 1+rng.IntN(4), 1+sched.Time(rng.IntN(15)), []float64{1, 2, 0.1, 1.0 / 3, 7e5})
		p := randomPrices(rng, 1+sched.Time(rng.IntN(25)))
		for _, obj := range totals {
			got, err := p.Bound(in, obj)
			if want := plainValue(t, p, in, obj); err != nil || got.Value.Cmp(want) != 0 {
				t.Fatalf("seed %d, %v: L = %v (%v), by definition %v\nprices %+v", seed, obj, got.Value, err, want, p)
			}
		}
	}
}

// TestAnyPricesAreProof draws prices at random: whatever they are, no schedule
// costs less. So do climbed ones, which are worth at least LB0.
func TestAnyPricesAreProof(t *testing.T) {
	for seed := range uint64(tier.Draws(70, 200)) {
		rng := schedtest.Rand(seed)
		shape := schedtest.Shape{Jobs: 1 + rng.IntN(4), Servers: 1 + rng.IntN(3), GPUs: 3, Uniform: rng.IntN(2) == 0, Stages: 1 + rng.IntN(2), Traffic: true, Weights: true, Span: rng.IntN(2) == 0}
		in := schedtest.Gang(rng, shape)
		if seed%4 == 0 {
			in = schedtest.Preemptive(rng, shape)
		}
		for _, obj := range []sched.Objective{totals[seed%4], totals[(seed/4+1)%4]} {
			s, optimum := schedtest.BruteForce(in, obj)
			class := schedtest.Verify(t, in, s).Class()
			check := func(b Bound, err error) {
				t.Helper()
				if err != nil || b.Proof == nil || b.Divides(class, obj) != nil {
					t.Fatalf("seed %d: %+v, %v", seed, b, err)
				}
				if b.Value.Cmp(optimum) > 0 {
					t.Fatalf("seed %d, %v: %v exceeds the optimum %v\n%+v", seed, obj, b.Value, optimum, in)
				}
			}
			check(randomPrices(rng, 3*sched.Second).Bound(in, obj))
			opt := LagrangianOptions{Slots: 1 + rng.IntN(300), Iterations: 1 + rng.IntN(40)}
			if rng.IntN(2) == 0 {
				opt.Horizon, opt.Upper = 1+sched.Time(rng.Int64N(4e6)), optimum
			}
			d := mustClimb(t, in, obj, opt)
			check(d.Bound, nil)
			if alone := mustValue(t, in, obj, LB0); d.Value.Cmp(alone) < 0 {
				t.Fatalf("seed %d, %v: %v is below LB0 %v", seed, obj, d.Value, alone)
			}
		}
	}
}

func mustClimb(t testing.TB, in *sched.Instance, obj sched.Objective, opt LagrangianOptions) *Dual {
	t.Helper()
	d, err := Lagrangian(context.Background(), in, obj, opt)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Prices.BoundOf(d.Class.Kind, in, obj)
	if err != nil || !reflect.DeepEqual(again, d.Bound) || d.Interrupted {
		t.Fatalf("the prices prove %+v (%v), not %+v", again, err, d.Bound)
	}
	return d
}

// TestLagrangianExamples: (r, d) on one GPU, in tens of seconds. The linear
// program's optima are 23.5 where SRPT gives 24, and 10.5 where it gives 9.
func TestLagrangianExamples(t *testing.T) {
	const unit = 10 * sched.Second
	for _, test := range []struct {
		jobs [][2]sched.Time
		lp   float64
		srpt int64
	}{
		{[][2]sched.Time{{0, 4}, {0, 2}, {4, 2}, {5, 1}}, 23.5, 24},
		{[][2]sched.Time{{0, 5}, {2, 1}}, 10.5, 9},
	} {
		in := instance(1, 1)
		for _, j := range test.jobs {
			in.Jobs = append(in.Jobs, job(j[0]*unit, 1, int64(j[1]*unit), 1))
		}
		d := mustClimb(t, in, sched.TotalCompletion, LagrangianOptions{Slot: unit, Iterations: 500})
		if got, _ := new(big.Rat).Quo(d.Value, integer(int64(unit))).Float64(); got > test.lp || got < 0.9999*test.lp {
			t.Errorf("%v: the Lagrangian is %v, the linear program's optimum %v", test.jobs, got, test.lp)
		}
		if got := mustValue(t, in, sched.TotalCompletion, SRPT); got.Cmp(integer(test.srpt*int64(unit))) != 0 {
			t.Errorf("%v: SRPT is %v, want %v", test.jobs, got, test.srpt)
		}
		// With preemption both sums are SRPT's: 9 is less than 10.5.
		if d.Divides(sched.Class{Kind: sched.P}, sched.TotalCompletion) == nil {
			t.Error("the bound divides preemptive schedules")
		}
	}
}

// TestPricesMove checks how L(π) moves with the instance and the grid.
func TestPricesMove(t *testing.T) {
	merged := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 11))
		in := randomInstance(rng, 1+rng.IntN(7), 1+sched.Time(rng.IntN(40)), []float64{1, 2, 0.7})
		p := randomPrices(rng, 1+sched.Time(rng.IntN(200)))
		value := func(in *sched.Instance, p *Prices, obj sched.Objective) *big.Rat {
			b, err := p.Bound(in, obj)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return b.Value
		}
		const k = 7
		longer := &Prices{Grid: slices.Clone(p.Grid), Price: p.Price, Exponent: p.Exponent}
		for i := range longer.Grid {
			longer.Grid[i] *= k
		}
		base := value(in, p, sched.MeanJCT)
		if got := value(schedtest.Scale(in, k), longer, sched.MeanJCT); got.Cmp(new(big.Rat).Mul(base, integer(k))) != 0 {
			t.Fatalf("seed %d: %v becomes %v when time is scaled by %d", seed, base, got, k)
		}
		if got := value(schedtest.PermuteJobs(in, rng.Perm(len(in.Jobs))), p, sched.MeanJCT); got.Cmp(base) != 0 {
			t.Fatalf("seed %d: %v becomes %v when jobs are permuted", seed, base, got)
		}
		if got := value(schedtest.AddServer(in, sched.Server{GPUs: 1 + rng.IntN(4)}), p, sched.MeanJCT); got.Cmp(base) > 0 {
			t.Fatalf("seed %d: %v becomes %v with another server", seed, base, got)
		}

		prices := make([]float64, len(p.Price))
		for i, v := range p.Price {
			prices[i] = math.Ldexp(float64(v), p.Exponent)
		}
		w, err := newWorkload(in, sched.MeanJCT)
		if err != nil {
			t.Fatal(err)
		}
		shortest := 1 + sched.Time(rng.IntN(3))
		grid, finer, ok := refine(p.Grid, prices, 1+rng.IntN(2*len(prices)+1), shortest, w.contended())
		if err := grid.Validate(); err != nil || len(finer) != grid.Slots() || ok != (len(finer) > len(prices)) {
			t.Fatalf("seed %d: %v refined to %v (%v, %v)", seed, p.Grid, grid, ok, err)
		}
		for k := range p.Grid {
			if !slices.Contains(grid, p.Grid[k]) {
				merged++
			}
		}
		if got := value(in, NewPrices(grid, finer, 0), sched.MeanJCT); got.Cmp(base) != 0 {
			t.Fatalf("seed %d: %v becomes %v on a finer grid\n%v %v\n%v %v", seed, base, got, p.Grid, prices, grid, finer)
		}
	}
	if merged == 0 {
		t.Error("no slots were ever merged")
	}
}

// TestFluidPrices: on a fine grid the first prices are worth the mean busy time
// bound.
func TestFluidPrices(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 12))
		in := schedtest.Scale(randomInstance(rng, 1+rng.IntN(8), 1+sched.Time(rng.IntN(20)), []float64{1, 2, 5}), 1000)
		w, err := newWorkload(in, sched.WeightedCompletion)
		if err != nil {
			t.Fatal(err)
		}
		weight := make([]float64, len(in.Jobs))
		for j := range weight {
			weight[j] = in.Jobs[j].Weight
		}
		end, _ := w.workEnd().Float64()
		const slot = 10
		grid := UniformGrid(slot, sched.Time(end)+1)
		price := w.fluidPrices(weight, smithOrder(objectiveWeights(in, sched.WeightedCompletion).w, w.size), grid)
		b, err := NewPrices(grid, price, 0).Bound(in, sched.WeightedCompletion)
		if err != nil {
			t.Fatal(err)
		}
		floor := mustValue(t, in, sched.WeightedCompletion, MeanBusyTime)
		// Prices are means of slots. They reach the sum of the weights over all
		// GPUs, so that a gang may pay as much too little for one slot.
		for _, v := range weight {
			floor.Sub(floor, integer(slot*int64(v)*int64(len(weight))))
		}
		if b.Value.Cmp(floor) < 0 {
			t.Errorf("seed %d: the prices are worth %v, mean busy time %v", seed, b.Value, floor)
		}
	}
}

// TestReachable compares with the sums of all subsets.
func TestReachable(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 13))
		in := instance(1+rng.IntN(3), 1+rng.IntN(60))
		step := 1 + rng.IntN(in.Cluster.GPUs())
		for range 1 + rng.IntN(8) {
			in.Jobs = append(in.Jobs, job(0, min(in.Cluster.GPUs(), step*(1+rng.IntN(3))), 1, 1))
		}
		want := 0
		for set := range 1 << len(in.Jobs) {
			sum := 0
			for j := range in.Jobs {
				sum += set >> j & 1 * in.Jobs[j].Gang()
			}
			if sum <= in.Cluster.GPUs() {
				want = max(want, sum)
			}
		}
		if got := Reachable(in); got != int64(want) {
			t.Fatalf("seed %d: %d of %d GPUs reachable, want %d", seed, got, in.Cluster.GPUs(), want)
		}
	}
}

// TestLagrangianBeatsFluid: where jobs contend, the bound is above all others.
func TestLagrangianBeatsFluid(t *testing.T) {
	for seed := range uint64(3) {
		in := busy(seed, 300, 4, 1.2)
		for _, obj := range []sched.Objective{sched.TotalJCT, sched.WeightedCompletion} {
			d := mustClimb(t, in, obj, LagrangianOptions{Slots: 500, Iterations: 30})
			b, err := Best(in, obj)
			if err != nil || d.Value.Cmp(b.Value) <= 0 {
				t.Errorf("seed %d, %v: the Lagrangian is %v, %s %v (%v)", seed, obj, d.Value, b.Name, b.Value, err)
			}
		}
	}
}

// TestLagrangianExtremes: weights 600 orders of magnitude apart, the longest
// jobs on the largest cluster, one job.
func TestLagrangianExtremes(t *testing.T) {
	in := instance(1, 10_000)
	for i := range 20 {
		in.Jobs = append(in.Jobs, job(sched.MaxTime-sched.Time(i), 10_000, int64(sched.MaxTime), 1e300))
	}
	check := func(obj sched.Objective) {
		t.Helper()
		d := mustClimb(t, in, obj, LagrangianOptions{Slots: 100, Iterations: 10})
		if alone := mustValue(t, in, obj, LB0); d.Value.Cmp(alone) < 0 {
			t.Errorf("%v: %v is below LB0 %v", obj, d.Value, alone)
		}
	}
	check(sched.TotalJCT)
	check(sched.WeightedCompletion)
	in.Jobs[0].Weight = 1e-300
	check(sched.WeightedCompletion)
	in.Jobs = in.Jobs[:1]
	check(sched.WeightedCompletion)
}

func TestLagrangianErrors(t *testing.T) {
	in := instance(1, 2, job(0, 2, 5, 1), job(0, 2, 5, 1))
	for _, obj := range []sched.Objective{sched.Makespan, sched.ScheduledWeight} {
		if _, err := Lagrangian(context.Background(), in, obj, LagrangianOptions{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%v: %v", obj, err)
		}
	}
	if _, err := Lagrangian(context.Background(), in, sched.TotalJCT, LagrangianOptions{Slots: -1}); err == nil {
		t.Error("-1 slots")
	}
	for name, p := range map[string]*Prices{
		"no slot":      {Grid: Grid{0}},
		"not from 0":   {Grid: Grid{1, 2}, Price: []int64{1}},
		"no increase":  {Grid: Grid{0, 2, 2}, Price: []int64{1, 1}},
		"too late":     {Grid: Grid{0, 5 * sched.MaxTime}, Price: []int64{1}},
		"price missed": {Grid: Grid{0, 1, 2}, Price: []int64{1}},
		"negative":     {Grid: Grid{0, 1}, Price: []int64{-1}},
		"too precise":  {Grid: Grid{0, 1}, Price: []int64{1<<53 + 1}},
		"exponent":     {Grid: Grid{0, 1}, Price: []int64{1}, Exponent: 1 << 40},
	} {
		if _, err := p.Bound(in, sched.TotalJCT); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d, err := Lagrangian(ctx, in, sched.TotalJCT, LagrangianOptions{})
	if err != nil || !d.Interrupted || d.Value.Cmp(integer(10)) < 0 || d.Value.Cmp(integer(15)) > 0 {
		t.Errorf("interrupted: %+v, %v", d, err)
	}
}

// TestPricesRoundTrip: what is stored proves the same.
func TestPricesRoundTrip(t *testing.T) {
	in := busy(1, 50, 2, 1.5)
	d := mustClimb(t, in, sched.WeightedCompletion, LagrangianOptions{Slots: 200, Iterations: 20})
	text, err := json.Marshal(d.Prices)
	if err != nil {
		t.Fatal(err)
	}
	var p Prices
	if err := json.Unmarshal(text, &p); err != nil || !reflect.DeepEqual(&p, d.Prices) {
		t.Errorf("%v: %s becomes %+v", err, text, p)
	}
}
