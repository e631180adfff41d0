package theorems

import (
	"math/big"
)

// The sharp forms. Not in the source, but by its arguments:
//
//   - While the head of the queue does not fit, the free GPUs and its gang are
//     both multiples of b = number.GCD(g_1, …, g_I, G) away from G, so that at least
//     D = G − g_max + b GPUs are busy. D is positive even if g_max = G.
//   - Lemma 1 needs max alpha~/alpha_min only, Lemma 2 max alpha_max/alpha~.
//   - Overprediction makes virtual sizes larger, underprediction smaller (the
//     paper's Eqs. (13) and (15)), and only underprediction adds real work to
//     what the virtual machine knows.
//
// alpha_max may be the largest attained in this cluster, and alpha_min any lower
// bound.

var (
	sharpLemma1Needs = []Assumption{GangModel, Releases, Gangs}
	sharpLemma2Needs = []Assumption{GangModel, Continuous, WholeGPUs, Releases, Gangs, RunningTimes, QueueOrder}
	sharpLemma3Needs = []Assumption{GangModel}
)

// SharpLemma1 is OPT_A1 ≤ max(1, max alpha~/alpha_min)·OPT_A.
func SharpLemma1(s *Symbols) Result {
	return inequality{Lemma1, Sharp, s.OptA1, new(big.Rat), s.RhoLeast, sharpLemma1Needs}.on(s)
}

// queueFactor returns 1 + tau + max(alpha_max/alpha~)·G/D, or nil if there is no
// such D.
func (s *Symbols) queueFactor() *big.Rat {
	if s.gap(s.Divisor) <= 0 { // some gang exceeds G
		return nil
	}
	return sum(whole(1), s.Tau, product(s.RhoMost, big.NewRat(int64(s.GPUs), int64(s.gap(s.Divisor)))))
}

// late returns I·Σ_U g·(n − ñ)·alpha_max/D.
func (s *Symbols) late() *big.Rat {
	return product(big.NewRat(int64(s.Jobs), int64(s.gap(s.Divisor))), s.Late)
}

// SharpLemma2 is
//
//	Gamma ≤ (1 + tau + max(alpha_max/alpha~)·G/D)·OPT_Ã1 + I·Σ_U g·(n − ñ)·alpha_max/D + Σ n·alpha_max.
//
// It does not mention OPT_A.
func SharpLemma2(s *Symbols) Result {
	queue := s.queueFactor()
	if queue == nil {
		return vacuous(s, Lemma2, Sharp, s.Gamma, sharpLemma2Needs)
	}
	right := sum(product(queue, s.OptVirtual), s.late(), s.Longest, s.Rounding)
	return inequality{Lemma2, Sharp, s.Gamma, right, new(big.Rat), sharpLemma2Needs}.onRatio(s)
}

// SharpLemma3 is OPT_Ã1 ≤ OPT_A1 + I·Σ_O g·(ñ − n)·alpha~/G − Σ_U g·(n − ñ)·alpha~/G.
func SharpLemma3(s *Symbols) Result {
	return inequality{Lemma3, Sharp, s.OptVirtual, sum(s.OptA1, s.drift()), new(big.Rat), sharpLemma3Needs}.on(s)
}

// drift is what SharpLemma3 adds to OPT_A1.
func (s *Symbols) drift() *big.Rat {
	return new(big.Rat).Sub(product(whole(s.Jobs), s.Over), s.Under)
}

// SharpTheorem1 is
//
//	Gamma ≤ (1 + tau + max(alpha_max/alpha~)·G/D)·(max(alpha~/alpha_min)·OPT_A + drift)
//	        + I·Σ_U g·(n − ñ)·alpha_max/D + rho·OPT_A,
//
// where drift is what Lemma 3 adds.
func SharpTheorem1(s *Symbols) Result { return s.sharpTheorem1(Sharp) }

// ZeroErrorTheorem1 is SharpTheorem1 where every prediction is exact:
//
//	Gamma ≤ ((1 + tau + max(alpha_max/alpha~)·G/D)·max(alpha~/alpha_min) + rho)·OPT_A.
//
// Elsewhere it does not apply.
func ZeroErrorTheorem1(s *Symbols) Result {
	if s.Error.Sign() != 0 {
		return Result{Statement: Theorem1, Form: ZeroError, Unmet: s.lacks(sharpLemma2Needs), Verdict: NotApplicable}
	}
	return s.sharpTheorem1(ZeroError)
}

func (s *Symbols) sharpTheorem1(form string) Result {
	queue := s.queueFactor()
	if queue == nil {
		return vacuous(s, Theorem1, form, s.Gamma, sharpLemma2Needs)
	}
	constant := sum(product(queue, s.drift()), s.late(), s.Rounding)
	factor := sum(product(queue, s.RhoLeast), s.Rho)
	return inequality{Theorem1, form, s.Gamma, constant, factor, sharpLemma2Needs}.onRatio(s)
}
