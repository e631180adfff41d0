package errata

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Lemmas 1 and 2 and Theorem 1 of the A-SRPT paper: in time slots, and where a server is
// slower inside than outside.

// SlowIntra returns an instance that Validate refuses: two replicas of 100 MB
// on one server whose GPUs are joined by less than 1/g of its network card.
func SlowIntra() *sched.Instance {
	return &sched.Instance{Name: "slow-intra", Model: sched.ModelGang, Cluster: sched.Uniform(1, 2, 1_250_000_000, 100_000_000),
		Jobs: []sched.Job{{Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 2, Compute: 1e8, Params: 1e8}}}}}
}

func slowIntra() Remark {
	return Remark{
		Name: "slow-intra",
		Passage: Passage{asrptPaper, "Section III-B; Lemma 1",
			"α^max_i can be computed using Eq. (7) if the job is assigned to g_i servers, with each server holding a single-stage replica and assigned a bandwidth of 1/g × B_inter."},
		Finding: "Outside the paper's setting, two replicas, g = 2, B_intra = 0.1 GB/s, B_inter = 1.25 GB/s: so computed the maximum is 0.26 s, and the minimum 1.1 s. Instances here must have B_intra ≥ B_inter.",
		True:    "So it is where g·B_intra ≥ B_inter, and the paper takes B_intra to be one to two orders of magnitude the greater. Lemma 1 is true.",
		run:     runSlowIntra,
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
		Name: "slotted-lemma-2",
		Passage: Passage{asrptPaper, "Lemma 2; Section III; Appendix B",
			"The system works in a time-slotted fashion … with no further delays, we can ensure at least G − g_max GPUs are continuously busy for each job's training"},
		Scope:      slottedScope(),
		Finding:    "Tiny jobs of 3 and 2 GPUs in turn on 4, submitted in slot 1: 860 > 720 slots with 40 jobs and 13,040 > 8,880 with 160. A slot passes per job, but the right side only knows how long jobs run.",
		Correction: "The lemma holds in continuous time. In slots a tiny job keeps its GPUs from others to the end of the slot without working on them.",
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
	e.Scope = slottedClauses(e)
	e.Facts = []Fact{
		{fmt.Sprintf("Gamma, %d jobs", n), "µs", r.Left, gamma.Add(gamma, running)},
		{"the right side, with another schedule's cost for OPT_A", "µs", atUpper, bound},
	}
	e.Expected = []Expectation{{theorems.Lemma2, theorems.Printed, theorems.Violated}}
	return e, nil
}

// Wide returns tiny jobs in slots of a second, all submitted in slot 1 to a server of 64
// GPUs: so many of 33 GPUs that run for 1 µs, whose virtual size is 33/64 µs, and so
// many of one GPU that run for 40 µs, with 40/64 µs; and a good schedule, 64 of the
// latter a slot first. A-SRPT sees all virtual completions at 2 s and starts the former
// one a slot, and then the others.
func Wide(wide, narrow int) (*sched.Instance, *sched.Schedule, error) {
	in := oneServer("wide", 64)
	in.Slot = sched.Second
	var starts []sched.Time
	rounds := (narrow + 63) / 64
	for i := range wide {
		in.Jobs = append(in.Jobs, flat(sched.Second, 33, 1))
		starts = append(starts, sched.Second*sched.Time(1+rounds+i))
	}
	for i := range narrow {
		in.Jobs = append(in.Jobs, flat(sched.Second, 1, 40))
		starts = append(starts, sched.Second*sched.Time(1+i/64))
	}
	s, err := startAt(in, starts...)
	return in, s, err
}

func slottedTheorem1() Erratum {
	return Erratum{
		Name: "slotted-theorem-1",
		Passage: Passage{asrptPaper, "Theorem 1, with ε = 0; Section III",
			"The system works in a time-slotted fashion … Γ_A is no larger than (2 + τ + ρG/(G − g_max))ρ + … times the optimal job completion time OPT_A"},
		Scope:      slottedScope(),
		Finding:    "40 jobs of 33 GPUs and 320 of one on 64, all tiny and submitted in slot 1. The wide ones are a little smaller virtually and go first, one a slot: the total is 14,785 slots, and 1,980 if the others go first. The ratio is above 7.46, the theorem allows 4.065.",
		Correction: "The theorem holds in continuous time.",
		run: func(ctx context.Context) (*Evidence, error) {
			const wide, narrow = 40, 320
			in, best, err := Wide(wide, narrow)
			if err != nil {
				return nil, err
			}
			e, err := measure(ctx, in, exactly(), nil, best)
			if err != nil {
				return nil, err
			}
			e.Scope = slottedClauses(e)
			slots := func(n int64) *big.Rat { // of starts, and what all jobs run for
				return new(big.Rat).Add(microseconds(sched.Time(n)*sched.Second), big.NewRat(wide+40*narrow, 1))
			}
			r, _ := e.Result(theorems.Theorem1, theorems.Printed)
			e.Facts = []Fact{
				{"Gamma", "µs", e.Schedule.Cost(sched.TotalCompletion), slots(14_785)},
				{"total completion time of the better schedule", "µs", e.Better.Cost(sched.TotalCompletion), slots(1980)},
				{"1,000 times what Theorem 1 allows, rounded down", "", number.Floor(new(big.Rat).Mul(r.Bound, big.NewRat(1000, 1))), big.NewRat(4064, 1)},
			}
			e.Expected = []Expectation{{theorems.Theorem1, theorems.Printed, theorems.Violated}}
			return e, nil
		},
	}
}

// slottedScope is what Section III of the A-SRPT paper assumes where Lemma 2 and
// Theorem 1 speak of slots.
func slottedScope() []string {
	return []string{"jobs are submitted and start in slots 1, 2, … (r_i, t_i ∈ [T])", "running times n_i α_i are positive, and need not be whole slots", "G = M·g, g_i ≤ G, and g_max < G", "M alike servers with B_intra ≥ B_inter"}
}

// slottedClauses checks slottedScope on a run.
func slottedClauses(e *Evidence) []Clause {
	in, whole, running, gangs := e.Instance, true, true, true
	inSlot := func(t sched.Time) bool { return t >= in.Slot && t%in.Slot == 0 }
	for _, v := range []*verify.Verified{e.Schedule, e.Better} {
		for i, j := range v.Jobs() {
			whole = whole && inSlot(in.Jobs[i].Release) && inSlot(j.Start)
			running = running && j.Completion > j.Start
			gangs = gangs && in.Jobs[i].Gang() < in.Cluster.GPUs()
		}
	}
	alike := true
	for _, s := range in.Cluster.Servers {
		alike = alike && s.GPUs == in.Cluster.Servers[0].GPUs
	}
	scope := slottedScope()
	return []Clause{{scope[0], in.Slot > 0 && whole}, {scope[1], running}, {scope[2], gangs}, {scope[3], alike && in.Validate() == nil}}
}
