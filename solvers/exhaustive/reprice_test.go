package exhaustive

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/bounds"
	"yardstick/internal/number"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
)

// randomPacked draws a few jobs, slots and prices.
func randomPacked(rng *rand.Rand) *packed[int64] {
	p := &packed[int64]{}
	grid, free := []int64{0}, []int(nil)
	for k := range 1 + rng.IntN(5) {
		grid = append(grid, grid[k]+1+rng.Int64N(5))
		free = append(free, rng.IntN(6))
	}
	p.on(grid, free)
	for range 1 + rng.IntN(5) {
		p.add(payer[int64]{from: rng.Int64N(20), length: 1 + rng.Int64N(8), weight: 1 + rng.Int64N(4), gang: 1 + rng.IntN(5)})
		for range p.slots() {
			p.price = append(p.price, max(0, rng.Int64N(12)-4))
		}
	}
	p.sort()
	return p
}

// term is what a job costs that starts then, second by second.
func (p *packed[T]) term(q int, start T) T {
	j := &p.jobs[q]
	v := j.weight * (start + j.length)
	for t := start; t < start+j.length; t++ {
		if k := p.slot(t); k < p.slots() {
			v += p.price[q*p.slots()+k]
		}
	}
	return v
}

// TestPackedByEnumeration compares with all starts of each job and all sets of jobs in
// each slot, in integers and in floating point, and the subgradient with differences.
func TestPackedByEnumeration(t *testing.T) {
	for seed := range uint64(tier.Draws(500, 20_000)) {
		rng := rand.New(rand.NewPCG(seed, 51))
		p := randomPacked(rng)
		want, slots := int64(0), p.slots()
		for q := range p.jobs {
			least := p.term(q, p.jobs[q].from)
			for at := p.jobs[q].from; at < 60; at++ {
				least = min(least, p.term(q, at))
			}
			want += least
		}
		for k := range slots {
			most := int64(0)
			for set := range 1 << len(p.jobs) {
				gpus, v := 0, int64(0)
				for q := range p.jobs {
					if set>>q&1 == 1 {
						gpus, v = gpus+p.jobs[q].gang, v+p.price[q*slots+k]
					}
				}
				if gpus <= p.capacity[k] {
					most = max(most, v)
				}
			}
			want -= most * p.width(k)
		}
		if got := p.value(false); got != want {
			t.Fatalf("seed %d: %d, enumeration %d\n%+v", seed, got, want, p)
		}
		f := &packed[float64]{}
		var grid []float64
		for _, at := range p.grid {
			grid = append(grid, float64(at))
		}
		f.on(grid, p.capacity)
		for q, j := range p.jobs {
			f.add(payer[float64]{from: float64(j.from), length: float64(j.length), weight: float64(j.weight), gang: j.gang})
			for k := range slots {
				f.price = append(f.price, float64(p.price[q*slots+k]))
			}
		}
		f.sort()
		if got := f.value(true); got != float64(want) {
			t.Fatalf("seed %d: %v in floating point, not %d", seed, got, want)
		}
		// The value is concave: no other prices prove more than the subgradient promises.
		promised := float64(want)
		held := append([]float64(nil), f.held...)
		for x := range f.price {
			next := max(0, f.price[x]+float64(rng.IntN(5)-2))
			promised += held[x] * f.width(x%slots) * (next - f.price[x])
			f.price[x] = next
		}
		if got := f.value(false); got > promised+1e-6 {
			t.Fatalf("seed %d: %v, and the subgradient allows %v", seed, got, promised)
		}
	}
}

// TestExcessByEnumeration: what a start is said to exceed the least term by is no more
// than it does, and nothing at the best one; starts that it leaves out exceed it by more
// than is spare.
func TestExcessByEnumeration(t *testing.T) {
	for seed := range uint64(tier.Draws(500, 20_000)) {
		rng := rand.New(rand.NewPCG(seed, 52))
		p := randomPacked(rng)
		spare, shift, now := 1+rng.Int64N(60), rng.IntN(3), rng.Int64N(9)
		for q := range p.jobs {
			x := p.excess(q, spare, now, shift)
			least, _ := p.choose(q, nil)
			best := int64(never)
			for at := p.jobs[q].from; at < 200; at++ {
				over := p.term(q, at) - least
				cost, _, ok := x.of(at + now)
				if from, any := x.from(at + now); ok != any || ok && from > cost {
					t.Fatalf("seed %d, job %d: %d, %v at %d, but %d, %v from then on", seed, q, cost, ok, at, from, any)
				}
				switch {
				case ok && cost > over>>shift:
					t.Fatalf("seed %d, job %d: a start at %d exceeds by %d, not %d\n%+v", seed, q, at, over>>shift, cost, p)
				case !ok && over < spare:
					t.Fatalf("seed %d, job %d: no start at %d, which exceeds by %d of %d\n%+v", seed, q, at, over, spare, p)
				case ok:
					best = min(best, cost)
				}
			}
			if best > 0 {
				t.Fatalf("seed %d, job %d: every start exceeds by %d", seed, q, best)
			}
		}
	}
}

// eager searches with a climb at every node.
func eager(t *testing.T, in *sched.Instance, obj sched.Objective, prices *bounds.JobPrices, l exact.Limits) *search {
	t.Helper()
	p, err := newProblem(in, obj)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(t.Context(), p, l)
	s.prices, s.worthClimbing, s.fewestClimbed = prices, 0, 1
	s.improve(oneByOne(p))
	if err := s.run(number.Uint128{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestClimbedTrees has trees with a climb at every node prove optima from the worst
// incumbent, and compares with enumeration: running times that depend on the placement,
// weights, uneven servers. Cut short, their bound is none above the optimum.
func TestClimbedTrees(t *testing.T) {
	climbs, nodes, plain := 0, 0, 0
	for seed := range uint64(tier.Draws(150, 1500)) {
		rng := rand.New(rand.NewPCG(seed, 53))
		in := randomInstance(rng, 2+rng.IntN(3))
		for _, obj := range pick2(rng) {
			if !obj.IsTotal() {
				continue
			}
			_, want := schedtest.BruteForce(in, obj)
			d, err := bounds.Knapsack(t.Context(), in, obj, bounds.KnapsackOptions{Slots: 1 + rng.IntN(20), Iterations: 1 + rng.IntN(10)})
			if err != nil {
				t.Fatal(err)
			}
			s := eager(t, in, obj, d.Prices, exact.Limits{})
			if s.best.cost.Cmp(want) != 0 || s.unscale(s.lower).Cmp(want) > 0 {
				t.Fatalf("seed %d, %v: search finds %v and proves %v, enumeration %v\n%+v", seed, obj, s.best.cost, s.unscale(s.lower), want, in)
			}
			climbs, nodes = climbs+s.climbs, nodes+s.nodes
			if s.nodes > 2 {
				cut := eager(t, in, obj, d.Prices, exact.Limits{Nodes: 1 + rng.IntN(s.nodes)})
				if cut.unscale(cut.lower).Cmp(want) > 0 {
					t.Fatalf("seed %d, %v: %v proven after %d nodes, the optimum is %v\n%+v", seed, obj, cut.unscale(cut.lower), cut.nodes, want, in)
				}
			}
			without, _ := searchFrom(t, in, obj)
			plain += without.nodes
		}
	}
	if climbs == 0 || nodes >= plain {
		t.Errorf("%d climbs, %d nodes, %d without", climbs, nodes, plain)
	}
	t.Logf("%d climbs, %d nodes, %d without", climbs, nodes, plain)
}

// TestClimbedTreesOfMoreJobs compares with the tree that knows no prices, on instances in
// which jobs run beside others and wait, and times that leave few bits or none.
func TestClimbedTreesOfMoreJobs(t *testing.T) {
	climbs := 0
	for seed := range uint64(tier.Draws(6, 60)) {
		rng := rand.New(rand.NewPCG(seed, 54))
		in := schedtest.Gang(rng, schedtest.Shape{Jobs: 8 + rng.IntN(3), Servers: 2, GPUs: 4, Uniform: true, Stages: 1, Weights: seed%2 == 0})
		obj := []sched.Objective{sched.TotalJCT, sched.WeightedCompletion}[seed%2]
		_, want := searchFrom(t, in, obj)
		for _, scale := range []int64{1, 1 << 10, 1 << 20} {
			scaled := *in
			scaled.Jobs = nil
			for _, j := range in.Jobs {
				j.Release *= sched.Time(scale)
				j.Iters *= scale
				scaled.Jobs = append(scaled.Jobs, j)
			}
			p, err := newProblem(&scaled, obj)
			if err != nil || p.jobs[0].short%scale != 0 {
				continue // beyond the search's range, or a load that is not scaled
			}
			d, err := bounds.Knapsack(t.Context(), &scaled, obj, bounds.KnapsackOptions{Slots: 32, Iterations: 50})
			if err != nil {
				t.Fatal(err)
			}
			s := eager(t, &scaled, obj, d.Prices, exact.Limits{})
			if factor := big.NewRat(scale, 1); s.best.cost.Cmp(factor.Mul(factor, want)) != 0 || s.unscale(s.lower).Cmp(s.best.cost) < 0 {
				t.Errorf("seed %d, times %d: %v and %v proven, without prices %v", seed, scale, s.best.cost, s.unscale(s.lower), want)
			}
			climbs += s.climbs
		}
	}
	if climbs == 0 {
		t.Error("no climb")
	}
	t.Logf("%d climbs", climbs)
}
