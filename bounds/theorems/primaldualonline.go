package theorems

import "math/big"

// Rounds is a run of A_dual: one maximum weighted schedule problem after the
// other for the jobs that are left.
type Rounds struct {
	Weights []*big.Rat // scheduled by each problem in turn
	Optimum Interval   // on the largest weight in the first one
	Gamma   *big.Rat   // > 1; each problem is solved to within it

	Total, Least *big.Rat // w(J) and w_min
	Approximates bool     // whether that is so
}

// Covered evaluates Lemma 2: the first alpha problems schedule at least the
// weight that is possible in one, with
//
//	alpha = ⌊log(w(J)/w_min)/log(gamma/(gamma − 1))⌋ + 1     as Printed, Eq. (6)
//	alpha = ⌈log(w(J)/w_min)/log(gamma/(gamma − 1))⌉ + 1     as Sharp.
//
// After ⌈…⌉ problems the weight that is missing is at most w_min, and one more
// schedules at least a job. The paper's proof turns an inequality around.
func Covered(d Rounds, form string) Result {
	r := Result{Statement: PrimalDualLemma2, Form: form}
	base := new(big.Rat).Quo(d.Gamma, new(big.Rat).Sub(d.Gamma, whole(1)))
	alpha, equal := powers(base, new(big.Rat).Quo(d.Total, d.Least))
	if form != Printed && !equal {
		alpha++
	}
	alpha++
	got := sum(d.Weights[:min(alpha, len(d.Weights))]...)
	r.lack(d.Approximates, Approximates)
	if form == Printed {
		r.lack(d.lastIsSmall(base), LastProblem)
	}
	return r.between(d.Optimum, got, got)
}

// lastIsSmall reports what the proof of Lemma 2 needs of the problem that
// reaches the optimum, if one is known to.
func (d *Rounds) lastIsSmall(base *big.Rat) bool {
	if d.Optimum.Upper == nil {
		return true
	}
	left, most := new(big.Rat).Set(d.Optimum.Upper), new(big.Rat).Set(d.Optimum.Upper)
	for _, w := range d.Weights {
		if left.Sub(left, w); left.Sign() <= 0 {
			return w.Cmp(most) <= 0
		}
		most.Quo(most, base) // times 1 − 1/gamma
	}
	return true
}

// OnlineRun is a run of A_online.
type OnlineRun struct {
	Cost    *big.Rat // Σ w C
	Optimum Interval // on the least possible one
	Alpha   int      // the most problems that a round solved, or the alpha given
	Kept    bool     // every round scheduled at least the weight that is possible by tau_i

	// For Theorem 5: λ of Eq. (11) for the whole instance, and its weights.
	// Lambda is nil where the theorem's algorithm was not run.
	Lambda       *big.Rat
	Total, Least *big.Rat // w(J) and w_min

	// Whether the assumptions hold for every job and schedule.
	WeightsInRange, SmallDemands, Prohibitive bool
}

// Competitive evaluates Lemma 1: Σ w C ≤ 4·alpha·OPT, where alpha is what the run
// needed. Its proof is sound, with completion times of at least one slot, so that
// in a run that kept its promises this is a certificate.
func Competitive(o OnlineRun) Result {
	r := Result{Statement: PrimalDualLemma1, Form: Realised}
	r.lack(o.Kept, PromisesKept)
	return o.atMost(r, o.Alpha, o.Alpha)
}

// PrintedTheorem5 evaluates Σ w C ≤ 4·alpha·OPT for
//
//	alpha = ⌊(log w(J) − log w_min)/(1 + log log λ − log(2 log λ − 1))⌋ + 1.
func PrintedTheorem5(o OnlineRun) Result {
	r := Result{Statement: PrimalDualTheorem5, Form: Printed}
	if o.Lambda == nil {
		r.Verdict = NotApplicable
		return r
	}
	r.lack(o.WeightsInRange, WeightsInRange)
	r.lack(o.SmallDemands, SmallDemands)
	r.lack(o.Prohibitive, Prohibitive)
	low, high := PaperAlpha(o.Lambda, o.Total, o.Least)
	return o.atMost(r, low, high)
}

// PaperAlpha returns bounds on the alpha of Theorem 5. They are equal unless a
// logarithm is very close to a whole number. λ must be at least 2.
func PaperAlpha(lambda, total, least *big.Rat) (low, high int) {
	a, b := log2(lambda)
	alpha := func(logarithm *big.Rat) int {
		gamma := product(whole(2), logarithm)
		k, _ := powers(new(big.Rat).Quo(gamma, new(big.Rat).Sub(gamma, whole(1))), new(big.Rat).Quo(total, least))
		return k + 1
	}
	return alpha(a), alpha(b)
}

// atMost decides Cost ≤ 4·alpha·OPT, alpha being known within bounds.
func (o *OnlineRun) atMost(r Result, low, high int) Result {
	lower := new(big.Rat)
	if o.Optimum.Lower != nil {
		lower.Set(o.Optimum.Lower)
	}
	upper := o.Cost // is one of a schedule
	if o.Optimum.Upper != nil {
		upper = o.Optimum.Upper
	}
	r.Left, r.Right = o.Cost, product(whole(4*low), lower)
	r.Slack = new(big.Rat).Sub(r.Right, r.Left)
	r.AtOptimum = lower.Cmp(upper) == 0
	r.Bound = whole(4 * low)
	switch {
	case r.Slack.Sign() >= 0:
		r.Verdict = Holds
	case o.Cost.Cmp(product(whole(4*high), upper)) > 0:
		r.Verdict = Violated
	default:
		r.Verdict = Undecided
	}
	return r
}

// PrimalDualHeadline picks the row that says most about a run of A_online: Lemma
// 1, if the run kept its promises. Its Bound, 4·alpha, is then proven for the run,
// whatever is known about the optimum.
func PrimalDualHeadline(results []Result) (Result, bool) {
	for _, r := range results {
		if r.Statement == PrimalDualLemma1 && r.Met() {
			return r, true
		}
	}
	return Result{}, false
}
