package theorems

import (
	"math/big"

	"yardstick/sched"
)

// This file and primaldualonline.go evaluate the statements of the primal-dual
// paper on runs of its algorithms, from plain numbers. Weights and costs are in
// any unit.
//
//	Theorems 1, 6  Algorithms 4 to 7 find the cheapest schedule of a job
//	Theorems 2, 7  A_maxweight's solutions of problems (7) to (9) are feasible
//	Theorem 3      OPT ≤ 2·log λ·w(A_maxweight)
//	Theorems 4, 8  A_online takes polynomial time
//	Lemma 1        Σ w C ≤ 4·alpha·OPT for A_online, if A_dual keeps its promise
//	Lemma 2        A_dual keeps it after alpha rounds
//	Theorem 5      Σ w C ≤ 4·alpha·OPT for A_online
//
// The logarithm is to the base 2, which the proof of Theorem 5 writes as
// "1 + log log λ". Printed forms have more assumptions here than in the paper:
// those without which they are false. docs/primaldual.md has the proofs and
// counterexamples.
const (
	PrimalDualTheorem1 = "primal-dual-theorem-1"
	PrimalDualTheorem2 = "primal-dual-theorem-2"
	PrimalDualTheorem3 = "primal-dual-theorem-3"
	PrimalDualTheorem4 = "primal-dual-theorem-4"
	PrimalDualTheorem5 = "primal-dual-theorem-5"
	PrimalDualTheorem6 = "primal-dual-theorem-6"
	PrimalDualTheorem7 = "primal-dual-theorem-7"
	PrimalDualTheorem8 = "primal-dual-theorem-8"
	PrimalDualLemma1   = "primal-dual-lemma-1"
	PrimalDualLemma2   = "primal-dual-lemma-2"
)

// Forms of Theorems 2 and 7, and of 1 and 6.
const (
	PrimalPart = "primal"   // no resource is overdrawn
	DualPart   = "dual"     // no job's u falls short
	Repaired   = "repaired" // counters are set where they have to be
)

// Assumptions of the primal-dual paper, those in the second group unstated.
const (
	WeightsInRange Assumption = "1 ≤ w/Σf ≤ F"
	SmallDemands   Assumption = "f ≤ C/log2 λ"
	ExactOptimum   Assumption = "the optimum is known"
	Approximates   Assumption = "each problem is solved to within the factor gamma"
	Constants      Assumption = "an order of growth states no number"

	CountersSet  Assumption = "the workers still to be placed are counted anew for every window and host"
	NoSaving     Assumption = "a worker beside parameter servers saves none of them"
	NoneRefused  Assumption = "no job is refused for want of room"
	Prohibitive  Assumption = "what is used up costs every job more than its weight: λ > 2w/(mu·f)"
	LastProblem  Assumption = "the problem that reaches the optimum adds at most (1 − 1/gamma)^(k−1) of it, being the k-th"
	PromisesKept Assumption = "every round schedules at least the weight that is possible by tau_i"
)

// Pricing is the outcome of Algorithms 4 and 5, or 6 and 7, on one job, against
// an optimum of the same problem.
type Pricing struct {
	Ring              bool
	Returned, Optimum *big.Rat // costs; nil if there is no schedule
	Saves             bool     // a worker beside parameter servers saves some: b·N > B
}

// Pricing1 evaluates Theorem 1, or Theorem 6 for a ring: the cost returned is at
// most the optimum. No schedule costs more than any.
func Pricing1(p Pricing) Result {
	r := Result{Statement: PrimalDualTheorem1, Form: Printed, Left: p.Returned, Right: p.Optimum, AtOptimum: true}
	if p.Ring {
		r.Statement = PrimalDualTheorem6
	}
	if p.Saves && !p.Ring {
		r.Unmet = append(r.Unmet, NoSaving)
	}
	switch {
	case p.Optimum == nil:
		r.Verdict = Holds
	case p.Returned == nil:
		r.Verdict = Violated
	default:
		r.Slack = new(big.Rat).Sub(p.Optimum, p.Returned)
		r.Verdict = Holds
		if r.Slack.Sign() < 0 {
			r.Verdict = Violated
		}
	}
	return r
}

// MaxWeight is a run of A_maxweight on one maximum weighted schedule problem.
type MaxWeight struct {
	Ring    bool
	Weight  *big.Rat // of the jobs scheduled
	Optimum Interval // on the largest weight

	// Load is the largest fraction of a resource of a server that is taken in a
	// slot, and Jobs has the dual solution. Theorems 2 and 7 need no more.
	Load    *big.Rat
	Jobs    []DualJob
	Refused bool // some job for want of room

	Lambda *big.Rat // at least 1
	MuS    *big.Rat // mu·S; nil where the prices are not the corrected ones

	// Whether the assumptions hold for every job and schedule.
	WeightsInRange, SmallDemands, Prohibitive bool
}

// DualJob is a job in the solution of the dual problem (9) or (18).
type DualJob struct {
	Weight, Utility *big.Rat
	// Cost is that of the job's cheapest schedule in the empty cluster at the
	// final prices; nil without any.
	Cost *big.Rat
}

// Feasible evaluates the two parts of Theorem 2, or Theorem 7 for rings: the load
// is at most 1, and w ≤ u + cost for every job, of which the one with the least
// slack is reported.
func Feasible(m MaxWeight) []Result {
	statement := PrimalDualTheorem2
	if m.Ring {
		statement = PrimalDualTheorem7
	}
	primal := decided(Result{Statement: statement, Form: PrimalPart, Left: m.Load, Right: whole(1), AtOptimum: true})
	dual := Result{Statement: statement, Form: DualPart, AtOptimum: true, Verdict: Holds}
	for i, j := range m.Jobs {
		if j.Cost == nil {
			continue
		}
		r := decided(Result{Statement: statement, Form: DualPart, Left: j.Weight, Right: sum(j.Utility, j.Cost), AtOptimum: true})
		if dual.Slack == nil || r.Slack.Cmp(dual.Slack) < 0 {
			dual = r
			dual.Job = sched.JobID(i)
		}
	}
	if m.Refused {
		dual.Unmet = append(dual.Unmet, NoneRefused)
	}
	return []Result{primal, dual}
}

// decided completes an inequality between known numbers.
func decided(r Result) Result {
	r.Slack = new(big.Rat).Sub(r.Right, r.Left)
	r.Verdict = Holds
	if r.Slack.Sign() < 0 {
		r.Verdict = Violated
	}
	return r
}

// Approximation evaluates Theorem 3: the optimum is at most 2·log2 λ times the
// weight as Printed, and (1 + mu·S)·log2 λ times it as Sharp, which is not
// applicable without corrected prices.
func Approximation(m MaxWeight, form string) Result {
	r := Result{Statement: PrimalDualTheorem3, Form: form}
	low, high := log2(m.Lambda)
	factor := whole(2)
	switch {
	case form == Printed:
		r.lack(m.WeightsInRange, WeightsInRange)
	case m.MuS == nil:
		r.Verdict = NotApplicable
		return r
	default:
		factor = sum(whole(1), m.MuS)
	}
	r.lack(m.SmallDemands, SmallDemands)
	r.lack(m.Prohibitive, Prohibitive)
	return r.between(m.Optimum, product(factor, low, m.Weight), product(factor, high, m.Weight))
}

func (r *Result) lack(met bool, a Assumption) {
	if !met {
		r.Unmet = append(r.Unmet, a)
	}
}

// between decides optimum ≤ right, where both are known within bounds. What is
// reported are the bounds by which the inequality is hardest.
func (r Result) between(optimum Interval, low, high *big.Rat) Result {
	r.Left, r.Right = optimum.Upper, low
	r.AtOptimum = optimum.Lower != nil && optimum.Upper != nil && optimum.Lower.Cmp(optimum.Upper) == 0
	r.Verdict = Undecided
	if r.Left != nil {
		if r.Slack = new(big.Rat).Sub(r.Right, r.Left); r.Slack.Sign() >= 0 {
			r.Verdict = Holds
		}
	}
	if optimum.Lower != nil && optimum.Lower.Cmp(high) > 0 {
		r.Verdict = Violated
	}
	return r
}

// Complexity returns the rows of Theorems 4 and 8, which say that something
// takes polynomial time and can be neither confirmed nor refuted by a run. T and
// D_j enter their bounds as numbers, so that they are pseudo-polynomial.
func Complexity() []Result {
	return []Result{
		{Statement: PrimalDualTheorem4, Form: Printed, Unmet: []Assumption{Constants}, Verdict: NotApplicable},
		{Statement: PrimalDualTheorem8, Form: Printed, Unmet: []Assumption{Constants}, Verdict: NotApplicable},
	}
}
