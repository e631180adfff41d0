package theorems_test

import (
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/heuristics/asrpt"
	"yardstick/sched"
)

// TestPermuting: the order of jobs does not matter where no two are equal.
func TestPermuting(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s := randomSample(rng)
		for i := range s.in.Jobs { // all different
			s.in.Jobs[i].Release = sched.Time(7*rng.IntN(9) + i)
			s.in.Jobs[i].Stages[0].Compute += sched.Duration(rng.IntN(900) + 7*i)
		}
		s.options.Ties = asrpt.ByRelease
		run := observe(t, s, theorems.Interval{Lower: rat(1, 1)})
		want, err := theorems.Evaluate(s.in, run)
		if err != nil {
			t.Fatal(err)
		}
		perm := rng.Perm(len(s.in.Jobs))
		in, other := *s.in, run
		in.Jobs = permuted(in.Jobs, perm)
		other.Start, other.Completion, other.AlphaTilde = permuted(run.Start, perm), permuted(run.Completion, perm), permuted(run.AlphaTilde, perm)
		other.Predicted = permuted(run.Predicted, perm)
		got, err := theorems.Evaluate(&in, other)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i].Statement == theorems.PerJob {
				got[i].Job = sched.JobID(perm[got[i].Job])
			}
		}
		if !reflect.DeepEqual(text(got), text(want)) {
			t.Fatalf("seed %d: permuted by %v\n%v\nwant\n%v", seed, perm, text(got), text(want))
		}
	}
}

func permuted[T any](v []T, perm []int) []T {
	var out []T
	for _, i := range perm {
		out = append(out, v[i])
	}
	return out
}

// text writes results so that equal ones look equal.
func text(results []theorems.Result) []string {
	var out []string
	for _, r := range results {
		line := r.Statement + " " + r.Form + " " + string(r.Verdict)
		for _, v := range []*big.Rat{r.Left, r.Right, r.Slack, r.Bound} {
			if v == nil {
				line += " -"
			} else {
				line += " " + v.RatString()
			}
		}
		out = append(out, line+" "+string(rune('0'+r.Job)))
	}
	return out
}

// TestScaling: all times c times as long, so are both sides.
func TestScaling(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 4))
		factor := 2 + rng.Int64N(9)
		c := example()
		for i := range c.Jobs {
			j := &c.Jobs[i]
			j.Predicted = rng.Int64N(12)
			j.AlphaTilde = rat(4*(1+rng.Int64N(9)), 1) // so that nothing is rounded
		}
		c.Tau = rat(rng.Int64N(3), 1)
		want := rows(t, c)
		for i := range c.Jobs {
			j := &c.Jobs[i]
			f := rat(factor, 1)
			j.Release *= sched.Time(factor)
			j.Start *= sched.Time(factor)
			j.Completion *= sched.Time(factor)
			j.AlphaMin = new(big.Rat).Mul(j.AlphaMin, f)
			j.AlphaTilde = new(big.Rat).Mul(j.AlphaTilde, f)
			j.AlphaMax = new(big.Rat).Mul(j.AlphaMax, f)
		}
		opt := new(big.Rat).Mul(c.Optimum.Lower, rat(factor, 1))
		c.Optimum = theorems.Interval{Lower: opt, Upper: opt}
		for i, r := range rows(t, c) {
			if r.Verdict == theorems.NotApplicable {
				continue
			}
			scaled := func(got, want *big.Rat) bool { return got.Cmp(new(big.Rat).Mul(want, rat(factor, 1))) == 0 }
			if !scaled(r.Left, want[i].Left) || !scaled(r.Right, want[i].Right) || r.Verdict != want[i].Verdict {
				t.Fatalf("seed %d, factor %d: %s %s: %v ≤ %v, before %v ≤ %v", seed, factor, r.Statement, r.Form, r.Left, r.Right, want[i].Left, want[i].Right)
			}
		}
	}
}

func rows(t *testing.T, c *theorems.Case) []theorems.Result {
	t.Helper()
	s := symbols(t, c)
	longest, sumLongest := theorems.Jobs(s, false)
	realised, sumRealised := theorems.Jobs(s, true)
	return []theorems.Result{theorems.PrintedLemma1(s), theorems.SharpLemma1(s), theorems.PrintedLemma2(s), theorems.SharpLemma2(s),
		theorems.PrintedLemma3(s), theorems.SharpLemma3(s), theorems.PrintedTheorem1(s), theorems.SharpTheorem1(s), theorems.ZeroErrorTheorem1(s),
		longest, sumLongest, realised, sumRealised}
}

// TestSharpIsSharper: with the same symbols no sharp right side is larger than
// the printed one.
func TestSharpIsSharper(t *testing.T) {
	for seed := range uint64(400) {
		s := randomSample(rand.New(rand.NewPCG(seed, 5)))
		printed, _, err := theorems.SymbolsOf(s.in, observe(t, s, optimum(t, s.in)))
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]theorems.Result{
			{theorems.SharpLemma1(printed), theorems.PrintedLemma1(printed)},
			{theorems.SharpLemma2(printed), theorems.PrintedLemma2(printed)},
			{theorems.SharpLemma3(printed), theorems.PrintedLemma3(printed)},
			{theorems.SharpTheorem1(printed), theorems.PrintedTheorem1(printed)},
		} {
			if sharp, loose := pair[0], pair[1]; loose.Verdict != theorems.Vacuous && sharp.Right.Cmp(loose.Right) > 0 {
				t.Fatalf("seed %d: %s: sharp %v, printed %v\n%+v", seed, sharp.Statement, sharp.Right, loose.Right, s)
			}
		}
	}
}

// TestDepartures: the statements say so when a run is not in the order of
// virtual completions, or slotted.
func TestDepartures(t *testing.T) {
	early, slotted := 0, 0
	for seed := range uint64(400) {
		s := randomSample(rand.New(rand.NewPCG(seed, 6)))
		s.options.IdleStart = true
		r, err := theorems.Evaluate(s.in, observe(t, s, theorems.Interval{}))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r {
			if x.Statement == theorems.PerJob && slices.Contains(x.Unmet, theorems.QueueOrder) {
				early++
			}
		}
		s.options.IdleStart = false
		in := *s.in
		in.Slot = 5
		s.in = &in
		if r, err = theorems.Evaluate(s.in, observe(t, s, theorems.Interval{})); err != nil {
			t.Fatal(err)
		}
		for _, x := range r {
			if slices.Contains(x.Unmet, theorems.Continuous) != (x.Statement != theorems.Lemma1 && x.Statement != theorems.Lemma3) {
				t.Fatalf("seed %d: %s %s of a slotted run: unmet %q", seed, x.Statement, x.Form, x.Unmet)
			}
			slotted++
		}
	}
	if early < 100 || slotted == 0 {
		t.Errorf("%d rows not in order, %d slotted", early, slotted)
	}
}
