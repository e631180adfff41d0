package errata

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/sched"
)

// Statements that are false as they are printed.

// SlowIntra returns an instance that Validate refuses: two replicas of 100 MB
// on one server whose GPUs are joined by less than 1/g of its network card.
func SlowIntra() *sched.Instance {
	return &sched.Instance{Name: "slow-intra", Model: sched.ModelGang, Cluster: sched.Uniform(1, 2, 1_250_000_000, 100_000_000),
		Jobs: []sched.Job{{Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 2, Compute: 1e8, Params: 1e8}}}}}
}

func slowIntra() Erratum {
	return Erratum{
		Name: "slow-intra", Paper: asrptPaper, Where: "Lemma 1",
		Claim:      "OPT_A1 ≤ rho·OPT_A, where alpha_max is the time with every replica on a server of its own.",
		Finding:    "Two replicas, g = 2, B_intra = 0.1 GB/s, B_inter = 1.25 GB/s: the \"maximum\" is 0.26 s, the minimum 1.1 s, rho = 13/55 and OPT_A1 = OPT_A.",
		Correction: "Assume g·B_intra ≥ B_inter, under which full spread is slowest; B_intra ≥ B_inter, which is always so in practice, is required here.",
		run:        runSlowIntra,
	}
}

func runSlowIntra(context.Context) (*Evidence, error) {
	in := SlowIntra()
	if in.Validate() == nil {
		return nil, errors.New("the instance is not refused")
	}
	together, err := in.IterTime(0, &sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 2}}})
	if err != nil {
		return nil, err
	}
	apart := in.StageTime(0, 0, 0, 1, 0, 2)
	micro := big.NewRat(int64(sched.Second), 1)
	least, spread := new(big.Rat).Mul(together, micro), new(big.Rat).Mul(apart, micro)
	run := theorems.Case{GPUs: 2, Tau: new(big.Rat), Optimum: theorems.Interval{Lower: least, Upper: least},
		Jobs: []theorems.Job{{Gang: 2, Iters: 1, Predicted: 1, AlphaMin: least, AlphaTilde: least, AlphaMax: spread, Start: 1_100_000, Completion: 2_200_000}}}
	s, err := run.Symbols()
	if err != nil {
		return nil, err
	}
	return &Evidence{
		Facts: []Fact{
			{"alpha with every replica on its own server", "s", apart, big.NewRat(13, 50)},
			{"alpha on one server, the only placement", "s", together, big.NewRat(11, 10)},
			{"rho", "", s.Rho, big.NewRat(13, 55)},
			{"OPT_A1", "µs", s.OptA1, big.NewRat(1_100_000, 1)},
		},
		Results:  []theorems.Result{theorems.PrintedLemma1(s), theorems.SharpLemma1(s)},
		Expected: []Expectation{{theorems.Lemma1, theorems.Printed, theorems.Violated}, {theorems.Lemma1, theorems.Sharp, theorems.Holds}},
	}, nil
}

// Alternating returns 2·pairs tiny jobs on four GPUs in slots of a second,
// released at 1 s, of 3 and 2 GPUs in turn and of equal virtual sizes of 1.5 µs,
// and a good schedule: the jobs of 2 GPUs first, two per slot, then the others.
//
// A-SRPT sees all virtual completions at 2 s and starts one job per slot, since
// 3 and 2 do not fit together.
func Alternating(pairs int) (*sched.Instance, *sched.Schedule, error) {
	in := oneServer("alternating", 4)
	in.Slot = sched.Second
	var starts []sched.Time
	for i := range pairs {
		in.Jobs = append(in.Jobs, flat(sched.Second, 3, 2), flat(sched.Second, 2, 3))
		starts = append(starts, sched.Second*sched.Time(1+pairs/2+i), sched.Second*sched.Time(1+i/2))
	}
	s, err := startAt(in, starts...)
	return in, s, err
}

func slottedLemma2() Erratum {
	return Erratum{
		Name: "slotted-lemma-2", Paper: asrptPaper, Where: "Lemma 2, Section III",
		Claim:      "Gamma ≤ (1 + tau + rho·G/(G−g_max))·OPT_Ã1 + I·g_max·alpha_max·eps/(G−g_max) + rho·OPT_A, where jobs start in time slots.",
		Finding:    "Tiny jobs of 3 and 2 GPUs in turn on 4: in slots, 860 > 720 with 40 jobs and 13,040 > 8,880 with 160. A slot passes per job, but the right side only knows how long jobs run.",
		Correction: "The lemma holds in continuous time. In slots, running times must be counted in whole slots, and the start too.",
		run: func(ctx context.Context) (*Evidence, error) {
			few, err := runAlternating(ctx, 20, 860, 720)
			if err != nil {
				return nil, err
			}
			many, err := runAlternating(ctx, 80, 13_040, 8880)
			if err != nil {
				return nil, err
			}
			return join(few, many), nil
		},
	}
}

// runAlternating compares with whole numbers of slots: what is left over are the
// running times, of which there are pairs·(2 + 3) µs on the left, and on the right
// as much, five times the virtual sizes and half a microsecond for the rounding of
// every other virtual completion.
func runAlternating(ctx context.Context, pairs int, left, right int64) (*Evidence, error) {
	in, better, err := Alternating(pairs)
	if err != nil {
		return nil, err
	}
	e, err := measure(ctx, in, exactly(), nil, better)
	if err != nil {
		return nil, err
	}
	n := int64(2 * pairs)
	running := big.NewRat(5*int64(pairs), 1)
	virtual := big.NewRat(3*n*(n+1), 4) // Σ 1.5·k µs
	second := big.NewRat(int64(sched.Second), 1)
	gamma := new(big.Rat).Mul(big.NewRat(left, 1), second)
	bound := new(big.Rat).Mul(big.NewRat(right, 1), second)
	bound.Add(bound, running).Add(bound, new(big.Rat).Mul(big.NewRat(5, 1), virtual)).Add(bound, big.NewRat(int64(pairs), 2))
	r, _ := e.Result(theorems.Lemma2, theorems.Printed)
	// rho is 1: the bound on OPT_A that the right side has is replaced.
	atUpper := new(big.Rat).Sub(r.Right, e.lower)
	atUpper.Add(atUpper, e.Better.Cost(sched.TotalCompletion))
	e.Facts = []Fact{
		{fmt.Sprintf("Gamma, %d jobs", n), "µs", r.Left, gamma.Add(gamma, running)},
		{"the right side, with another schedule's cost for OPT_A", "µs", atUpper, bound},
	}
	e.Expected = []Expectation{{theorems.Lemma2, theorems.Printed, theorems.Violated}}
	return e, nil
}

// slottedTheorem1: virtual sizes are 0.025 s, so all virtual completions are seen
// at 1 s, where the optimum has long been done.
func slottedTheorem1() Erratum {
	return Erratum{
		Name: "slotted-theorem-1", Paper: asrptPaper, Where: "Theorem 1, Section III",
		Claim:      "Gamma ≤ (2 + tau + rho·G/(G−g_max))·rho·OPT_A with exact predictions, where jobs start in time slots.",
		Finding:    "Four jobs of one GPU and a tenth of a slot on four GPUs, released at 0: the ratio is 11, the bound 10/3.",
		Correction: "The theorem holds in continuous time. In slots, jobs must last for slots.",
		run: func(ctx context.Context) (*Evidence, error) {
			tenth := sched.Second / 10
			in := oneServer("slotted", 4, flat(0, 1, tenth), flat(0, 1, tenth), flat(0, 1, tenth), flat(0, 1, tenth))
			in.Slot = sched.Second
			best, err := startAt(in, 0, 0, 0, 0)
			if err != nil {
				return nil, err
			}
			e, err := measure(ctx, in, exactly(), nil, best)
			if err != nil {
				return nil, err
			}
			r, _ := e.Result(theorems.Theorem1, theorems.Printed)
			e.Facts = []Fact{{What: "ratio", Got: e.ratio(), Want: big.NewRat(11, 1)}, {What: "bound", Got: r.Bound, Want: big.NewRat(10, 3)}}
			e.Expected = []Expectation{{theorems.Theorem1, theorems.Printed, theorems.Violated}}
			return e, nil
		},
	}
}
