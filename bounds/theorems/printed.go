package theorems

import "math/big"

// The printed forms. They use rho = max alpha_max/alpha_min for everything, and
// G − g_max, so that a job of the whole cluster makes the right sides of Lemma 2
// and Theorem 1 infinite. Load times, which the paper does not have, count as
// part of the iterations; what then holds is more than what is printed.

var (
	lemma1Needs = []Assumption{GangModel, Releases, Gangs, Alphas, NoLoads, ExactAlphaMin}
	lemma2Needs = []Assumption{GangModel, Continuous, WholeGPUs, Releases, Gangs, Alphas, RunningTimes, QueueOrder, NoLoads, ExactAlphaMin}
	lemma3Needs = []Assumption{GangModel, Alphas, NoLoads}
	allNeeds    = []Assumption{GangModel, Continuous, WholeGPUs, Releases, Iterations, Gangs, Alphas, RunningTimes, QueueOrder, NoLoads, ExactAlphaMin}
)

// PrintedLemma1 is OPT_A1 ≤ rho·OPT_A.
func PrintedLemma1(s *Symbols) Result {
	return inequality{Lemma1, Printed, s.OptA1, new(big.Rat), s.Rho, lemma1Needs}.on(s)
}

// PrintedLemma2 is
//
//	Gamma ≤ (1 + tau + rho·G/(G−g_max))·OPT_Ã1 + I·g_max·alpha_max·eps/(G−g_max) + rho·OPT_A.
func PrintedLemma2(s *Symbols) Result {
	if s.gap(0) <= 0 {
		return vacuous(s, Lemma2, Printed, s.Gamma, lemma2Needs)
	}
	gap := big.NewRat(1, int64(s.gap(0)))
	queue := sum(whole(1), s.Tau, product(s.Rho, whole(s.GPUs), gap))
	errors := product(whole(s.Jobs), whole(s.Widest), s.AlphaMax, s.Error, gap)
	return inequality{Lemma2, Printed, s.Gamma, sum(product(queue, s.OptVirtual), errors, s.Rounding), s.Rho, lemma2Needs}.onRatio(s)
}

// PrintedLemma3 is OPT_Ã1 ≤ OPT_A1 + I·g_max·alpha_max·eps/G.
func PrintedLemma3(s *Symbols) Result {
	errors := product(whole(s.Jobs), whole(s.Widest), s.AlphaMax, s.Error, big.NewRat(1, int64(s.GPUs)))
	return inequality{Lemma3, Printed, s.OptVirtual, sum(s.OptA1, errors), new(big.Rat), lemma3Needs}.on(s)
}

// PrintedTheorem1 is Gamma ≤ factor·OPT_A with the factor
//
//	(2 + tau + rho·G/(G−g_max))·rho + 2·rho·g_max·(alpha_max/alpha_min)·(1 + tau + (1+rho)·G/(G−g_max))·eps/I.
//
// Of the second term the proof needs only eps/(I + 1).
func PrintedTheorem1(s *Symbols) Result {
	if s.gap(0) <= 0 {
		return vacuous(s, Theorem1, Printed, s.Gamma, allNeeds)
	}
	crowd := big.NewRat(int64(s.GPUs), int64(s.gap(0))) // G/(G−g_max)
	exact := product(s.Rho, sum(whole(2), s.Tau, product(s.Rho, crowd)))
	spread := new(big.Rat).Quo(s.AlphaMax, s.AlphaMin)
	meanError := product(s.Error, big.NewRat(1, int64(s.Jobs)))
	errors := product(whole(2), s.Rho, whole(s.Widest), spread, meanError,
		sum(whole(1), s.Tau, product(sum(whole(1), s.Rho), crowd)))
	return inequality{Theorem1, Printed, s.Gamma, s.Rounding, sum(exact, errors), allNeeds}.onRatio(s)
}
