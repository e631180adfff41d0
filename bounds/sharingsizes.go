package bounds

import (
	"context"
	"fmt"
	"math/big"

	"yardstick/internal/number"
	"yardstick/sched"
)

// The bounds of this file hold for schedules that share GPUs. Let w_j be the
// time that job j needs alone, with the fastest accumulation that fits a GPU,
// and let it progress at the rate ρ_j of that. A job never progresses faster than
// alone. Two jobs on a GPU have ρ_j ≤ w_j/(w_j(s)·xi_jk) and ρ_k ≤ w_k/(w_k(s')·xi_kj)
// with some accumulations s and s' that fit a GPU together, where w_j(s) is what j
// needs alone with s.
//
// Let 0 ≤ alpha_j ≤ 1 be numbers with alpha_j ρ_j + alpha_k ρ_k ≤ 1 for all such
// rates. Then at every time Σ_j alpha_j g_j ρ_j ≤ G: the sum over the GPUs of what the
// jobs on them have. So the bounds for the fluid class hold with the sizes
// alpha_j g_j w_j/G, whatever is preempted or moved. If alpha is the same for all jobs,
// it is at most 1/Theta, which makes this class F(Theta). But jobs that share badly
// may have more: alpha_j = 1/Theta_j will do, the largest sum of rates over pairs
// with j, as alpha_j, alpha_k ≤ 1/Theta_jk; and these can be raised one after the
// other. As they rest on which jobs may meet, the bounds are of class SP0.

// ThetaLB0 is the cost if every job ran alone from its release: C_j ≥ r_j + w_j.
// It applies to every minimised objective. Cost: O(n).
func ThetaLB0(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return shared(in, obj, "theta-lb0", "alone", (*workload).lb0)
}

// ThetaSRPT is [SRPT] with the sizes alpha_j g_j w_j/G.
func ThetaSRPT(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return shared(in, obj, "theta-srpt", "srpt", (*workload).srpt)
}

// ThetaRanked is [Ranked] with the sizes alpha_j g_j w_j/G.
func ThetaRanked(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return shared(in, obj, "theta-srpt-ranked", "srpt-ranked", (*workload).ranked)
}

// ThetaArea is [Area] with the sizes alpha_j g_j w_j/G, a bound on the makespan.
func ThetaArea(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return shared(in, obj, "theta-area", "area", (*workload).area)
}

// ThetaEEI is [MeanBusyTime] with the sizes alpha_j g_j w_j/G and the half-terms
// w_j/2: a job progresses at a rate of at most 1 until C_j, so that the mean time
// of its progress is at most C_j − w_j/2.
//
// The half-terms are not rounded up, as a job may be done within a microsecond.
func ThetaEEI(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return shared(in, obj, "theta-eei", "mean-busy-time", func(w *workload, obj sched.Objective) (*big.Rat, error) {
		s, err := newSharers(w.in)
		if err != nil {
			return nil, err
		}
		return w.exactHalves(obj, func(j int) *big.Rat { return s.jobs[j].work })
	})
}

// exactHalves is meanBusyTime with half-terms of lengths that are not rounded.
func (w *workload) exactHalves(obj sched.Objective, length func(j int) *big.Rat) (*big.Rat, error) {
	plain, machine := obj.Base(), *w
	machine.length = make([]sched.Time, len(w.length))
	total, err := machine.meanBusyTime(plain)
	if err != nil {
		return nil, err
	}
	for j := range w.in.Jobs {
		half := new(big.Rat).Mul(length(j), big.NewRat(1, 2))
		if plain.Weighted() {
			half.Mul(half, new(big.Rat).SetFloat64(w.in.Jobs[j].Weight))
		}
		total.Add(total, half)
	}
	if plain.Integral(w.in) {
		total = number.Ceil(total)
	}
	return obj.FromBase(w.in, total), nil
}

// ThetaHybrid is [Hybrid] with the sizes alpha_j g_j w_j/G, and at least
// [ThetaRanked].
func ThetaHybrid(ctx context.Context, in *sched.Instance, obj sched.Objective, opt HybridOptions) (Bound, error) {
	return shared(in, obj, "theta-hybrid", "srpt-ranked", func(w *workload, obj sched.Objective) (*big.Rat, error) {
		weight, err := w.forTotals(obj)
		if err != nil {
			return nil, err
		}
		evaluations := opt.Evaluations
		if evaluations == 0 {
			evaluations = max(50, 3_000_000/len(w.in.Jobs))
		}
		s := newHybrid(w, evaluations)
		if 1<<min(len(w.in.Jobs), 62) <= evaluations {
			s.all(ctx)
		} else {
			s.search(ctx)
		}
		w.choice.Apart = s.apart()
		total := new(big.Rat).SetInt(s.value.big())
		return obj.FromBase(w.in, total.Mul(total, weight)), nil
	})
}

// shared evaluates a bound of the workload.
func shared(in *sched.Instance, obj sched.Objective, name, rule string, eval func(*workload, sched.Objective) (*big.Rat, error)) (Bound, error) {
	if obj.Maximised() {
		return Bound{}, fmt.Errorf("bounds: %s: %w to %v: that is maximised", name, sched.ErrNotApplicable, obj)
	}
	s, err := newSharers(in)
	if err != nil {
		return Bound{}, fmt.Errorf("bounds: %s: %w", name, err)
	}
	w, err := s.workload()
	if err != nil {
		return Bound{}, fmt.Errorf("bounds: %s: %w", name, err)
	}
	b, err := w.bound(method{name: name, kind: sched.SP0, eval: eval}, obj)
	b.Proof = &Proof{"sharing", w.sizes(rule)}
	return b, err
}
