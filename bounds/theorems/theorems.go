// Package theorems evaluates the theorems of the A-SRPT paper on one run: both
// sides of every inequality in exact arithmetic, which assumptions of its proof
// the run does not meet, and whether it holds.
//
// # The statements
//
// A is the instance and Gamma the total completion time of A-SRPT on it; A1 and
// Ã1 are one machine of unit speed with the sizes g·n·alpha~/G and g·ñ·alpha~/G, and
// OPT is the least total completion time (on one machine, by SRPT). The paper
// proves, with rho = max alpha_max/alpha_min and eps = Σ|n − ñ|,
//
//	Lemma 1    OPT_A1 ≤ rho·OPT_A
//	Lemma 2    Gamma ≤ (1 + tau + rho·G/(G−g_max))·OPT_Ã1 + I·g_max·alpha_max·eps/(G−g_max) + rho·OPT_A
//	Lemma 3    OPT_Ã1 ≤ OPT_A1 + I·g_max·alpha_max·eps/G
//	Theorem 1  Gamma ≤ ((2 + tau + rho·G/(G−g_max))·rho
//	           + 2·rho·g_max·(alpha_max/alpha_min)·(1 + tau + (1+rho)·G/(G−g_max))·eps/I)·OPT_A
//
// These are the printed forms. Sharp forms, proved by the same arguments, are in
// sharp.go, bounds for single jobs in perjob.go; docs/theorems.md has the
// proofs and says where the printed statements fail.
//
// # Whole microseconds
//
// In the paper a job runs for n·alpha. Here it holds its GPUs for a whole number
// of microseconds, load time included, and queues at a whole microsecond. So a
// job's alpha_max and alpha_min are taken to be the longest and the least time that
// it can hold its GPUs, over n, and what rounding C^v up adds to Gamma is added
// to the right side (Symbols.Rounding, less than a microsecond per job). With
// that, all forms are theorems about the integers that are compared, and where
// nothing is rounded they are the printed ones.
//
// Source: the A-SRPT paper, Section IV-C ("Theoretical Performance Analysis") and
// Appendices A to C.
package theorems

import (
	"math/big"

	"yardstick/sched"
)

// Names of the statements, as they are recorded.
const (
	Lemma1      = "lemma-1"
	Lemma2      = "lemma-2"
	Lemma3      = "lemma-3"
	Theorem1    = "theorem-1"
	PerJob      = "per-job"     // every C_i against its bound; the one with the least slack is reported
	Certificate = "certificate" // Gamma against the sum of these bounds
)

// Names of the forms.
const (
	Printed   = "printed"
	Sharp     = "sharp"
	ZeroError = "zero-error" // for eps = 0
	Longest   = "longest"    // with the longest time that each job can take
	Realised  = "realised"   // with the time that each job took: a posteriori
)

// Verdict says what is known about an inequality on one run.
type Verdict string

// The verdicts. They are about the inequality, whether or not its assumptions
// are met: see Result.Contradiction.
const (
	Holds         Verdict = "holds"          // proven
	Violated      Verdict = "violated"       // proven
	Undecided     Verdict = "undecided"      // fails with the lower bound on OPT_A, holds with the upper one
	Vacuous       Verdict = "vacuous"        // the right side is infinite
	NotApplicable Verdict = "not applicable" // the statement is not about such runs
)

// Assumption names something that a proof needs.
type Assumption string

// The assumptions.
const (
	GangModel     Assumption = "fixed gangs on exclusive GPUs"
	Continuous    Assumption = "decisions in continuous time"
	WholeGPUs     Assumption = "any g free GPUs can hold a job: no tensor slices"
	Releases      Assumption = "r ≥ 0"
	Iterations    Assumption = "n ≥ 1"
	Gangs         Assumption = "g ≤ G"
	Alphas        Assumption = "alpha_min ≤ alpha~ ≤ alpha_max"
	RunningTimes  Assumption = "n·alpha_min ≤ time on the cluster ≤ n·alpha_max"
	QueueOrder    Assumption = "starts in the order of virtual completions, none before its own"
	NoLoads       Assumption = "no time to load"
	ExactAlphaMin Assumption = "alpha_min is known" // otherwise rho is too large and the inequality weaker than the printed one
)

// Unstated reports whether no paper states the assumption: a statement has it here
// because it is false without, or for a form that is not the paper's. All others are
// said or defined in the paper, so that a run that does not meet them is outside the
// statement's scope.
func (a Assumption) Unstated() bool {
	switch a {
	case Continuous, InCase2, OneRelease, CountersSet, NoSaving, NoneRefused, Prohibitive, LastProblem, PromisesKept:
		return true
	}
	return false
}

// Result is one inequality on one run. Times are in microseconds and exact; the
// caller must not change them.
type Result struct {
	Statement, Form string

	// Unmet lists the assumptions of the statement that the run does not meet.
	Unmet []Assumption

	// Left and Right are the sides, and Slack is Right − Left. OPT_A enters as
	// its proven lower bound, which is itself if AtOptimum. Right and Slack are
	// nil if the statement is vacuous or not applicable; Left too in the latter
	// case.
	Left, Right, Slack *big.Rat
	AtOptimum          bool
	Verdict            Verdict

	// Bound is what Right allows Gamma/OPT_A to be, OPT_A entering as above: in
	// Lemma 2, Theorem 1 and Certificate, unless that bound on OPT_A is 0.
	Bound *big.Rat

	// Job is the job that PerJob reports.
	Job sched.JobID
}

// Met reports whether the run meets every assumption.
func (r *Result) Met() bool { return len(r.Unmet) == 0 }

// Contradiction reports whether a proven statement is violated although its
// assumptions are met: something is wrong with the theorem, its proof or this
// program.
func (r *Result) Contradiction() bool { return r.Verdict == Violated && r.Met() }

// Interval is what is proven about OPT_A, in microseconds.
type Interval struct {
	Lower *big.Rat // nil stands for 0
	Upper *big.Rat // nil: Gamma, which is the cost of a schedule, is all there is
}

// inequality is left ≤ constant + factor·OPT_A with factor ≥ 0.
type inequality struct {
	statement, form        string
	left, constant, factor *big.Rat
	needs                  []Assumption
}

// on decides the inequality. Its right side does not decrease with OPT_A, so
// that it holds if it does with a lower bound for OPT_A, and fails if it does
// with an upper bound; in between nothing is known.
func (q inequality) on(s *Symbols) Result {
	r := Result{Statement: q.statement, Form: q.form, Unmet: s.lacks(q.needs), Left: q.left}
	lower, upper := s.optimum()
	if q.factor.Sign() == 0 {
		upper = lower
	}
	at := func(opt *big.Rat) *big.Rat {
		v := new(big.Rat).Mul(q.factor, opt)
		return v.Add(v, q.constant)
	}
	r.Right = at(lower)
	r.Slack = new(big.Rat).Sub(r.Right, r.Left)
	r.AtOptimum = lower.Cmp(upper) == 0
	switch {
	case r.Slack.Sign() >= 0:
		r.Verdict = Holds
	case r.Left.Cmp(at(upper)) > 0:
		r.Verdict = Violated
	default:
		r.Verdict = Undecided
	}
	return r
}

// onRatio is on for statements about Gamma.
func (q inequality) onRatio(s *Symbols) Result {
	r := q.on(s)
	if lower, _ := s.optimum(); lower.Sign() > 0 {
		r.Bound = new(big.Rat).Quo(r.Right, lower)
	}
	return r
}

// vacuous is a statement whose right side is infinite.
func vacuous(s *Symbols, statement, form string, left *big.Rat, needs []Assumption) Result {
	return Result{Statement: statement, Form: form, Unmet: s.lacks(needs), Left: left, Verdict: Vacuous}
}

// sum adds up halves, so that denominators grow as late as possible.
func sum(terms ...*big.Rat) *big.Rat {
	switch n := len(terms); n {
	case 0:
		return new(big.Rat)
	case 1:
		return new(big.Rat).Set(terms[0])
	default:
		total := sum(terms[:n/2]...)
		return total.Add(total, sum(terms[n/2:]...))
	}
}

// product multiplies at least two factors.
func product(a, b *big.Rat, more ...*big.Rat) *big.Rat {
	total := new(big.Rat).Mul(a, b)
	for _, f := range more {
		total.Mul(total, f)
	}
	return total
}

func whole(n int) *big.Rat { return big.NewRat(int64(n), 1) }

func microseconds(t sched.Time) *big.Rat { return big.NewRat(int64(t), 1) }
