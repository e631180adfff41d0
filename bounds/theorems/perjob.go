package theorems

import (
	"math/big"

	"yardstick/sched"
)

// JobBound is a bound on the completion time of one job.
type JobBound struct {
	Job        sched.JobID
	Completion sched.Time
	Bound      *big.Rat // microseconds
}

// JobBounds bounds the completion time of every job. In the order of C^v,
//
//	C_i ≤ ceil(C_i^v) + Σ_{j≤i} floor(tau·q_j) + Σ_{j<i} g_j·d_j/(G − max_{j≤i} g_j + b) + d_i,
//
// where d_j is n_j·alpha_max, or, if realised, how long j did hold its GPUs: then
// the bound is known only after the run. Jobs behind a gang that exceeds G have
// none.
//
// From ceil(C_i^v) on jobs 1 to i are queued and nobody overtakes i. While the
// head does not fit, at least G − max g_j + b GPUs work on jobs before i; while
// it waits for a better placement, it uses up its own floor(tau·q).
//
// Source: Eqs. (11) and (12) of the A-SRPT paper. Not in the source: the
// maximum over the jobs up to i, and b.
//
// Shape: in the order of C^v. Cost: O(n) rational operations.
func JobBounds(s *Symbols, realised bool) []JobBound {
	var out []JobBound
	delays, work, widest := new(big.Rat), new(big.Rat), 0
	for _, i := range s.order {
		j := &s.jobs[i]
		d := s.longest[i]
		if realised {
			d = microseconds(j.held())
		}
		widest = max(widest, j.Gang)
		busy := s.GPUs - widest + s.Divisor
		if busy <= 0 {
			break
		}
		delays.Add(delays, s.delay[i])
		bound := sum(s.ceiling[i], delays, product(work, big.NewRat(1, int64(busy))), d)
		out = append(out, JobBound{Job: sched.JobID(i), Completion: j.Completion, Bound: bound})
		work.Add(work, product(whole(j.Gang), d))
	}
	return out
}

// Jobs compares every completion time with its bound from JobBounds, of which
// worst is the job with the least slack, the first in the order of C^v, and
// Gamma with the sum of the bounds. With realised times the latter is a
// certificate for this run.
func Jobs(s *Symbols, realised bool) (worst, total Result) {
	form, needs := Longest, sharpLemma2Needs
	if realised {
		form, needs = Realised, []Assumption{GangModel, Continuous, WholeGPUs, Releases, Gangs, QueueOrder}
	}
	tight, right, ok := s.tightest(realised)
	if !ok {
		bounds := JobBounds(s, realised)
		if len(bounds) < s.Jobs {
			return vacuous(s, PerJob, form, nil, needs), vacuous(s, Certificate, form, s.Gamma, needs)
		}
		tight, right = tightestOf(bounds)
	}
	worst = inequality{PerJob, form, microseconds(tight.Completion), tight.Bound, new(big.Rat), needs}.on(s)
	worst.Job = tight.Job
	return worst, inequality{Certificate, form, s.Gamma, right, new(big.Rat), needs}.onRatio(s)
}

// tightestOf is tightest in rationals.
func tightestOf(bounds []JobBound) (worst JobBound, total *big.Rat) {
	total = new(big.Rat)
	var least *big.Rat
	for _, b := range bounds {
		if slack := new(big.Rat).Sub(b.Bound, microseconds(b.Completion)); least == nil || slack.Cmp(least) < 0 {
			worst, least = b, slack
		}
		total.Add(total, b.Bound)
	}
	return worst, total
}
