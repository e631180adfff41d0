package errata

import (
	"context"
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/internal/number"
)

// Theorems 2 and 3 of the primal-dual paper: A_maxweight on one server, one slot to
// start in and two resources, where T = 2, F = 1, λ = 2THRF + 1 = 9 and 2·log2 λ = 6.34,
// and demands of at most 0.31 of the capacity are small.

// baitsFirst returns four jobs that take a fourth of resource a each and little
// else, then four as greedy for a that take the given amount of b, and are worth
// it; and the schedule of the latter.
func baitsFirst(amount int64) (*Evidence, error) {
	in := market("baits-first", 4, 7*amount+17, []demand{{a: 1, b: 4, weight: 5}, {a: 1, b: amount, weight: float64(1 + amount)}}, 4, 4)
	e, _, err := batch(in, inSlots(in, []int64{-1, -1, -1, -1, 0, 0, 0, 0}))
	return e, err
}

// heaviestFirst returns four jobs that take a fourth of resource a each, then 4K
// of weight one less that take 1/4K, by descending weight, and the schedule of
// the latter.
func heaviestFirst(k int64) (*Evidence, error) {
	kinds := []demand{{a: k, b: 4 * k, weight: float64(5 * k)}, {a: 1, b: 5*k - 2, weight: float64(5*k - 1)}}
	in := market("heaviest-first", 4*k, 1000*k*k, kinds, 4, int(4*k))
	slots := []int64{-1, -1, -1, -1}
	for range 4 * k {
		slots = append(slots, 0)
	}
	e, _, err := batch(in, inSlots(in, slots))
	return e, err
}

func baits() Erratum {
	return Erratum{
		Name: "baits",
		Passage: Passage{primalDualPaper, "Theorem 3, Section 5.3; assumptions in Section 5.1",
			"The approximation ratio of A_maxweight in Algorithm 3 is 2 log λ."},
		Scope:      batchScope(),
		Finding:    "Capacities (4, 717) and T = 2; four jobs that take (1, 4) and weigh 5, then four of (1, 100) and 101: 20 of 404, a ratio of 20.2 where λ = 9 allows 6.34; with 1,000 for 100, 200.2. By descending weight: four jobs of (K, 4K) and 5K, then 4K of (1, 5K−2) and 5K−1, ratio K − 1/5.",
		Correction: "The range of w/Σf does not make a resource that is used up cost more than a weight. With F the largest w/f of any positive f alone, S the largest Σf/w and λ = 2F/mu + 2 it does, and the ratio is (1 + mu·S)·log2 λ.",
		run: func(context.Context) (*Evidence, error) {
			var runs []*Evidence
			for _, c := range []struct{ amount, ratio int64 }{{100, 202}, {1000, 2002}} {
				e, err := baitsFirst(c.amount)
				if err != nil {
					return nil, err
				}
				runs = append(runs, e.misses(fmt.Sprintf("ratio to a schedule of jobs of (1, %d)", c.amount), big.NewRat(c.ratio, 10)))
			}
			for _, k := range []int64{8, 16, 32} {
				e, err := heaviestFirst(k)
				if err != nil {
					return nil, err
				}
				runs = append(runs, e.misses(fmt.Sprintf("ratio by descending weight, K = %d", k), big.NewRat(5*k-1, 5)))
			}
			return join(runs...), nil
		},
	}
}

// misses expects that Theorem 3 is violated, with the given ratio.
func (e *Evidence) misses(what string, ratio *big.Rat) *Evidence {
	e.Facts = append(e.Facts, Fact{What: what, Got: e.lacking(), Want: ratio})
	e.Expected = []Expectation{{theorems.PrimalDualTheorem3, theorems.Printed, theorems.Violated}, {theorems.PrimalDualTheorem2, theorems.PrimalPart, theorems.Holds}}
	return e
}

func refused() Erratum {
	return Erratum{
		Name: "refused",
		Passage: Passage{primalDualPaper, "Theorem 2, Section 5.3; likewise Theorem 7, Section 6.4",
			"A_maxweight in Algorithm 3, with A_mincost2 and A_mincost1, computes a feasible solution to problems (7)(8)(9)."},
		Scope:      batchScope(),
		Finding:    "In the instance of \"baits\" the last jobs are refused because resource a is used up, and u = 0. At the final prices each costs less than 14 and weighs 101, so that (9a) fails.",
		Correction: "The primal part holds, since the subroutines look at what is left. The dual part holds where the prices alone keep jobs from what is used up. A bound is to be had from any prices by pricing in the empty cluster.",
		run: func(context.Context) (*Evidence, error) {
			e, err := baitsFirst(100)
			if err != nil {
				return nil, err
			}
			dual, _ := e.Result(theorems.PrimalDualTheorem2, theorems.DualPart)
			e.Facts = []Fact{
				{What: "weight of a refused job", Got: dual.Left, Want: big.NewRat(101, 1)},
				{What: "u + cost, rounded up", Got: number.Ceil(dual.Right), Want: big.NewRat(14, 1)},
			}
			e.Expected = []Expectation{{theorems.PrimalDualTheorem2, theorems.PrimalPart, theorems.Holds}, {theorems.PrimalDualTheorem2, theorems.DualPart, theorems.Violated}}
			return e, nil
		},
	}
}
