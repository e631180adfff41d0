package errata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/primaldual/mincost"
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
		Name: "stale-counter",
		Passage: Passage{primalDualPaper, "Algorithm 4, line 6; Theorem 1, Section 5.3",
			"Algorithm 4 and Algorithm 5 yield an optimal solution of problem (13) in two scenarios, respectively."},
		Scope:      pricingScope(),
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
			clauses, err := pricingClauses(in, &pricing.Choice{ElasticConfig: printed.ElasticConfig, Workers: []int{1, 1}, Host: 1, Servers: 1})
			if err != nil {
				return nil, err
			}
			return &Evidence{Instance: in, Scope: clauses, Facts: []Fact{
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
		Name: "ring-counter",
		Passage: Passage{primalDualPaper, "Algorithm 7, line 5; Theorem 6, Section 6.4",
			"Algorithm 6 and Algorithm 7 producess optimal solution of problem (16) in two cases, respectively."},
		Scope:      []string{"a ring of at most D_j workers with the least number of slots, Eqs. (21b), (21c)", "no server overdrawn"},
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
			place := in.ElasticPlacement(0, 0, []int{1, 1}, nil)
			c, err := in.ReadElastic(0, &place)
			if err != nil {
				return nil, err
			}
			e := &Evidence{Instance: in, Scope: []Clause{
				{"a ring of at most D_j workers with the least number of slots, Eqs. (21b), (21c)", in.Jobs[0].Elastic.Ring && c.Workers == in.Jobs[0].Elastic.MaxWorkers && c.Slots == 1},
				{"no server overdrawn", fits(in, []int{1, 1}, 0, 0)}}, Facts: []Fact{
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

func pseudoPolynomial() Remark {
	return Remark{
		Name: "pseudo-polynomial",
		Passage: Passage{primalDualPaper, "Theorem 4, Section 5.3; Theorem 8, Section 6.4",
			"A_online in Algorithm 1 runs in polynomial time, with time complexity O((log w(J))JMPT^2 log T(H log H + H^2))."},
		Finding: "One job, one server and two resources: with T = 4,096 in place of 1,024 the instance is two characters longer, and A_maxweight keeps 8,192 prices in place of 2,048.",
		True:    "Polynomial in the numbers T and D_j, which enter the input by their digits: pseudo-polynomial.",
		run: func(context.Context) (*Evidence, error) {
			e := &Evidence{}
			var length int64 // of the first
			for _, c := range []struct{ slots, prices, longer int64 }{{1024, 2048, 0}, {4096, 8192, 2}} {
				in := market("pseudo-polynomial", 2, 2, []demand{{a: 1, b: 2, weight: 1}}, 1)
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
