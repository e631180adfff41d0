package theorems

import (
	"fmt"
	"math/big"

	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/partition"
)

// Run is what the theorems need to know about a run of A-SRPT besides the
// instance. Slices have one entry per job.
type Run struct {
	Start, Completion []sched.Time // of a verified schedule
	Class             sched.Class  // of that schedule
	Predicted         []int64      // iterations; nil if the policy knew the truth
	AlphaTilde        []*big.Rat   // the policy's estimate of the least time per iteration, in seconds

	Tau          *big.Rat // the policy's tau
	ReleaseFirst bool     // the policy breaks ties by release

	// OptA is what is proven about the least total completion time, in
	// microseconds, of schedules of the run's class.
	OptA Interval
}

// Evaluate evaluates every statement in every form on one run: a row of
// theorems.arrow each. Statements that are not about such runs, those of models
// in which jobs have no fixed gang on GPUs of their own, are not applicable.
//
// alpha_max is the paper's, every replica on a server of its own, in the printed
// forms, and the largest that the cluster allows in the others. alpha_min is the
// least that partition.LeastRunTimes finds, or alpha~ if rounding makes that less.
//
// Cost: one search for alpha_min and alpha_max per shape of job, and O(n log n) operations
// on integers.
//
// Errors: the numbers of entries differ from the number of jobs; those of
// Case.Symbols and of package partition.
func Evaluate(in *sched.Instance, run Run) ([]Result, error) {
	n := len(in.Jobs)
	if len(run.Start) != n || len(run.Completion) != n || len(run.AlphaTilde) != n || run.Predicted != nil && len(run.Predicted) != n {
		return nil, fmt.Errorf("theorems: %d starts, %d completions, %d predictions, %d alphas for %d jobs",
			len(run.Start), len(run.Completion), len(run.Predicted), len(run.AlphaTilde), n)
	}
	if !in.Model.Exclusive() || run.Class.Kind != sched.N {
		return notApplicable(), nil
	}
	least, err := partition.LeastRunTimes(in)
	if err != nil {
		return nil, fmt.Errorf("theorems: %w", err)
	}
	printed, err := newCase(in, &run, least, partition.AlphaSpread)
	if err != nil {
		return nil, err
	}
	attained, err := newCase(in, &run, least, partition.AlphaMax)
	if err != nil {
		return nil, err
	}
	m := printed.machines() // the same for both
	return all(printed.symbols(m), attained.symbols(m)), nil
}

// all evaluates the printed statements on one set of symbols and the others on
// another.
func all(printed, attained *Symbols) []Result {
	longest, sumLongest := Jobs(attained, false)
	realised, sumRealised := Jobs(attained, true)
	return []Result{
		PrintedLemma1(printed), SharpLemma1(attained),
		PrintedLemma2(printed), SharpLemma2(attained),
		PrintedLemma3(printed), SharpLemma3(attained),
		PrintedTheorem1(printed), SharpTheorem1(attained), ZeroErrorTheorem1(attained),
		longest, realised, sumLongest, sumRealised,
	}
}

// notApplicable returns a row for every statement and form.
func notApplicable() []Result {
	var out []Result
	for _, s := range []struct {
		statement string
		forms     []string
	}{{Lemma1, []string{Printed, Sharp}}, {Lemma2, []string{Printed, Sharp}}, {Lemma3, []string{Printed, Sharp}},
		{Theorem1, []string{Printed, Sharp, ZeroError}}, {PerJob, []string{Longest, Realised}}, {Certificate, []string{Longest, Realised}}} {
		for _, form := range s.forms {
			out = append(out, Result{Statement: s.statement, Form: form, Unmet: []Assumption{GangModel}, Verdict: NotApplicable})
		}
	}
	return out
}

// newCase collects the numbers, with the given alpha_max, and checks them.
func newCase(in *sched.Instance, run *Run, least []partition.Minimum, slowest func(*sched.Instance, sched.JobID) (*big.Rat, error)) (*Case, error) {
	c := &Case{GPUs: in.Cluster.GPUs(), Tau: run.Tau, ReleaseFirst: run.ReleaseFirst, Slotted: run.Class.Slotted, Optimum: run.OptA,
		Jobs: make([]Job, len(in.Jobs))}
	worst := partition.PerKind(in, slowest)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		alpha, err := worst(sched.JobID(i))
		if err != nil {
			return nil, fmt.Errorf("theorems: %w", err)
		}
		iters := big.NewRat(j.Iters, 1)
		micros := big.NewRat(int64(sched.Second), 1)
		longest := sum(microseconds(j.Load), number.Ceil(product(iters, alpha, micros)))
		out := Job{Release: j.Release, Gang: j.Gang(), Iters: j.Iters, Predicted: j.Iters,
			AlphaMin: big.NewRat(int64(j.Load+least[i].Duration), j.Iters), AlphaTilde: product(run.AlphaTilde[i], micros),
			AlphaMax: longest.Quo(longest, iters), Start: run.Start[i], Completion: run.Completion[i]}
		if run.Predicted != nil {
			out.Predicted = run.Predicted[i]
		}
		if out.AlphaTilde.Cmp(out.AlphaMin) < 0 { // loads, or less than a microsecond
			out.AlphaMin = out.AlphaTilde
		}
		c.Loads = c.Loads || j.Load > 0
		c.Sliced = c.Sliced || j.Sliced()
		c.AlphaMinOpen = c.AlphaMinOpen || !least[i].Exact
		c.Jobs[i] = out
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("theorems: %w", err)
	}
	return c, nil
}

// Headline picks the row that says most about a run: the printed Theorem 1, or
// its sharp form where the printed one is vacuous. Its Bound is what the
// theorem allows Gamma/OPT_A to be. It returns false if neither decides
// anything.
func Headline(results []Result) (Result, bool) {
	for _, form := range []string{Printed, Sharp} {
		for _, r := range results {
			if r.Statement == Theorem1 && r.Form == form && (r.Verdict == Holds || r.Verdict == Violated) {
				return r, true
			}
		}
	}
	return Result{}, false
}
