package theorems

import (
	"fmt"
	"math/big"
)

// PairTheorem1 is Theorem 1 of the SJF-BSBF paper: of all times at which a new
// job may join a running one on its GPUs, the present or the end of the running
// job is best, and a condition on the interference says which. Its forms are
// Printed, Sharp and Swapped.
const PairTheorem1 = "pair-theorem-1"

// Swapped is the form that the printed condition takes if the paper's letters
// are read the other way round.
const Swapped = "swapped"

// What PairTheorem1 assumes: in its wrong forms also that without which they are
// false.
const (
	Interference Assumption = "xi ≥ 1"
	RunningFirst Assumption = "the running job is done first"
	EqualFactors Assumption = "both jobs slow down alike"
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
// Not in the source: Eqs. (18) to (25) have no k where B is done first, take A
// for the running job where A is, and divide by the wrong time in Eq. (22).
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
// completion times no greater than starting when B is done. It is so iff
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

// SharePrinted is the printed condition, 2 xi_B + xi_A > 2 xi_A xi_B.
func (p *Pair) SharePrinted() bool {
	return sum(p.XiRunning, p.XiRunning, p.XiNew).Cmp(product(big.NewRat(2, 1), p.XiNew, p.XiRunning)) > 0
}

// ShareSwapped is the printed condition with the roles exchanged, which is right
// where B is done first: 2 xi_A + xi_B > 2 xi_A xi_B.
func (p *Pair) ShareSwapped() bool {
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

// Theorem1 evaluates the theorem on a pair: Left is T_A + T_B at the end, 0 or
// b, that the form's condition chooses, and Right is the least sum over all k.
// Where they differ the condition is wrong. It panics for forms other than
// Printed, Swapped and Sharp.
//
// The condition with exchanged letters is right where B is done first, however
// early A starts, and the printed one if the factors are equal besides.
func (p *Pair) Theorem1(form string) Result {
	share, ok := map[string]func() bool{Printed: p.SharePrinted, Swapped: p.ShareSwapped, Sharp: p.Share}[form]
	if !ok {
		panic("theorems: " + PairTheorem1 + " has no form " + form)
	}
	r := Result{Statement: PairTheorem1, Form: form, AtOptimum: true, Verdict: Holds}
	if p.Validate() != nil {
		r.Unmet = []Assumption{Interference}
		r.Verdict = NotApplicable
		return r
	}
	if form != Sharp {
		r.lack(product(p.XiNew, p.New).Cmp(product(p.XiRunning, p.Running)) >= 0, RunningFirst)
	}
	if form == Printed {
		r.lack(p.XiNew.Cmp(p.XiRunning) == 0, EqualFactors)
	}
	at := p.Running
	if share() {
		at = new(big.Rat)
	}
	r.Left = p.Sum(at)
	_, r.Right = p.Least()
	r.Slack = new(big.Rat).Sub(r.Right, r.Left)
	if r.Slack.Sign() < 0 {
		r.Verdict = Violated
	}
	return r
}
