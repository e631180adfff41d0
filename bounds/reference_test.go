package bounds

import (
	"cmp"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/internal/number"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// randomInstance has jobs of whole microseconds, some of them identical.
func randomInstance(rng *rand.Rand, jobs int, span sched.Time, weights []float64) *sched.Instance {
	in := instance(1+rng.IntN(3), 1+rng.IntN(4))
	for range jobs {
		in.Jobs = append(in.Jobs, job(sched.Time(rng.Int64N(int64(span))), 1+rng.IntN(in.Cluster.GPUs()), 1+rng.Int64N(12), weights[rng.IntN(len(weights))]))
	}
	return in
}

// unitSteps serves scaled jobs (releases G·r, sizes g·d) one unit at a time,
// always the first released one under before, and calls served with each unit.
func unitSteps(in *sched.Instance, before func(left []int64, a, b int) bool, served func(j int, t int64, done bool)) {
	g := int64(in.Cluster.GPUs())
	left := make([]int64, len(in.Jobs))
	for i := range in.Jobs {
		left[i] = int64(in.Jobs[i].Gang()) * in.Jobs[i].Iters
	}
	for t, open := int64(0), len(left); open > 0; t++ {
		j := -1
		for i := range left {
			if left[i] > 0 && int64(in.Jobs[i].Release)*g <= t && (j < 0 || before(left, i, j)) {
				j = i
			}
		}
		if j < 0 {
			continue
		}
		if left[j]--; left[j] == 0 {
			open--
		}
		served(j, t, left[j] == 0)
	}
}

func referenceSRPT(in *sched.Instance) *big.Rat {
	sum := new(big.Rat)
	unitSteps(in, func(left []int64, a, b int) bool { return left[a] < left[b] }, func(_ int, t int64, done bool) {
		if done {
			sum.Add(sum, big.NewRat(t+1, int64(in.Cluster.GPUs())))
		}
	})
	return number.Ceil(sum)
}

// priorityBusyTime returns Σ w M + ½ Σ w d under the static priorities of the
// given order.
func priorityBusyTime(in *sched.Instance, order []int) *big.Rat {
	position := make([]int, len(order))
	for p, j := range order {
		position[j] = p
	}
	g := int64(in.Cluster.GPUs())
	sum := new(big.Rat)
	unitSteps(in, func(_ []int64, a, b int) bool { return position[a] < position[b] }, func(j int, t int64, _ bool) {
		w := new(big.Rat).SetFloat64(in.Jobs[j].Weight)
		mid := big.NewRat(2*t+1, 2*g) // of the unit, in microseconds
		mid.Quo(mid, big.NewRat(int64(in.Jobs[j].Gang())*in.Jobs[j].Iters, 1))
		sum.Add(sum, mid.Mul(mid, w))
	})
	for i := range in.Jobs {
		w := new(big.Rat).SetFloat64(in.Jobs[i].Weight)
		sum.Add(sum, w.Mul(w, big.NewRat(in.Jobs[i].Iters, 2)))
	}
	return sum
}

func permutations(n int, f func([]int)) {
	p := make([]int, 0, n)
	var extend func()
	extend = func() {
		if len(p) == n {
			f(p)
			return
		}
		for j := range n {
			if !slices.Contains(p, j) {
				p = append(p, j)
				extend()
				p = p[:len(p)-1]
			}
		}
	}
	extend()
}

// TestSRPTAgainstUnitSteps compares with a simulation of single units.
func TestSRPTAgainstUnitSteps(t *testing.T) {
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := randomInstance(rng, 1+rng.IntN(8), 1+sched.Time(rng.IntN(40)), []float64{1})
		if got, want := mustValue(t, in, sched.TotalCompletion, SRPT), referenceSRPT(in); got.Cmp(want) != 0 {
			t.Fatalf("seed %d: SRPT %v, one unit at a time %v", seed, got, want)
		}
	}
}

// TestMeanBusyTimeIsTheLeast compares with the least value over every order of
// priorities, which is the optimum of the mean-busy-time linear program: its
// extreme points are these schedules.
func TestMeanBusyTimeIsTheLeast(t *testing.T) {
	for seed := range uint64(tier.Draws(70, 200)) {
		rng := rand.New(rand.NewPCG(seed, 2))
		in := randomInstance(rng, 1+rng.IntN(5), 1+sched.Time(rng.IntN(15)), []float64{1, 2, 5, 0.5, 0.1, 1.0 / 3})
		var want *big.Rat
		order := make([]int, len(in.Jobs))
		permutations(len(order), func(p []int) {
			if v := priorityBusyTime(in, p); want == nil || v.Cmp(want) < 0 {
				want = v
			}
		})
		got := mustValue(t, in, sched.WeightedCompletion, MeanBusyTime)
		if sched.WeightedCompletion.Integral(in) {
			want = number.Ceil(want)
		}
		// Each job is rounded down by less than w/2^24.
		slack := new(big.Rat)
		for i := range in.Jobs {
			slack.Add(slack, new(big.Rat).SetFloat64(in.Jobs[i].Weight))
		}
		slack.Quo(slack, big.NewRat(1<<gridBits, 1))
		if got.Cmp(want) > 0 || slack.Add(slack, got).Cmp(want) < 0 {
			t.Fatalf("seed %d: mean busy time %v, least over all orders %v", seed, got, want)
		}
	}
}

// TestFluidSchedulesCostMore draws random fluid schedules, the weakest class
// the bounds are proven for, and compares their costs with every bound.
func TestFluidSchedulesCostMore(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		in := randomInstance(rng, 1+rng.IntN(5), 1+sched.Time(rng.IntN(15)), []float64{1, 3, 0.25})
		completion := fluidSchedule(rng, in)
		for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan} {
			cost := obj.Cost(in, completion)
			all, err := All(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range all {
				if b.Class.Kind == sched.Fluid && b.Value.Cmp(cost) > 0 {
					t.Fatalf("seed %d: %s = %v exceeds the cost %v of a fluid schedule, %v", seed, b.Name, b.Value, cost, obj)
				}
			}
		}
	}
}

// fluidSchedule serves the jobs at random rates in steps of a microsecond and
// returns completion times rounded up. Rates are in 60ths.
func fluidSchedule(rng *rand.Rand, in *sched.Instance) []sched.Time {
	left := make([]int64, len(in.Jobs))
	for i := range left {
		left[i] = in.Jobs[i].Iters * 60
	}
	completion := make([]sched.Time, len(left))
	order := rng.Perm(len(left))
	for t, open := sched.Time(0), len(left); open > 0; t++ {
		if rng.IntN(3) == 0 {
			rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		}
		room := int64(in.Cluster.GPUs()) * 60
		for _, i := range order {
			gang := int64(in.Jobs[i].Gang())
			if in.Jobs[i].Release > t || left[i] == 0 {
				continue
			}
			rate := min(60, room/gang, left[i])
			if rng.IntN(6) == 0 {
				rate = rng.Int64N(rate + 1)
			}
			room -= rate * gang
			if left[i] -= rate; left[i] == 0 {
				completion[i] = t + 1
				open--
			}
		}
	}
	return completion
}

// TestRelations checks how bounds move with the instance.
func TestRelations(t *testing.T) {
	objectives := []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 4))
		in := randomInstance(rng, 1+rng.IntN(7), 1+sched.Time(rng.IntN(40)), []float64{1, 2, 7})
		const k, shift = 7, 1000
		scaled, shifted, permuted, larger := *in, *in, *in, *in
		scaled.Jobs, shifted.Jobs, permuted.Jobs = slices.Clone(in.Jobs), slices.Clone(in.Jobs), slices.Clone(in.Jobs)
		var totalWeight float64
		for i := range in.Jobs {
			scaled.Jobs[i].Release *= k
			scaled.Jobs[i].Iters *= k
			shifted.Jobs[i].Release += shift
			totalWeight += in.Jobs[i].Weight
		}
		rng.Shuffle(len(permuted.Jobs), func(a, b int) { permuted.Jobs[a], permuted.Jobs[b] = permuted.Jobs[b], permuted.Jobs[a] })
		larger.Cluster.Servers = append(slices.Clone(in.Cluster.Servers), sched.Server{GPUs: 1 + rng.IntN(4)})
		for _, obj := range objectives {
			base, err := All(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			values := func(in *sched.Instance) []Bound {
				b, err := All(in, obj)
				if err != nil || len(b) != len(base) {
					t.Fatalf("seed %d: %v bounds, error %v", seed, b, err)
				}
				return b
			}
			byScale, byShift, byOrder, bySize := values(&scaled), values(&shifted), values(&permuted), values(&larger)
			move := map[sched.Objective]*big.Rat{
				sched.TotalCompletion: integer(int64(len(in.Jobs)) * shift), sched.WeightedCompletion: integer(int64(totalWeight) * shift),
				sched.TotalJCT: new(big.Rat), sched.MeanJCT: new(big.Rat), sched.Makespan: integer(shift)}[obj]
			for i, b := range base {
				// Rounding up adds less than a microsecond per job, times its weight.
				up := new(big.Rat).Mul(b.Value, integer(k))
				down := new(big.Rat).Sub(b.Value, integer(int64(totalWeight)))
				if v := byScale[i].Value; v.Cmp(up) > 0 || v.Cmp(down.Mul(down, integer(k))) <= 0 {
					t.Errorf("seed %d: %s, %v: %v becomes %v when time is scaled by %d", seed, b.Name, obj, b.Value, v, k)
				}
				if v := byShift[i].Value; v.Cmp(new(big.Rat).Add(b.Value, move)) != 0 {
					t.Errorf("seed %d: %s, %v: %v becomes %v when releases move by %d", seed, b.Name, obj, b.Value, v, shift)
				}
				if v := byOrder[i].Value; v.Cmp(b.Value) != 0 {
					t.Errorf("seed %d: %s, %v: %v becomes %v when jobs are permuted", seed, b.Name, obj, b.Value, v)
				}
				if v := bySize[i].Value; v.Cmp(b.Value) > 0 {
					t.Errorf("seed %d: %s, %v: %v becomes %v with another server", seed, b.Name, obj, b.Value, v)
				}
			}
			if obj == sched.TotalCompletion && (base[ranked].Value.Cmp(base[lb0].Value) < 0 || base[ranked].Value.Cmp(base[srpt].Value) < 0) {
				t.Errorf("seed %d: ranked %v is below LB0 %v or SRPT %v", seed, base[ranked].Value, base[lb0].Value, base[srpt].Value)
			}
		}
	}
}

// TestLargeNumbers: jobs of the greatest length an instance may have, on the
// greatest cluster, must not overflow.
func TestLargeNumbers(t *testing.T) {
	in := instance(1, 10_000)
	const n = 200
	for i := range n {
		in.Jobs = append(in.Jobs, job(sched.MaxTime-sched.Time(i), 10_000, int64(sched.MaxTime), 1e300))
	}
	// All GPUs each, equal lengths: the k-th completes at r_min + k·d.
	start := big.NewInt(int64(sched.MaxTime - n + 1))
	want := new(big.Int)
	for k := range int64(n) {
		c := new(big.Int).Mul(big.NewInt(int64(sched.MaxTime)), big.NewInt(k+1))
		want.Add(want, c.Add(c, start))
	}
	for _, f := range []func(*sched.Instance, sched.Objective) (Bound, error){SRPT, Ranked, MeanBusyTime} {
		got := mustValue(t, in, sched.TotalCompletion, f)
		// Mean busy times may use the releases' few microseconds of freedom.
		if diff := new(big.Rat).Sub(new(big.Rat).SetInt(want), got); diff.Sign() < 0 || diff.Cmp(integer(n)) > 0 {
			t.Errorf("bound %v, want %v", got, want)
		}
	}
	end := new(big.Int).Mul(big.NewInt(int64(sched.MaxTime)), big.NewInt(n))
	if got := mustValue(t, in, sched.Makespan, Area); got.Cmp(new(big.Rat).SetInt(end.Add(end, start))) != 0 {
		t.Errorf("area bound %v, want %v", got, end)
	}
	weighted := mustValue(t, in, sched.WeightedCompletion, SRPT)
	if got := new(big.Rat).Quo(weighted, new(big.Rat).SetInt(want)); got.Cmp(new(big.Rat).SetFloat64(1e300)) != 0 {
		t.Errorf("SRPT with weights 1e300 is %v times the unweighted one", got)
	}
	in.Jobs[0].Weight = 1e-300 // 600 orders of magnitude apart
	if b, err := MeanBusyTime(in, sched.WeightedCompletion); err != nil || b.Value.Sign() <= 0 {
		t.Errorf("mean busy time with extreme weights: %v, %v", b.Value, err)
	}
}

// TestSmithOrderIsExact puts two quotients within a unit of the last place of
// each other.
func TestSmithOrderIsExact(t *testing.T) {
	w := []*big.Int{big.NewInt(1<<60 - 1), big.NewInt(1 << 60), big.NewInt(1 << 60)}
	size := []int64{1<<61 - 1, 1 << 61, 1<<61 + 1}
	// (2^60−1)/(2^61−1) < ½ = 2^60/2^61 > 2^60/(2^61+1); the last one is the larger of the two outer ones.
	got := smithOrder(w, size)
	if want := []int64{2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("positions %v, want %v", got, want)
	}
}

// FuzzBounds: whatever the jobs, bounds exist, LB0 is the least of those it
// must not exceed, and all stay below the cost of running jobs one by one.
func FuzzBounds(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(2), uint8(4))
	f.Add(uint64(2), uint8(1), uint8(1), uint8(1))
	f.Add(uint64(3), uint8(40), uint8(3), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, jobs, servers, gpus uint8) {
		rng := rand.New(rand.NewPCG(seed, 5))
		in := instance(1+int(servers)%4, 1+int(gpus)%8)
		for range 1 + int(jobs)%50 {
			in.Jobs = append(in.Jobs, job(sched.Time(rng.Int64N(1e12)), 1+rng.IntN(in.Cluster.GPUs()), 1+int64(rng.ExpFloat64()*1e9), rng.ExpFloat64()+1e-9))
		}
		order := make([]int, len(in.Jobs))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(in.Jobs[a].Release, in.Jobs[b].Release) })
		completion := make([]sched.Time, len(in.Jobs))
		var now sched.Time
		for _, i := range order {
			now = max(now, in.Jobs[i].Release) + sched.Time(in.Jobs[i].Iters)
			completion[i] = now
		}
		for _, obj := range sched.Objectives() {
			if obj.Maximised() {
				continue
			}
			all, err := All(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			cost := obj.Cost(in, completion)
			for _, b := range all {
				if b.Value.Sign() < 0 || b.Value.Cmp(cost) > 0 {
					t.Errorf("%s = %v for %v, while one by one costs %v", b.Name, b.Value, obj, cost)
				}
			}
		}
	})
}

func trace(n int) *sched.Instance {
	rng := rand.New(rand.NewPCG(1, 6))
	in := instance(250, 8)
	for i := range n {
		in.Jobs = append(in.Jobs, job(sched.Time(i)*sched.Second, 1<<rng.IntN(6), 1+int64(rng.ExpFloat64()*4e9), rng.Float64()+0.01))
	}
	return in
}

// BenchmarkMillion: both bounds of a million jobs are to take less than three
// seconds together.
func BenchmarkMillion(b *testing.B) {
	in := trace(1_000_000)
	for b.Loop() {
		for _, f := range []func(*sched.Instance, sched.Objective) (Bound, error){SRPT, MeanBusyTime} {
			if _, err := f(in, sched.TotalJCT); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkBounds(b *testing.B) {
	in := trace(100_000)
	for _, m := range []struct {
		name string
		f    func(*sched.Instance, sched.Objective) (Bound, error)
		obj  sched.Objective
	}{
		{"lb0", LB0, sched.TotalJCT}, {"srpt", SRPT, sched.TotalJCT}, {"ranked", Ranked, sched.TotalJCT},
		{"mean-busy-time", MeanBusyTime, sched.TotalJCT}, {"mean-busy-time weighted", MeanBusyTime, sched.WeightedCompletion}, {"area", Area, sched.Makespan},
	} {
		b.Run(m.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := m.f(in, m.obj); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
