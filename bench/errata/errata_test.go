package errata_test

import (
	"context"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/errata"
	"yardstick/bounds/theorems"
	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

// check runs an entry and logs what it measures.
func check(t *testing.T, texts map[string]string, found *errata.Evidence, err error) {
	t.Helper()
	for what, text := range texts {
		if strings.TrimSpace(text) == "" {
			t.Errorf("%s is missing", what)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Facts) == 0 {
		t.Error("nothing is measured")
	}
	for _, f := range found.Facts {
		t.Logf("%s: %s %s", f.What, f.Got.FloatString(4), f.Unit)
	}
	for _, r := range found.Results {
		if r.Contradiction() {
			t.Errorf("%s %s is violated though its assumptions are met: %v > %v", r.Statement, r.Form, r.Left, r.Right)
		}
		if r.Verdict == theorems.Violated {
			t.Logf("%s, %s: violated; unmet %q", r.Statement, r.Form, r.Unmet)
		}
	}
}

func passage(p errata.Passage) map[string]string {
	return map[string]string{"paper": p.Paper, "where": p.Where, "quote": p.Quote}
}

// TestErrata runs every erratum: its counterexample lies inside the scope that it
// states, clause by clause, and has the values that it must have.
func TestErrata(t *testing.T) {
	for _, e := range errata.Errata() {
		t.Run(e.Name, func(t *testing.T) {
			texts := passage(e.Passage)
			texts["finding"], texts["correction"] = e.Finding, e.Correction
			found, err := e.Run(context.Background())
			check(t, texts, found, err)
			if err := e.Check(found); err != nil {
				t.Error(err)
			}
			for _, c := range found.Scope {
				t.Logf("within: %s", c.Text)
			}
		})
	}
}

// TestRemarks runs every remark: what it says is true is checked, and no statement of
// a paper fails within its assumptions.
func TestRemarks(t *testing.T) {
	for _, r := range errata.Remarks() {
		t.Run(r.Name, func(t *testing.T) {
			texts := passage(r.Passage)
			texts["finding"], texts["what is true"] = r.Finding, r.True
			found, err := r.Run(context.Background())
			check(t, texts, found, err)
			if err := found.Check(); err != nil {
				t.Error(err)
			}
			for _, x := range found.Results {
				within := !slices.ContainsFunc(x.Unmet, func(u theorems.Assumption) bool { return !u.Unstated() })
				if x.Form == theorems.Printed && x.Verdict == theorems.Violated && within {
					t.Errorf("%s is violated as printed within its scope, and this is no erratum", x.Statement)
				}
			}
		})
	}
}

// TestNames: every entry has a name of its own, and a paper that is known.
func TestNames(t *testing.T) {
	var names []string
	of := func(name string, p errata.Passage) {
		names = append(names, name)
		if !slices.Contains(errata.Papers(), p.Paper) {
			t.Errorf("%s is about %q", name, p.Paper)
		}
	}
	for _, e := range errata.Errata() {
		of(e.Name, e.Passage)
	}
	for _, r := range errata.Remarks() {
		of(r.Name, r.Passage)
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("names %v", names)
	}
	for _, s := range errata.Slips() {
		if !slices.Contains(errata.Papers(), s.Paper) || s.Where == "" || s.Quote == "" || s.Read == "" {
			t.Errorf("%+v", s)
		}
	}
}

// TestCheck: evidence that is not as expected is reported, and so is a
// counterexample that misses a clause of the scope or leaves one unchecked.
func TestCheck(t *testing.T) {
	for _, e := range errata.Errata() {
		if e.Name == "starved" || e.Name == "slotted-lemma-2" {
			continue // they take longer and are alike
		}
		found, err := e.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for i := range found.Facts {
			f := found.Facts[i]
			found.Facts[i].Want = new(big.Rat).Add(f.Want, big.NewRat(1, 1_000_000_000))
			if e.Check(found) == nil {
				t.Errorf("%s: a wrong %s passes", e.Name, f.What)
			}
			found.Facts[i] = f
		}
		for i := range found.Expected {
			x := found.Expected[i]
			found.Expected[i].Want = theorems.Undecided
			if e.Check(found) == nil {
				t.Errorf("%s: a wrong verdict on %s passes", e.Name, x.Statement)
			}
			found.Expected[i] = x
		}
		for i := range found.Scope {
			found.Scope[i].Met = false
			if e.Check(found) == nil {
				t.Errorf("%s: a counterexample passes outside the scope %q", e.Name, found.Scope[i].Text)
			}
			found.Scope[i].Met = true
		}
		for i := range found.Results {
			unmet := found.Results[i].Unmet
			found.Results[i].Unmet = append(slices.Clone(unmet), theorems.SmallDemands)
			refuted := slices.ContainsFunc(found.Expected, func(x errata.Expectation) bool {
				return x.Want == theorems.Violated && x.Statement == found.Results[i].Statement && x.Form == found.Results[i].Form
			})
			if refuted && e.Check(found) == nil {
				t.Errorf("%s: a run that does not meet what the paper states passes", e.Name)
			}
			found.Results[i].Unmet = unmet
		}
		found.Scope = found.Scope[1:]
		if e.Check(found) == nil {
			t.Errorf("%s: a clause of the scope that is not checked passes", e.Name)
		}
	}
}

func replay(t *testing.T, in *sched.Instance, o asrpt.Options) *verify.Verified {
	t.Helper()
	r, err := sim.Run(context.Background(), in, asrpt.Perfect(o), sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := verify.Check(in, r.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestBlocker compares the family's ratios with known ones and with the limit.
func TestBlocker(t *testing.T) {
	for _, test := range []struct {
		gpus, gmax, k int
		ratio         string
	}{
		{8, 8, 1000, "8.925"}, {4, 2, 10_000, "2.330"}, {8, 4, 10_000, "2.596"}, {8, 8, 10_000, "8.953"}, {16, 16, 10_000, "16.893"}, {64, 32, 10_000, "2.934"},
	} {
		in, better, err := errata.Blocker(test.gpus, test.gmax, test.k)
		if err != nil {
			t.Fatal(err)
		}
		best, err := verify.Check(in, better)
		if err != nil {
			t.Fatal(err)
		}
		v := replay(t, in, asrpt.Options{})
		ratio := new(big.Rat).Quo(v.Cost(sched.TotalCompletion), best.Cost(sched.TotalCompletion))
		b0 := test.gpus - test.gmax + 1
		if got := ratio.FloatString(3); got != test.ratio || ratio.Cmp(big.NewRat(int64(b0+test.gpus), int64(b0))) >= 0 {
			t.Errorf("G = %d, gmax = %d, k = %d: ratio %s, want %s", test.gpus, test.gmax, test.k, got, test.ratio)
		}
	}
}

// TestBetterIsBest: for few jobs the schedules that errata compare with are
// optimal, by exact search.
func TestBetterIsBest(t *testing.T) {
	for _, size := range [][3]int{{4, 2, 6}, {4, 4, 6}, {8, 5, 7}, {8, 8, 7}} {
		in, better, err := errata.Blocker(size[0], size[1], size[2])
		if err != nil {
			t.Fatal(err)
		}
		compareWithOptimum(t, in, better)
	}
	for servers := 2; servers <= 3; servers++ {
		in, better := errata.SplitStage(servers, 4_033_000_000)
		compareWithOptimum(t, in, better)
	}
}

func compareWithOptimum(t *testing.T, in *sched.Instance, better *sched.Schedule) {
	t.Helper()
	v, err := verify.Check(in, better)
	if err != nil {
		t.Fatal(err)
	}
	r, err := exhaustive.Solve(context.Background(), in, sched.TotalCompletion, exact.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Cost(sched.TotalCompletion); got.Cmp(r.Cost) != 0 || r.Bound.Cmp(r.Cost) != 0 {
		t.Errorf("%s of %d GPUs: the schedule costs %v, the optimum %v", in.Name, in.Cluster.GPUs(), got, r.Cost)
	}
}

// TestContinuous: the instances that break the statements in slots keep them in
// continuous time.
func TestContinuous(t *testing.T) {
	in, better, err := errata.Alternating(20)
	if err != nil {
		t.Fatal(err)
	}
	in.Slot = 0
	best, err := verify.Check(in, better)
	if err != nil {
		t.Fatal(err)
	}
	o := asrpt.Options{Tau: new(big.Rat)}
	results, err := errata.Theorems(replay(t, in, o), o, nil, theorems.Interval{Upper: best.Cost(sched.TotalCompletion)})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Verdict != theorems.Holds && r.Verdict != theorems.Undecided || !r.Met() {
			t.Errorf("%s %s: %s, unmet %q", r.Statement, r.Form, r.Verdict, r.Unmet)
		}
	}
}

// TestTheorems: options that are not given are filled in as the policy does.
func TestTheorems(t *testing.T) {
	in := errata.OneJob(8, 4)
	v := replay(t, in, asrpt.Options{})
	opt := theorems.Interval{Lower: big.NewRat(8_000_000, 1), Upper: big.NewRat(8_000_000, 1)}
	got, err := errata.Theorems(v, asrpt.Options{}, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := theorems.Headline(got)
	if !ok || r.Verdict != theorems.Holds || r.Bound.Cmp(big.NewRat(5, 1)) != 0 { // 2 + 1 + 8/4
		t.Errorf("headline %+v", r)
	}
}

// TestOtherModels: where GPUs are shared the theorems do not apply.
func TestOtherModels(t *testing.T) {
	schedtest.EachSeed(t, 5, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Sharing(r, schedtest.Shape{Jobs: 4, Servers: 2, GPUs: 3, Stages: 2})
		got, err := errata.Theorems(replay(t, in, asrpt.Options{}), asrpt.Options{}, nil, theorems.Interval{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got {
			if r.Verdict != theorems.NotApplicable {
				t.Errorf("%s %s: %s", r.Statement, r.Form, r.Verdict)
			}
		}
	})
}
