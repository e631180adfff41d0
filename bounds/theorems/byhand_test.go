package theorems_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/sched"
)

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

// example is a run by hand. G = 4, tau = 1/2. Job 0: two GPUs, released at 0, 3
// iterations of which 5 are predicted, alphas 10, 12, 20. Job 1: one GPU, released
// at 4, 4 iterations of which 2 are predicted, alphas 6, 6, 9. Virtual sizes are
// 2/4·5·12 = 30 and 1/4·2·6 = 3; job 1 preempts, so C^v = 33 and 7, OPT_Ã1 = 40. On
// A1, with sizes 18 and 6, they end at 24 and 10: OPT_A1 = 34. A-SRPT starts job 1
// at 7 for 30 and job 0 at 33 for 40: Gamma = 37 + 73 = 110. Better is job 0 at 0
// for 30 and job 1 at 4 for 24: OPT_A = 30 + 28 = 58.
func example() *theorems.Case {
	return &theorems.Case{GPUs: 4, Tau: rat(1, 2), Optimum: theorems.Interval{Lower: rat(58, 1), Upper: rat(58, 1)}, Jobs: []theorems.Job{
		{Release: 0, Gang: 2, Iters: 3, Predicted: 5, AlphaMin: rat(10, 1), AlphaTilde: rat(12, 1), AlphaMax: rat(20, 1), Start: 33, Completion: 73},
		{Release: 4, Gang: 1, Iters: 4, Predicted: 2, AlphaMin: rat(6, 1), AlphaTilde: rat(6, 1), AlphaMax: rat(9, 1), Start: 7, Completion: 37},
	}}
}

func symbols(t *testing.T, c *theorems.Case) *theorems.Symbols {
	t.Helper()
	s, err := c.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestByHand compares both sides of every statement with values by hand. b = 1,
// rho = 2, eps = 4; max alpha_max/alpha~ = 5/3, max alpha~/alpha_min = 6/5;
// Σ_O g(ñ−n)alpha~/G = 12, Σ_U g(n−ñ)alpha~/G = 3, Σ_U g(n−ñ)alpha_max = 18,
// Σ n·alpha_max = 96; D = 3, G/D = 4/3, 1 + tau + (5/3)(4/3) = 67/18.
func TestByHand(t *testing.T) {
	s := symbols(t, example())
	longest, sumLongest := theorems.Jobs(s, false)
	realised, sumRealised := theorems.Jobs(s, true)
	for _, test := range []struct {
		got         theorems.Result
		left, right *big.Rat
	}{
		{theorems.PrintedLemma1(s), rat(34, 1), rat(2*58, 1)},
		{theorems.SharpLemma1(s), rat(34, 1), rat(6*58, 5)},
		// (1 + 1/2 + 2·4/2)·40 + 2·2·20·4/2 + 2·58
		{theorems.PrintedLemma2(s), rat(110, 1), rat(220+160+116, 1)},
		// 67/18·40 + 2·18/3 + 96
		{theorems.SharpLemma2(s), rat(110, 1), rat(67*40+18*108, 18)},
		{theorems.PrintedLemma3(s), rat(40, 1), rat(34+2*2*20*4/4, 1)},
		{theorems.SharpLemma3(s), rat(40, 1), rat(34+2*12-3, 1)},
		// ((2 + 1/2 + 4)·2 + 2·2·2·(20/6)·(1 + 1/2 + 3·4/2)·(4/2))·58
		{theorems.PrintedTheorem1(s), rat(110, 1), rat((13+400)*58, 1)},
		// 67/18·(6/5·58 + 2·12 − 3) + 2·18/3 + 2·58
		{theorems.SharpTheorem1(s), rat(110, 1), rat(67*453+90*128, 90)},
		// Job 1 is first: 7 + floor(3/2) + 36 = 44. Job 0: 33 + 1 + 15 + 36/3 + 60 = 121.
		{longest, rat(37, 1), rat(44, 1)},
		{sumLongest, rat(110, 1), rat(165, 1)},
		// Job 1: 7 + 1 + 30 = 38. Job 0: 33 + 1 + 15 + 30/3 + 40 = 99.
		{realised, rat(37, 1), rat(38, 1)},
		{sumRealised, rat(110, 1), rat(137, 1)},
	} {
		r := test.got
		if r.Left.Cmp(test.left) != 0 || r.Right.Cmp(test.right) != 0 || r.Verdict != theorems.Holds || !r.Met() || !r.AtOptimum ||
			new(big.Rat).Sub(r.Right, r.Left).Cmp(r.Slack) != 0 {
			t.Errorf("%s %s: %v ≤ %v %s, unmet %q; want %v ≤ %v", r.Statement, r.Form, r.Left, r.Right, r.Verdict, r.Unmet, test.left, test.right)
		}
		if (r.Bound != nil) != (r.Left.Cmp(rat(110, 1)) == 0) || r.Bound != nil && new(big.Rat).Mul(r.Bound, rat(58, 1)).Cmp(r.Right) != 0 {
			t.Errorf("%s %s: bound %v", r.Statement, r.Form, r.Bound)
		}
	}
	if longest.Job != 1 || realised.Job != 1 {
		t.Errorf("the tightest jobs are %d and %d", longest.Job, realised.Job)
	}
	if r := theorems.ZeroErrorTheorem1(s); r.Verdict != theorems.NotApplicable || r.Right != nil {
		t.Errorf("with wrong predictions the form without errors: %+v", r)
	}
	c := example()
	c.Jobs[0].Predicted, c.Jobs[1].Predicted = 3, 4 // C^v = 24 and 10
	s = symbols(t, c)
	if r := theorems.ZeroErrorTheorem1(s); r.Right.Cmp(rat(58*67*6+58*2*90, 90)) != 0 || r.Verdict != theorems.Holds {
		t.Errorf("with exact predictions: right side %v, %s", r.Right, r.Verdict)
	}
}

// TestRounding: what C^v is rounded up by is part of the right sides that need
// it.
func TestRounding(t *testing.T) {
	c := example()
	before := symbols(t, c)
	c.Jobs[1].AlphaTilde = rat(25, 4) // sizes 30 and 25/8, C^v = 33 + 1/8 and 7 + 1/8
	s := symbols(t, c)
	if s.Rounding.Cmp(rat(7, 4)) != 0 || before.Rounding.Sign() != 0 {
		t.Fatalf("rounding %v and %v, want 7/4 and 0", s.Rounding, before.Rounding)
	}
	// (1 + 1/2 + 2·4/2)·(40 + 1/4) + 160 + 116 + 7/4
	if got := theorems.PrintedLemma2(s).Right; got.Cmp(rat(3993, 8)) != 0 {
		t.Errorf("right side %v, want 3993/8", got)
	}
}

// TestVerdicts: OPT_A enters as an interval.
func TestVerdicts(t *testing.T) {
	c := example()
	c.Jobs[0].AlphaTilde = rat(10, 1) // alpha_min, so that the sharp Lemma 1 is OPT_A1 ≤ OPT_A
	optA1 := symbols(t, c).OptA1
	below, above := new(big.Rat).Sub(optA1, rat(1, 1)), new(big.Rat).Add(optA1, rat(1, 1))
	for _, test := range []struct {
		lower, upper *big.Rat
		want         theorems.Verdict
		atOptimum    bool
	}{
		{optA1, optA1, theorems.Holds, true},
		{optA1, above, theorems.Holds, false},
		{above, nil, theorems.Holds, false},
		{below, optA1, theorems.Undecided, false},
		{below, nil, theorems.Undecided, false}, // Gamma is an upper bound
		{nil, nil, theorems.Undecided, false},
		{below, below, theorems.Violated, true},
		{nil, below, theorems.Violated, false},
	} {
		c.Optimum = theorems.Interval{Lower: test.lower, Upper: test.upper}
		r := theorems.SharpLemma1(symbols(t, c))
		if r.Verdict != test.want || r.AtOptimum != test.atOptimum || r.Contradiction() != (test.want == theorems.Violated) {
			t.Errorf("OPT_A in [%v, %v]: %s, at the optimum %t; want %s, %t", test.lower, test.upper, r.Verdict, r.AtOptimum, test.want, test.atOptimum)
		}
	}
}

// TestAssumptions breaks one assumption at a time.
func TestAssumptions(t *testing.T) {
	for _, test := range []struct {
		want  theorems.Assumption
		spoil func(*theorems.Case)
	}{
		{theorems.Continuous, func(c *theorems.Case) { c.Slotted = true }},
		{theorems.Releases, func(c *theorems.Case) { c.Jobs[0].Release = -1 }},
		{theorems.Gangs, func(c *theorems.Case) { c.Jobs[0].Gang, c.Jobs[0].Predicted = 5, 2 }}, // of the same virtual size
		{theorems.Alphas, func(c *theorems.Case) { c.Jobs[1].AlphaTilde = rat(5, 1) }},
		{theorems.RunningTimes, func(c *theorems.Case) { c.Jobs[0].Completion = 94 }},
		{theorems.RunningTimes, func(c *theorems.Case) { c.Jobs[0].Completion = 62 }},
		{theorems.QueueOrder, func(c *theorems.Case) { c.Jobs[0].Start, c.Jobs[0].Completion = 32, 62 }},
		{theorems.QueueOrder, func(c *theorems.Case) { c.Jobs[1].Start, c.Jobs[1].Completion = 40, 70 }},
		{theorems.NoLoads, func(c *theorems.Case) { c.Loads = true }},
		{theorems.ExactAlphaMin, func(c *theorems.Case) { c.AlphaMinOpen = true }},
	} {
		c := example()
		test.spoil(c)
		if got := symbols(t, c).Unmet; !slices.Equal(got, []theorems.Assumption{test.want}) {
			t.Errorf("unmet %q, want %q", got, test.want)
		}
		if r := theorems.PrintedTheorem1(symbols(t, c)); r.Met() || r.Contradiction() {
			t.Errorf("Theorem 1 does not mind that %q is unmet", test.want)
		}
	}
	c := example()
	c.Jobs[0].Iters, c.Jobs[0].Completion = 0, 33
	if got := symbols(t, c).Unmet; !slices.Equal(got, []theorems.Assumption{theorems.Iterations}) {
		t.Errorf("unmet %q, want %q", got, theorems.Iterations)
	}
}

// TestVacuous: a gang of all GPUs makes the printed right sides infinite, a
// larger one all.
func TestVacuous(t *testing.T) {
	c := example()
	c.Jobs[0].Gang = 4
	s := symbols(t, c)
	for _, r := range []theorems.Result{theorems.PrintedLemma2(s), theorems.PrintedTheorem1(s)} {
		if r.Verdict != theorems.Vacuous || r.Right != nil || r.Slack != nil || r.Left == nil {
			t.Errorf("%s: %+v", r.Statement, r)
		}
	}
	if r := theorems.SharpTheorem1(s); r.Verdict == theorems.Vacuous {
		t.Error("the sharp form is vacuous too")
	}
	c.Jobs[0].Gang = 6 // b = 1: D = −1
	s = symbols(t, c)
	worst, total := theorems.Jobs(s, true)
	for _, r := range []theorems.Result{theorems.SharpLemma2(s), theorems.SharpTheorem1(s), worst, total} {
		if r.Verdict != theorems.Vacuous || !slices.Contains(r.Unmet, theorems.Gangs) {
			t.Errorf("%s: %+v", r.Statement, r)
		}
	}
}

// TestDivisor: gangs of 2 and 4 on 4 GPUs leave none or two free.
func TestDivisor(t *testing.T) {
	c := example()
	c.Jobs[0].Gang, c.Jobs[1].Gang = 4, 2
	if s := symbols(t, c); s.Divisor != 2 || s.Widest != 4 {
		t.Errorf("b = %d, g_max = %d", s.Divisor, s.Widest)
	}
}

// TestNonsense: numbers of no run are errors.
func TestNonsense(t *testing.T) {
	for i, spoil := range []func(*theorems.Case){
		func(c *theorems.Case) { c.GPUs = 0 },
		func(c *theorems.Case) { c.Jobs = nil },
		func(c *theorems.Case) { c.Tau = nil },
		func(c *theorems.Case) { c.Tau = rat(-1, 1) },
		func(c *theorems.Case) { c.Jobs[0].AlphaMin = nil },
		func(c *theorems.Case) { c.Jobs[1].AlphaMax = new(big.Rat) },
		func(c *theorems.Case) { c.Jobs[1].Gang = 0 },
		func(c *theorems.Case) { c.Jobs[1].Predicted = -1 },
	} {
		c := example()
		spoil(c)
		if _, err := c.Symbols(); err == nil {
			t.Errorf("case %d is accepted", i)
		}
	}
	s := randomSample(rand.New(rand.NewPCG(1, 1)))
	run := observe(t, s, theorems.Interval{})
	run.Start = run.Start[1:]
	if _, err := theorems.Evaluate(s.in, run); err == nil {
		t.Error("a missing start is accepted")
	}
	elastic := &sched.Instance{Model: sched.ModelSharing, Cluster: s.in.Cluster, Jobs: s.in.Jobs}
	results, err := theorems.Evaluate(elastic, observe(t, s, theorems.Interval{}))
	want, _ := theorems.Evaluate(s.in, observe(t, s, theorems.Interval{}))
	if err != nil || len(results) != len(want) {
		t.Fatalf("%d rows, want %d: %v", len(results), len(want), err)
	}
	for i, r := range results {
		if r.Verdict != theorems.NotApplicable || r.Met() || r.Statement != want[i].Statement || r.Form != want[i].Form {
			t.Errorf("in the sharing model: %+v", r)
		}
	}
	if _, ok := theorems.Headline(results); ok {
		t.Error("there is a headline where nothing applies")
	}
}

// TestHeadline prefers the printed theorem.
func TestHeadline(t *testing.T) {
	c := example()
	printed := rows(t, c)
	if r, ok := theorems.Headline(printed); !ok || r.Form != theorems.Printed || r.Statement != theorems.Theorem1 || r.Bound.Cmp(rat(413, 1)) != 0 {
		t.Errorf("headline %+v", r)
	}
	c.Jobs[0].Gang = 4
	if r, ok := theorems.Headline(rows(t, c)); !ok || r.Form != theorems.Sharp {
		t.Errorf("with a gang of all GPUs: headline %+v", r)
	}
}

// TestSlicedJobs: with tensor slices, free GPUs may be of no use, and the proofs
// that count free GPUs do not hold.
func TestSlicedJobs(t *testing.T) {
	in := &sched.Instance{Name: "sliced", Model: sched.ModelGang, Cluster: sched.Uniform(2, 3, 1e9, 1e9), Jobs: []sched.Job{
		{Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 1, Slices: 2, Compute: 1e9}}}}}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	run := theorems.Run{Class: sched.Class{Kind: sched.N}, Tau: big.NewRat(1, 1), AlphaTilde: []*big.Rat{big.NewRat(1, 1)},
		Start: []sched.Time{sched.Second}, Completion: []sched.Time{2 * sched.Second}}
	results, err := theorems.Evaluate(in, run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range results {
		r := &results[i]
		needs := r.Statement != theorems.Lemma1 && r.Statement != theorems.Lemma3
		if slices.Contains(r.Unmet, theorems.WholeGPUs) != needs {
			t.Errorf("%s (%s): unmet %v", r.Statement, r.Form, r.Unmet)
		}
	}
}
