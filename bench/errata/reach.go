package errata

import (
	"context"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/partition"
)

// How far the A-SRPT paper's quantities and its theorem reach.

// unattained: one replica alone on its server, 0.1 + (10/6·100 MB)·4/1.25 GB/s; on
// two servers of four the least part of six is two, with half of its server's
// card, and 3+3 has three quarters.
func unattained() Remark {
	return Remark{
		Name: "unattained-maximum",
		Passage: Passage{asrptPaper, "Section III-B",
			"α^max_i can be computed using Eq. (7) if the job is assigned to g_i servers, with each server holding a single-stage replica"},
		Finding: "With fewer servers than replicas no placement is as slow. Six data-parallel replicas on two servers of four: alpha_max is 0.6333 s, the slowest placement, 4+2, takes 0.3667 s and the fastest 0.2778 s, so that rho is 57/25 in place of 33/25.",
		True:    "With at least g_i servers it is the maximum. The statements hold with fewer, too, with a rho that is too large. The sharp forms take the maximum over the placements that the cluster allows.",
		run: func(context.Context) (*Evidence, error) {
			in := pipeline("unattained-maximum", 2, 4, 6)
			spread, even, slow := big.NewRat(19, 30), big.NewRat(5, 18), big.NewRat(11, 30)
			e, err := alphas{parts: [][]int{{3, 3}, {4, 2}}, want: []*big.Rat{even, slow}, max: spread, least: even}.on(in)
			if err != nil {
				return nil, err
			}
			attained, err := partition.AlphaMax(in, 0)
			if err != nil {
				return nil, err
			}
			least, err := partition.AlphaMin(in, 0)
			if err != nil {
				return nil, err
			}
			paper, err := partition.AlphaSpread(in, 0)
			if err != nil {
				return nil, err
			}
			e.Facts = append(e.Facts, Fact{"alpha of the slowest placement", "s", attained, slow},
				Fact{"rho as printed", "", new(big.Rat).Quo(paper, least.Alpha), big.NewRat(57, 25)},
				Fact{"rho of what can happen", "", new(big.Rat).Quo(attained, least.Alpha), big.NewRat(33, 25)})
			return e, nil
		},
	}
}

// flowTime is the family of "blocker", whose blocker has three GPUs, by job completion
// times: under A-SRPT each of the k tiny jobs waits for it, and in the better
// schedule none does.
func flowTime() Remark {
	return Remark{
		Name: "flow-time",
		Passage: Passage{asrptPaper, "Section III-C; Theorem 1",
			"our goal is to minimize the total DDLwMP job completion in a time horizon of length T, which can be evaluated as Σ_{i∈[I]}(t_i + n_i α_i)"},
		Finding: "G = 4, a blocker of 3 GPUs and 1,000 tiny jobs of 2: the ratio of the sums of C is 2.330, of the sums of C − r 516, where the theorem allows 6.",
		True:    "Theorem 1 is about this sum, with the clock at the first release, and says nothing about C − r: no policy that neither preempts nor knows the future has a constant ratio for C − r: a long job may have been started just before many tiny ones arrive.",
		run: func(ctx context.Context) (*Evidence, error) {
			const gpus, gmax, k = 4, 2, 1000
			in, better, err := Blocker(gpus, gmax, k)
			if err != nil {
				return nil, err
			}
			e, err := measure(ctx, in, exactly(), nil, better)
			if err != nil {
				return nil, err
			}
			t1, _ := e.Result(theorems.Theorem1, theorems.Printed)
			flow := new(big.Rat).Quo(e.Schedule.Cost(sched.TotalJCT), e.Better.Cost(sched.TotalJCT))
			e.Facts = []Fact{
				{What: "ratio of total completion times", Got: e.ratio(), Want: blockerRatio(gpus, gmax, k)},
				{What: "ratio of total job completion times, rounded down", Got: number.Floor(flow), Want: big.NewRat(516, 1)},
				{What: "what Theorem 1 allows, rounded down", Got: number.Floor(t1.Bound), Want: big.NewRat(6, 1)},
			}
			e.Expected = []Expectation{{theorems.Theorem1, theorems.Printed, theorems.Holds}}
			return e, nil
		},
	}
}
