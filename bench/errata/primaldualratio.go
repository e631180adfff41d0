package errata

import (
	"context"
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
)

// Theorems 2 and 3 of the primal-dual paper (7 for rings): A_maxweight on one
// server, one slot and two resources, where F = 1, λ = 2THRF + 1 = 5 and
// 2·log2 λ = 4.64, and demands of at most 0.43 of the capacity are small.

// baitsFirst returns three jobs that take a third of resource a each and little
// else, then three as greedy for a that take the given amount of b, and are worth
// it; and the schedule of the latter.
func baitsFirst(amount int64) (*Evidence, error) {
	in := market("baits-first", 3, 7*amount+17, []demand{{1, 4, 5}, {1, amount, float64(1 + amount)}}, 3, 3)
	e, _, err := batch(in, inSlots(in, []int64{-1, -1, -1, 0, 0, 0}))
	return e, err
}

// heaviestFirst returns three jobs that take a third of resource a each, then 3K
// of weight one less that take 1/3K, by descending weight, and the schedule of
// the latter.
func heaviestFirst(k int64) (*Evidence, error) {
	kinds := []demand{{k, 4 * k, float64(5 * k)}, {1, 5*k - 2, float64(5*k - 1)}}
	in := market("heaviest-first", 3*k, 1000*k*k, kinds, 3, int(3*k))
	slots := []int64{-1, -1, -1}
	for range 3 * k {
		slots = append(slots, 0)
	}
	e, _, err := batch(in, inSlots(in, slots))
	return e, err
}

func baits() Erratum {
	return Erratum{
		Name: "baits", Paper: primalDualPaper, Where: "Theorem 3, Section 5.3",
		Claim:      "A_maxweight schedules at least 1/(2·log λ) of the largest weight, where 1 ≤ w/Σf ≤ F and f/C ≤ 1/log λ.",
		Finding:    "Capacities (3, 717); three jobs of (1, 4) and weight 5, then three of (1, 100) and weight 101: 15 of 303, a ratio of 20.2 where λ = 5 allows 4.64; with 1,000 for 100, 200.2. By descending weight: three jobs of (K, 4K) and weight 5K, then 3K of (1, 5K−2) and weight 5K−1, ratio K − 1/5.",
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
	e.Expected = []Expectation{{theorems.PrimalDualTheorem3, theorems.Printed, theorems.Violated}, {theorems.PrimalDualTheorem7, theorems.PrimalPart, theorems.Holds}}
	return e
}

func refused() Erratum {
	return Erratum{
		Name: "refused", Paper: primalDualPaper, Where: "Theorem 2, Section 5.3; Theorem 7, Section 6.4",
		Claim:      "A_maxweight computes a feasible solution of the dual problem (9).",
		Finding:    "In the instance of \"baits\" the last jobs are refused because resource a is used up, and u = 0. At the final prices each costs less than 7 and weighs 101, so that (9a) fails.",
		Correction: "The primal part holds, since the subroutines look at what is left. The dual part holds where the prices alone keep jobs from what is used up. A bound is to be had from any prices by pricing in the empty cluster.",
		run: func(context.Context) (*Evidence, error) {
			e, err := baitsFirst(100)
			if err != nil {
				return nil, err
			}
			dual, _ := e.Result(theorems.PrimalDualTheorem7, theorems.DualPart)
			e.Facts = []Fact{
				{What: "weight of a refused job", Got: dual.Left, Want: big.NewRat(101, 1)},
				{What: "u + cost, rounded up", Got: new(big.Rat).SetInt(ceilOf(dual.Right)), Want: big.NewRat(7, 1)},
			}
			e.Expected = []Expectation{{theorems.PrimalDualTheorem7, theorems.PrimalPart, theorems.Holds}, {theorems.PrimalDualTheorem7, theorems.DualPart, theorems.Violated}}
			return e, nil
		},
	}
}
