package theorems

import (
	"fmt"
	"math/big"
)

// Statements of the SJF-BSBF paper, Section V-A, about a job that may join a
// running one on its GPUs.
const (
	// PairTheorem1 is Theorem 1: of all times at which the new job may start, the
	// present or the end of the running job is best. Its form is Printed.
	PairTheorem1 = "pair-theorem-1"

	// PairCondition says which of the two. Its forms are Printed, the condition
	// after Eq. (25) in the case that it is derived for; CompareSums; and
	// Case2Everywhere.
	PairCondition = "pair-condition"
)

// Forms of PairCondition.
const (
	// CompareSums is the sentence after the proof of Theorem 1: compare the fully
	// overlapped with the fully non-overlapped time. It is right in both cases.
	CompareSums = "compare-sums"

	// Case2Everywhere is the condition of Case 2 applied to every pair. The paper
	// does not say so; it is here to measure what a reader loses who does.
	Case2Everywhere = "case-2-everywhere"
)

// What the statements about pairs assume.
const (
	Interference Assumption = "xi ≥ 1"
	InCase2      Assumption = "Case 2: the running job would be done first"
)

// Pair is a running job B and a new job A that is to train on the same GPUs:
// from k on beside B, and alone once B is done. While both train, each is
// slowed down by its factor xi.
//
// Units: any, the same for both times. Source: the SJF-BSBF paper, Section V-A.
type Pair struct {
	New, Running     *big.Rat // a and b: what the jobs still need when they are alone, not negative
	XiNew, XiRunning *big.Rat // xi_A and xi_B, at least 1
}

// Validate returns an error if a time is negative or a factor is below 1.
func (p *Pair) Validate() error {
	one := big.NewRat(1, 1)
	if p.New.Sign() < 0 || p.Running.Sign() < 0 || p.XiNew.Cmp(one) < 0 || p.XiRunning.Cmp(one) < 0 {
		return fmt.Errorf("theorems: a pair that needs %v and %v with interference %v and %v: times are not negative, and factors at least 1",
			p.New.RatString(), p.Running.RatString(), p.XiNew.RatString(), p.XiRunning.RatString())
	}
	return nil
}

// Completions returns when the jobs are done if A starts at k, which is between
// 0 and b. If A is done first, that is xi_A·a ≤ xi_B·(b − k),
//
//	T_A = k + xi_A·a,   T_B = b + xi_A·a·(1 − 1/xi_B),
//
// and otherwise
//
//	T_B = k + xi_B·(b − k),   T_A = T_B + a − xi_B·(b − k)/xi_A.
//
// In the paper's proof the letters are the other way round: its A runs, and its B
// is inserted. Its Case 2, in which its A is done first for every k, has these
// formulas with k/t_A for the printed k/t^_A in Eqs. (22) and (23); its Case 1 has
// them for k = 0.
func (p *Pair) Completions(k *big.Rat) (a, b *big.Rat) {
	slow := product(p.XiNew, p.New)                  // A beside B all the time
	left := new(big.Rat).Sub(p.Running, k)           // of B when A starts
	beside := product(p.XiRunning, left)             // B beside A all the time
	if lost := new(big.Rat); slow.Cmp(beside) <= 0 { // A is done first
		lost.Sub(slow, new(big.Rat).Quo(slow, p.XiRunning))
		return sum(k, slow), sum(p.Running, lost)
	}
	b = sum(k, beside)
	a = sum(b, p.New)
	return a.Sub(a, new(big.Rat).Quo(beside, p.XiNew)), b
}

// Sum returns T_A + T_B if A starts at k.
func (p *Pair) Sum(k *big.Rat) *big.Rat {
	a, b := p.Completions(k)
	return a.Add(a, b)
}

// Share reports whether A should start now: whether that makes the sum of
// completion times no greater than starting when B is done. Comparing the two is
// the rule of the paper (the sentence after the proof of Theorem 1), and says so
// iff
//
//	2 xi_A + xi_B ≥ 2 xi_A xi_B,  or  a·(2 xi_A − xi_A/xi_B − 1) ≤ b.
//
// The first says so where B is done first, xi_A·a ≥ xi_B·b, and the second where
// A is; and where the first holds, so does the second for every shorter a. So
// for given factors a new job joins iff it is short enough.
func (p *Pair) Share() bool {
	return p.Always() || product(p.New, p.Cost()).Cmp(p.Running) <= 0
}

// Always reports whether the factors alone make A start at once, however long
// the jobs are.
func (p *Pair) Always() bool {
	return sum(p.XiNew, p.XiNew, p.XiRunning).Cmp(product(big.NewRat(2, 1), p.XiNew, p.XiRunning)) >= 0
}

// Cost returns 2 xi_A − xi_A/xi_B − 1, which is not negative. If A is done first,
// interference adds a times it to the sum of completion times, and waiting adds b.
func (p *Pair) Cost() *big.Rat {
	v := new(big.Rat).Quo(p.XiNew, p.XiRunning)
	v.Sub(sum(p.XiNew, p.XiNew), v)
	return v.Sub(v, big.NewRat(1, 1))
}

// InCase2 reports whether the pair is in Case 2 of the paper's proof: whether the
// running job would be done first if both trained together from now on.
func (p *Pair) InCase2() bool {
	return product(p.XiRunning, p.Running).Cmp(product(p.XiNew, p.New)) < 0
}

// ShareInCase2 is the condition of Case 2, 2 xi_B + xi_A − 2 xi_A xi_B > 0 with the
// letters of the proof, in which A runs: 2 xi_New + xi_Running > 2 xi_New xi_Running. It
// says whether the new job should start now if the pair is InCase2, and nothing
// otherwise.
func (p *Pair) ShareInCase2() bool {
	return sum(p.XiNew, p.XiNew, p.XiRunning).Cmp(product(big.NewRat(2, 1), p.XiNew, p.XiRunning)) > 0
}

// Least returns the least T_A + T_B over all k between 0 and b, and the first k
// that has it.
//
// The sum is continuous and linear between 0, k0 = b − xi_A·a/xi_B, if that is
// positive, and b: its slope is 1 up to k0 and 2 − 2 xi_B + xi_B/xi_A from there
// on. So one of these three is best; that it is never k0 alone is the theorem.
func (p *Pair) Least() (k, least *big.Rat) {
	k, least = new(big.Rat), p.Sum(new(big.Rat))
	knee := new(big.Rat).Quo(product(p.XiNew, p.New), p.XiRunning)
	knee.Sub(p.Running, knee)
	for _, at := range []*big.Rat{knee, p.Running} {
		if at.Sign() < 0 {
			continue
		}
		if s := p.Sum(at); s.Cmp(least) < 0 {
			k, least = at, s
		}
	}
	return k, least
}

// Theorem1 evaluates Theorem 1 on a pair: Left is the lesser T_A + T_B of the two
// ends, 0 and b, and Right is the least over all k.
func (p *Pair) Theorem1() Result {
	return p.against(Result{Statement: PairTheorem1, Form: Printed}, func() *big.Rat {
		now, later := p.Sum(new(big.Rat)), p.Sum(p.Running)
		if later.Cmp(now) < 0 {
			return later
		}
		return now
	})
}

// Condition evaluates a form of PairCondition on a pair: Left is T_A + T_B at the
// end, 0 or b, that it chooses, and Right is the least sum over all k. Where they
// differ the choice is wrong. Printed is not applicable to pairs outside Case 2. It
// panics for other forms than those of PairCondition.
func (p *Pair) Condition(form string) Result {
	r := Result{Statement: PairCondition, Form: form}
	share := p.ShareInCase2
	switch form {
	case CompareSums:
		share = p.Share
	case Printed:
		if p.Validate() == nil && !p.InCase2() {
			r.Unmet, r.Verdict = []Assumption{InCase2}, NotApplicable
			return r
		}
	case Case2Everywhere:
		if p.Validate() == nil {
			r.lack(p.InCase2(), InCase2)
		}
	default:
		panic("theorems: " + PairCondition + " has no form " + form)
	}
	return p.against(r, func() *big.Rat {
		if share() {
			return p.Sum(new(big.Rat))
		}
		return p.Sum(p.Running)
	})
}

// against compares a sum with the least over all k.
func (p *Pair) against(r Result, chosen func() *big.Rat) Result {
	if p.Validate() != nil {
		r.Unmet, r.Verdict = []Assumption{Interference}, NotApplicable
		return r
	}
	r.AtOptimum, r.Verdict = true, Holds
	r.Left = chosen()
	_, r.Right = p.Least()
	r.Slack = new(big.Rat).Sub(r.Right, r.Left)
	if r.Slack.Sign() < 0 {
		r.Verdict = Violated
	}
	return r
}
