package errata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/formulate/maxweight/mincost"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual"
	"yardstick/sched"
)

// The primal-dual paper's subroutines as they are printed, and what their numbers
// of steps depend on.

// placed counts the workers that an algorithm's answer places.
func placed(c *pricing.Choice) *big.Rat {
	n := int64(0)
	for _, y := range c.Workers {
		n += int64(y)
	}
	return big.NewRat(n, 1)
}

// unitPrices has every unit of the first resource cost 1.
func unitPrices(in *sched.Instance) (*pricing.Prices, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	return pricing.NewPrices(in, 1, 0, []int64{1, 0, 1, 0})
}

func staleCounter() Erratum {
	return Erratum{
		Name: "stale-counter", Paper: primalDualPaper, Where: "Algorithm 4, line 6; Theorem 1, Section 5.3",
		Claim:      "Algorithm 4 yields an optimal solution of problem (13), in which all workers are placed.",
		Finding:    "The number of workers still to be placed is set once, counted down, and not set again for the next server that may host the parameter servers. Two workers and two servers of 2 and 3 units at price 1: the second round has nothing left to place, \"finds\" a schedule of no workers and two parameter servers at cost 2 and prefers it. The optimum costs 3.",
		Correction: "Set the counter anew for every host and window. The algorithm is then still not optimal: see \"cheapest-first\".",
		run: func(context.Context) (*Evidence, error) {
			in := containers(2, 1)
			prices, err := unitPrices(in)
			if err != nil {
				return nil, err
			}
			q := mincost.Query{In: in, Tau: 1, Prices: prices}
			printed, ok := mincost.MinCost1(q, mincost.Printed)
			if !ok {
				return nil, errors.New("the algorithm finds nothing")
			}
			best, ok := pricing.New(in).Market(prices, nil).Cheapest(pricing.Query{Latest: 1})
			if !ok {
				return nil, errors.New("there is no schedule")
			}
			return &Evidence{Instance: in, Facts: []Fact{
				{"workers that the schedule needs", "", big.NewRat(int64(printed.ElasticConfig.Workers), 1), big.NewRat(2, 1)},
				{"workers that Algorithm 4 places", "", placed(&printed), new(big.Rat)},
				{"its cost", "", big.NewRat(printed.Cost, 1), big.NewRat(2, 1)},
				{"the least cost", "", big.NewRat(best.Cost, 1), big.NewRat(3, 1)},
			}}, nil
		},
	}
}

// ringCounter: two workers take one slot, one takes two, and there is one slot.
func ringCounter() Erratum {
	return Erratum{
		Name: "ring-counter", Paper: primalDualPaper, Where: "Algorithm 7, line 5; Theorem 6, Section 6.4",
		Claim:      "Algorithm 7 yields an optimal solution of problem (16) where a ring is on several servers.",
		Finding:    "The number of workers still to be placed starts from the number of slots, not of workers. A ring of two workers for one slot: one worker is placed, at cost 1. The optimum costs 2.",
		Correction: "Start from the number of workers, for every window. Then the theorem holds: the cheapest servers first is exact for rings.",
		run: func(context.Context) (*Evidence, error) {
			in := containers(2, 1)
			in.Name = "ring-counter"
			in.Jobs[0].Elastic.Ring = true
			prices, err := unitPrices(in)
			if err != nil {
				return nil, err
			}
			q := mincost.Query{In: in, Tau: 1, Prices: prices}
			printed, ok := mincost.RingMinCost2(q, mincost.Printed)
			reset, okReset := mincost.RingMinCost2(q, mincost.Reset)
			best, okBest := pricing.New(in).Market(prices, nil).Cheapest(pricing.Query{Latest: 1})
			if !ok || !okReset || !okBest {
				return nil, errors.New("no schedule is found")
			}
			e := &Evidence{Instance: in, Facts: []Fact{
				{"workers that the schedule needs", "", big.NewRat(int64(printed.ElasticConfig.Workers), 1), big.NewRat(2, 1)},
				{"workers that Algorithm 7 places", "", placed(&printed), big.NewRat(1, 1)},
				{"workers that it places once repaired", "", placed(&reset), big.NewRat(2, 1)},
				{"the cost that it then finds", "", big.NewRat(reset.Cost, 1), big.NewRat(best.Cost, 1)},
				{"the least cost", "", big.NewRat(best.Cost, 1), big.NewRat(2, 1)},
			}}
			e.Results = []theorems.Result{theorems.Pricing1(theorems.Pricing{Ring: true, Returned: big.NewRat(reset.Cost, 1), Optimum: big.NewRat(best.Cost, 1)})}
			e.Expected = []Expectation{{theorems.PrimalDualTheorem6, theorems.Printed, theorems.Holds}}
			return e, nil
		},
	}
}

func pseudoPolynomial() Erratum {
	return Erratum{
		Name: "pseudo-polynomial", Paper: primalDualPaper, Where: "Theorem 4, Section 5.4; Theorem 8, Section 6.4",
		Claim:      "A_online runs in polynomial time, O(log w(J)·J·M·P·T²·log T·(H log H + H²)).",
		Finding:    "T is a number in the input, not the size of a part of it. One job, one server and two resources: with T = 4,096 in place of 1,024 the instance is two characters longer, and A_maxweight keeps 8,192 prices in place of 2,048.",
		Correction: "The time is pseudo-polynomial: polynomial in T and in the numbers of workers D_j, not in their lengths.",
		run: func(context.Context) (*Evidence, error) {
			e := &Evidence{}
			var length int64 // of the first
			for _, c := range []struct{ slots, prices, longer int64 }{{1024, 2048, 0}, {4096, 8192, 2}} {
				in := market("pseudo-polynomial", 2, 2, []demand{{1, 1, 1}}, 1)
				in.Deadline = sched.Time(c.slots) * in.Slot
				if err := in.Validate(); err != nil {
					return nil, err
				}
				text, err := json.Marshal(in)
				if err != nil {
					return nil, err
				}
				o := primaldual.Greedy{}.Outcome(primaldual.Problem{Model: pricing.New(in), Jobs: []sched.JobID{0}, Horizon: c.slots})
				if length == 0 {
					length = int64(len(text))
				}
				e.Instance = in
				e.Facts = append(e.Facts,
					Fact{fmt.Sprintf("length of the instance with T = %d", c.slots), "bytes", big.NewRat(int64(len(text)), 1), big.NewRat(length+c.longer, 1)},
					Fact{"prices that A_maxweight keeps", "", big.NewRat(int64(len(o.Delta)), 1), big.NewRat(c.prices, 1)})
			}
			return e, nil
		},
	}
}
