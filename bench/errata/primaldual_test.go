package errata_test

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/bench/errata"
	"yardstick/bounds/theorems"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/primaldual/mincost"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestPrimalDualTheorems: on small instances with known optima Lemma 1 holds for
// every certified run, and what is printed is never contradicted.
func TestPrimalDualTheorems(t *testing.T) {
	held := 0
	schedtest.EachSeed(t, 40, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 4, Servers: 2, Resources: 2, WorkerTypes: 1, ServerTypes: 1, Workers: 3, Capacity: 4, Slots: 4,
			Rings: true, Weights: true, Releases: 40 * sched.Second})
		_, optimum := schedtest.ElasticOptimum(in, sched.WeightedCompletion, schedtest.UndominatedChoices)
		known := theorems.Interval{Lower: optimum, Upper: optimum}
		for _, o := range []primaldual.Options{{}, {Shift: true, MaxWeight: primaldual.Greedy{Pricing: primaldual.Normalised, Fill: true}},
			{Form: primaldual.Literal, Alpha: 3}} {
			p := primaldual.New(o)
			run, err := sim.Run(context.Background(), in, p, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var lambda *big.Rat
			if o.Form == primaldual.Literal {
				lambda = big.NewRat(1000, 1)
			}
			alpha, kept := p.Alpha()
			results := errata.PrimalDualTheorems(schedtest.Verify(t, in, run.Schedule), alpha, kept, lambda, known)
			if x, ok := theorems.PrimalDualHeadline(results); ok != kept || ok && x.Bound.Cmp(big.NewRat(int64(4*alpha), 1)) != 0 {
				t.Errorf("headline %+v, promises kept: %v", x, kept)
			}
			for _, x := range results {
				if x.Contradiction() {
					t.Errorf("%s %s: %v > %v", x.Statement, x.Form, x.Left, x.Right)
				}
				if x.Statement == theorems.PrimalDualLemma1 && x.Verdict == theorems.Holds && x.Met() {
					held++
				}
				if x.Statement == theorems.PrimalDualTheorem5 && (lambda == nil) != (x.Verdict == theorems.NotApplicable) {
					t.Errorf("%s: %s", x.Statement, x.Verdict)
				}
			}
		}
	})
	if held < 80 {
		t.Errorf("Lemma 1 held only %d times", held)
	}
}

// TestRingPricing: Theorem 6 holds once line 5 of Algorithm 7 is repaired.
func TestRingPricing(t *testing.T) {
	violated := 0
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 1, Servers: 1 + r.IntN(3), Resources: 1 + r.IntN(2), WorkerTypes: 2, Workers: 4, Capacity: 5, Slots: 5})
		const tau = 6
		delta := make([]float64, len(in.Cluster.Servers)*len(in.Elastic.Resources)*tau)
		for i := range delta {
			delta[i] = r.Float64()
		}
		prices := pricing.Round(in, tau, delta, 0)
		best, ok := pricing.New(in).Market(prices, nil).Cheapest(pricing.Query{Latest: tau})
		for _, v := range []mincost.Variant{mincost.Printed, mincost.Reset} {
			p := theorems.Pricing{Ring: true}
			if ok {
				p.Optimum = big.NewRat(best.Cost, 1)
			}
			q := mincost.Query{In: in, Tau: tau, Prices: prices}
			one, okOne := mincost.RingMinCost1(q)
			several, okSeveral := mincost.RingMinCost2(q, v)
			if okOne {
				p.Returned = big.NewRat(one.Cost, 1)
			}
			if okSeveral && (p.Returned == nil || several.Cost < one.Cost) && workers(several) == several.ElasticConfig.Workers {
				p.Returned = big.NewRat(several.Cost, 1)
			}
			x := theorems.Pricing1(p)
			if x.Verdict == theorems.Violated && v == mincost.Printed {
				violated++
			} else if x.Verdict != theorems.Holds {
				t.Errorf("%v: %v against %v", v, x.Left, x.Right)
			}
		}
	})
	if violated == 0 {
		t.Error("as printed, never violated")
	}
}

func workers(c pricing.Choice) (n int) {
	for _, y := range c.Workers {
		n += y
	}
	return n
}
