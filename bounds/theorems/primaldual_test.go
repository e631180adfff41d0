package theorems_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/bounds/theorems"
)

// TestLog2: the bounds are close and enclose the logarithm, by raising 2 to
// them, which is exact for a few digits, and by comparing with floating point.
func TestLog2(t *testing.T) {
	for k := range int64(70) {
		power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(k)))
		low, high := theorems.Log2(power)
		if low.Cmp(rat(k, 1)) != 0 || high.Cmp(low) != 0 {
			t.Errorf("log 2^%d is between %v and %v", k, low, high)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := big.NewRat(1+r.Int64N(1<<uint(1+r.IntN(60))), 1+r.Int64N(1<<uint(1+r.IntN(20))))
		if x.Cmp(rat(1, 1)) < 0 {
			x.Inv(x)
		}
		low, high := theorems.Log2(x)
		f, _ := x.Float64()
		a, _ := low.Float64()
		b, _ := high.Float64()
		if want := math.Log2(f); a > want+1e-13 || b < want-1e-13 || b-a > 1e-14 || low.Cmp(high) > 0 {
			t.Fatalf("log %v = %v is not between %v and %v", x, want, a, b)
		}
	}
	// 2^(19/12) < 3 < 2^(8/5): 2^19 < 3^12 and 3^5 < 2^8.
	low, high := theorems.Log2(rat(3, 1))
	if low.Cmp(rat(19, 12)) <= 0 || high.Cmp(rat(8, 5)) >= 0 {
		t.Errorf("log 3 is between %v and %v", low, high)
	}
}

func TestPowers(t *testing.T) {
	for _, c := range []struct {
		base, x *big.Rat
		k       int
		equal   bool
	}{{rat(2, 1), rat(1, 1), 0, true}, {rat(2, 1), rat(3, 1), 1, false}, {rat(2, 1), rat(8, 1), 3, true}, {rat(3, 2), rat(9, 4), 2, true},
		{rat(3, 2), rat(2, 1), 1, false}, {rat(11, 10), rat(100, 1), 48, false}, {rat(7, 1), rat(2, 1), 0, false}} {
		if k, equal := theorems.Powers(c.base, c.x); k != c.k || equal != c.equal {
			t.Errorf("%v to the %d is at most %v (%t), want %d (%t)", c.base, k, c.x, equal, c.k, c.equal)
		}
	}
}

// TestPaperAlpha compares with the formula in floating point.
func TestPaperAlpha(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	for range 300 {
		lambda, total := 2+r.Float64()*1e6, 1+r.Float64()*1e4
		low, high := theorems.PaperAlpha(new(big.Rat).SetFloat64(lambda), new(big.Rat).SetFloat64(total), rat(1, 1))
		l := math.Log2(lambda)
		want := int(math.Log2(total)/(1+math.Log2(l)-math.Log2(2*l-1))) + 1
		if low != high || low != want {
			t.Errorf("λ = %v, w(J)/w_min = %v: alpha is %d to %d, want %d", lambda, total, low, high, want)
		}
	}
}

// is compares a result with what it must be.
func is(t *testing.T, r theorems.Result, verdict theorems.Verdict, left, right *big.Rat, unmet ...theorems.Assumption) {
	t.Helper()
	same := func(a, b *big.Rat) bool { return (a == nil) == (b == nil) && (a == nil || a.Cmp(b) == 0) }
	if r.Verdict != verdict || !same(r.Left, left) || !same(r.Right, right) || !slices.Equal(r.Unmet, unmet) {
		t.Errorf("%s %s: %v ≤ %v %s, unmet %q; want %v ≤ %v %s, %q", r.Statement, r.Form, r.Left, r.Right, r.Verdict, r.Unmet, left, right, verdict, unmet)
	}
	if left != nil && right != nil && r.Slack.Cmp(new(big.Rat).Sub(right, left)) != 0 {
		t.Errorf("%s %s: slack %v", r.Statement, r.Form, r.Slack)
	}
}

func TestPricing1(t *testing.T) {
	is(t, theorems.Pricing1(theorems.Pricing{Returned: rat(5, 1), Optimum: rat(4, 1), Saves: true}), theorems.Violated, rat(5, 1), rat(4, 1), theorems.NoSaving)
	is(t, theorems.Pricing1(theorems.Pricing{Returned: rat(4, 1), Optimum: rat(4, 1)}), theorems.Holds, rat(4, 1), rat(4, 1))
	is(t, theorems.Pricing1(theorems.Pricing{Optimum: rat(7, 1), Saves: true}), theorems.Violated, nil, rat(7, 1), theorems.NoSaving)
	is(t, theorems.Pricing1(theorems.Pricing{Ring: true, Saves: true}), theorems.Holds, nil, nil)
	if r := theorems.Pricing1(theorems.Pricing{Ring: true}); r.Statement != theorems.PrimalDualTheorem6 {
		t.Errorf("%+v", r)
	}
}

func TestFeasible(t *testing.T) {
	m := theorems.MaxWeight{Load: rat(1, 1), Jobs: []theorems.DualJob{{rat(5, 1), rat(3, 1), rat(4, 1)}, {rat(101, 1), rat(0, 1), rat(7, 1)}, {rat(9, 1), rat(0, 1), nil}}, Refused: true}
	r := theorems.Feasible(m)
	is(t, r[0], theorems.Holds, rat(1, 1), rat(1, 1))
	is(t, r[1], theorems.Violated, rat(101, 1), rat(7, 1), theorems.NoneRefused)
	if r[1].Job != 1 || r[1].Contradiction() {
		t.Errorf("%+v", r[1])
	}
	m.Load, m.Jobs, m.Refused, m.Ring = rat(6, 5), m.Jobs[:1], false, true
	r = theorems.Feasible(m)
	is(t, r[0], theorems.Violated, rat(6, 5), rat(1, 1))
	is(t, r[1], theorems.Holds, rat(5, 1), rat(7, 1))
	if r[0].Statement != theorems.PrimalDualTheorem7 {
		t.Errorf("%+v", r[0])
	}
}

// TestApproximation: λ = 8, so that everything is whole.
func TestApproximation(t *testing.T) {
	m := theorems.MaxWeight{Weight: rat(10, 1), Lambda: rat(8, 1), MuS: rat(1, 2), Optimum: theorems.Interval{Lower: rat(45, 1), Upper: rat(45, 1)},
		WeightsInRange: true, SmallDemands: true, Prohibitive: true}
	is(t, theorems.Approximation(m, theorems.Printed), theorems.Holds, rat(45, 1), rat(60, 1))
	is(t, theorems.Approximation(m, theorems.Sharp), theorems.Holds, rat(45, 1), rat(45, 1))
	m.Optimum = theorems.Interval{Lower: rat(44, 1), Upper: rat(70, 1)}
	m.Prohibitive = false
	is(t, theorems.Approximation(m, theorems.Printed), theorems.Undecided, rat(70, 1), rat(60, 1), theorems.Prohibitive)
	m.Optimum.Lower = rat(61, 1)
	is(t, theorems.Approximation(m, theorems.Printed), theorems.Violated, rat(70, 1), rat(60, 1), theorems.Prohibitive)
	m.MuS = nil
	is(t, theorems.Approximation(m, theorems.Sharp), theorems.NotApplicable, nil, nil)
	m.Optimum = theorems.Interval{}
	is(t, theorems.Approximation(m, theorems.Printed), theorems.Undecided, nil, rat(60, 1), theorems.Prohibitive)
}

// TestCovered: gamma = 2. w(J)/w_min = 19/5: as printed alpha is 2, in truth 3.
func TestCovered(t *testing.T) {
	d := theorems.Rounds{Weights: []*big.Rat{rat(7, 1), rat(5, 1), rat(7, 1)}, Optimum: theorems.Interval{Lower: rat(14, 1), Upper: rat(14, 1)},
		Gamma: rat(2, 1), Total: rat(19, 1), Least: rat(5, 1), Approximates: true}
	is(t, theorems.Covered(d, theorems.Printed), theorems.Violated, rat(14, 1), rat(12, 1), theorems.LastProblem)
	is(t, theorems.Covered(d, theorems.Sharp), theorems.Holds, rat(14, 1), rat(19, 1))
	d.Total = rat(20, 1) // exactly 4 times
	is(t, theorems.Covered(d, theorems.Printed), theorems.Holds, rat(14, 1), rat(19, 1), theorems.LastProblem)
	d.Weights[1], d.Approximates = rat(8, 1), false
	is(t, theorems.Covered(d, theorems.Sharp), theorems.Holds, rat(14, 1), rat(22, 1), theorems.Approximates)
}

// TestCoveredRandom: Lemma 2 with the larger alpha holds for whatever a
// gamma-approximation schedules, and so does the printed one where its proof's
// assumption is met.
func TestCoveredRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	violated := 0
	for range 3000 {
		n := 2 + r.IntN(4)
		d := theorems.Rounds{Gamma: rat(2, 1), Total: new(big.Rat), Approximates: true}
		left := make([]int64, n)
		for i := range left {
			left[i] = 5 + r.Int64N(5)
			d.Total.Add(d.Total, rat(left[i], 1))
			if d.Least == nil || d.Least.Cmp(rat(left[i], 1)) > 0 {
				d.Least = rat(left[i], 1)
			}
		}
		pairs := r.Perm(n)[:2] // these two, or any one, fit
		optimum := func() int64 {
			best := left[pairs[0]] + left[pairs[1]]
			for _, w := range left {
				best = max(best, w)
			}
			return best
		}
		d.Optimum = theorems.Interval{Lower: rat(optimum(), 1), Upper: rat(optimum(), 1)}
		for optimum() > 0 { // any set of at least half the weight
			most := optimum()
			var able []int
			for i, w := range left {
				if w > 0 && 2*w >= most {
					able = append(able, i)
				}
			}
			if len(able) == 0 {
				d.Weights = append(d.Weights, rat(left[pairs[0]]+left[pairs[1]], 1))
				left[pairs[0]], left[pairs[1]] = 0, 0
				continue
			}
			i := able[r.IntN(len(able))]
			d.Weights = append(d.Weights, rat(left[i], 1))
			left[i] = 0
		}
		if got := theorems.Covered(d, theorems.Sharp); got.Verdict != theorems.Holds || !got.Met() {
			t.Fatalf("%+v\n%+v", d, got)
		}
		got := theorems.Covered(d, theorems.Printed)
		if got.Contradiction() {
			t.Fatalf("%+v\n%+v", d, got)
		}
		if got.Verdict == theorems.Violated {
			violated++
		}
	}
	t.Logf("as printed, violated %d times", violated)
	if violated == 0 {
		t.Error("never violated as printed")
	}
}

func TestOnlineStatements(t *testing.T) {
	o := theorems.OnlineRun{Cost: rat(100, 1), Optimum: theorems.Interval{Lower: rat(20, 1), Upper: rat(24, 1)}, Alpha: 1, Kept: true}
	is(t, theorems.Competitive(o), theorems.Violated, rat(100, 1), rat(80, 1))
	o.Optimum.Upper = rat(25, 1)
	is(t, theorems.Competitive(o), theorems.Undecided, rat(100, 1), rat(80, 1))
	o.Alpha, o.Kept = 2, false
	is(t, theorems.Competitive(o), theorems.Holds, rat(100, 1), rat(160, 1), theorems.PromisesKept)
	is(t, theorems.PrintedTheorem5(o), theorems.NotApplicable, nil, nil)
	// λ = 4: gamma = 4, gamma/(gamma−1) = 4/3, log 10/log(4/3) = 8.004: alpha = 9.
	o.Lambda, o.Total, o.Least = rat(4, 1), rat(10, 1), rat(1, 1)
	o.WeightsInRange, o.SmallDemands = true, true
	is(t, theorems.PrintedTheorem5(o), theorems.Holds, rat(100, 1), rat(4*9*20, 1), theorems.Prohibitive)
	o.Optimum = theorems.Interval{}
	is(t, theorems.PrintedTheorem5(o), theorems.Undecided, rat(100, 1), rat(0, 1), theorems.Prohibitive)
	for _, r := range theorems.Complexity() {
		is(t, r, theorems.NotApplicable, nil, nil, theorems.Constants)
	}
}
