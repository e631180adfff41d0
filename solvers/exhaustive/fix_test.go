package exhaustive

import (
	"math/rand/v2"
	"testing"

	"yardstick/bounds"
	"yardstick/internal/number"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
)

// TestFixedStarts has the tree prove optima with starts fixed by reduced costs, from the
// worst incumbent and from the optimum, and compares with enumeration. Fixing leaves
// nodes out, and never the only optimum.
func TestFixedStarts(t *testing.T) {
	with, without := 0, 0
	for seed := range uint64(tier.Draws(100, 1500)) {
		rng := rand.New(rand.NewPCG(seed, 31))
		in := randomInstance(rng, 2+rng.IntN(3))
		for _, obj := range pick2(rng) {
			if !obj.IsTotal() {
				continue
			}
			_, want := schedtest.BruteForce(in, obj)
			d, err := bounds.Knapsack(t.Context(), in, obj, bounds.KnapsackOptions{Slots: 1 + rng.IntN(40), Iterations: 1 + rng.IntN(60), Upper: want})
			if err != nil {
				t.Fatal(err)
			}
			for _, prices := range []*bounds.JobPrices{nil, d.Prices} {
				p, err := newProblem(in, obj)
				if err != nil {
					t.Fatal(err)
				}
				s := newSearch(t.Context(), p, exact.Limits{})
				s.prices = prices
				s.improve(oneByOne(p))
				if err := s.run(number.Uint128{}); err != nil {
					t.Fatal(err)
				}
				if s.best.cost.Cmp(want) != 0 || s.unscale(s.lower).Cmp(want) > 0 {
					t.Fatalf("seed %d, %v: search finds %v and proves %v, enumeration %v\n%+v", seed, obj, s.best.cost, s.unscale(s.lower), want, in)
				}
				if prices == nil {
					without += s.nodes
				} else {
					with += s.nodes
				}
			}
		}
	}
	if with >= without {
		t.Errorf("%d nodes with fixed starts, %d without", with, without)
	}
	t.Logf("%d nodes with fixed starts, %d without", with, without)
}

// TestPricedRoots: instances of enough jobs for prices at the root; the search with
// them and one without prove the same optimum.
func TestPricedRoots(t *testing.T) {
	for seed := range uint64(tier.Draws(3, 20)) {
		rng := rand.New(rand.NewPCG(seed, 32))
		in := schedtest.Gang(rng, schedtest.Shape{Jobs: fewestPriced, Servers: 2, GPUs: 4, Uniform: true, Stages: 1, Weights: true})
		for _, obj := range []sched.Objective{sched.TotalJCT, sched.WeightedCompletion} {
			r := mustSolve(t, in, obj, exact.Limits{Nodes: 2_000_000})
			p, err := newProblem(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			s := newSearch(t.Context(), p, exact.Limits{Nodes: 2_000_000})
			s.improve(firstIncumbent(p))
			if err := s.run(number.Uint128{}); err != nil {
				t.Fatal(err)
			}
			if r.Optimal() && s.stopped == "" && r.Cost.Cmp(s.best.cost) != 0 {
				t.Errorf("seed %d, %v: with prices %v, without %v", seed, obj, r.Cost, s.best.cost)
			}
			t.Logf("seed %d, %v: %d nodes with prices, %d without", seed, obj, r.Nodes, s.nodes)
		}
	}
}
