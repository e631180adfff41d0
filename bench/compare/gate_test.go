package compare

import (
	"math/big"
	"strings"
	"testing"

	"yardstick/bench/record"
)

func strict() Rules {
	return Rules{MaxRatio: new(big.Rat), NoNewFailures: true, NoWeakerBounds: true, NoViolations: true}
}

func mustGate(t *testing.T, run, base *record.Run, rules Rules) *Verdict {
	t.Helper()
	v, err := Gate(run, base, rules)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestGateOpen(t *testing.T) {
	for _, base := range []*record.Run{nil, result("a")} {
		if v := mustGate(t, result("b"), base, strict()); len(v.Reasons) != 0 || v.Rows != 24 {
			t.Errorf("%+v", v)
		}
	}
}

// Each rule finds its violation, says so in one line, and nothing else fires.
func TestGateReasons(t *testing.T) {
	type change struct {
		rule, text string
		to         func(*record.Ratio)
	}
	for _, c := range []change{
		{"bound", "beyond the proven bound", func(r *record.Ratio) { r.CostExact = "99/3" }},
		{"failure", "no schedule any more: CRASHED out of range", func(r *record.Ratio) {
			r.Cost, r.CostExact, r.Termination, r.Message = record.Opt[float64]{}, "", "CRASHED", "out\nof range"
			r.TheoremHolds, r.OptimumExact, r.LowerBoundExact = record.Opt[bool]{}, "", ""
			r.Optimum, r.LowerBound = record.Opt[float64]{}, record.Opt[float64]{}
		}},
		{"failure", "is missing", func(r *record.Ratio) { r.Instance = "another" }},
		{"failure", "cannot be compared", func(r *record.Ratio) { r.InstanceSHA256 = "bb" }},
		{"bound", "no longer proven", func(r *record.Ratio) { r.OptimumStatus = record.Claimed }},
		{"bound", "the bound is", func(r *record.Ratio) { r.LowerBoundExact = "199/6" }},
		{"theorem", "held, now it is does not hold", func(r *record.Ratio) { r.TheoremHolds = record.Some(false) }},
		{"ratio", "grew by", func(r *record.Ratio) { r.CostExact = "100000000001/2999999999" }},
	} {
		run := result("b")
		c.to(at(t, run, "small/0", "fifo"))
		v := mustGate(t, run, result("a"), strict())
		if len(v.Reasons) != 1 || v.Reasons[0].Rule != c.rule || !strings.Contains(v.Reasons[0].Text, c.text) || strings.Contains(v.Reasons[0].Text, "\n") {
			t.Errorf("want %s: %s, got %+v", c.rule, c.text, v.Reasons)
		}
		if lax := mustGate(t, run, result("a"), Rules{}); len(lax.Reasons) != 0 {
			t.Errorf("without rules: %+v", lax.Reasons)
		}
	}
}

func TestGateTheorem(t *testing.T) {
	run := result("b")
	run.Theorems = []record.Theorem{
		{Theorem: "T1", Form: "printed", Method: "m", Instance: "i", Met: true, Verdict: "violated"},
		{Theorem: "T2", Form: "printed", Method: "m", Instance: "i", Met: false, Verdict: "violated"},
	}
	v := mustGate(t, run, nil, strict())
	if len(v.Reasons) != 1 || !strings.HasPrefix(v.Reasons[0].Text, "T1 (printed) is violated by m on i") {
		t.Errorf("%+v", v.Reasons)
	}
}

// The allowance is exact: one ratio grows to 64/27 over three instances, so the
// mean grows by exactly a third.
func TestGateAllowance(t *testing.T) {
	base, run := result("a"), result("b")
	keep := func(r *record.Run) { r.Ratios = []record.Ratio{r.Ratios[0], r.Ratios[2], r.Ratios[4]} }
	keep(base)
	keep(run)
	cost, _ := new(big.Rat).SetString(string(run.Ratios[0].CostExact))
	run.Ratios[0].CostExact = record.Exact(cost.Mul(cost, big.NewRat(64, 27)))
	for share, open := range map[string]bool{"0": false, "+33.3333333333%": false, "1/3": true, "+33.4%": true} {
		rules := strict()
		var err error
		if rules.MaxRatio, err = ParseShare(share); err != nil {
			t.Fatal(err)
		}
		if v := mustGate(t, run, base, rules); (len(v.Reasons) == 0) != open {
			t.Errorf("%s: %+v", share, v.Reasons)
		}
	}
	for _, bad := range []string{"", "-1%", "x", "+", "NaN"} {
		if _, err := ParseShare(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// What a limit in time shaped is not compared, but may not contradict.
func TestGateWallLimited(t *testing.T) {
	run := result("b")
	r := at(t, run, "small/0", "fifo")
	r.WallLimited, r.LowerBoundExact, r.OptimumStatus, r.CostExact = true, "1", "", "500"
	v := mustGate(t, run, result("a"), strict())
	if len(v.Reasons) != 0 || v.Skipped != 1 {
		t.Errorf("%+v", v)
	}
	r.CostExact = "1/2"
	if v := mustGate(t, run, result("a"), strict()); len(v.Reasons) != 1 || v.Reasons[0].Rule != "bound" {
		t.Errorf("%+v", v)
	}
}

// A bracket that is wider than allowed stops the gate once, whatever the number of its
// rows; one as wide as allowed, or an optimum, does not.
func TestGateGaps(t *testing.T) {
	run := result("b")
	for i := range run.Ratios {
		r := &run.Ratios[i]
		r.Optimum, r.OptimumExact, r.OptimumStatus = record.Opt[float64]{}, "", ""
		r.LowerBound, r.LowerBoundExact, r.BestKnown = record.Some(32.0), "32", record.Some(33.0)
	}
	instances := map[[2]string]bool{}
	for i := range run.Ratios {
		instances[[2]string{run.Ratios[i].Instance, run.Ratios[i].Class}] = true
	}
	for _, c := range []struct {
		share   string
		reasons int
	}{{"3%", len(instances)}, {"3.125%", 0}, {"5%", 0}} {
		share, err := ParseShare(c.share)
		if err != nil {
			t.Fatal(err)
		}
		v := mustGate(t, run, nil, Rules{MaxGap: share})
		if len(v.Reasons) != c.reasons {
			t.Errorf("%s: %d reasons, want %d: %+v", c.share, len(v.Reasons), c.reasons, v.Reasons)
		}
	}
	row := at(t, run, "small/0", "fifo")
	row.BestKnown = record.Opt[float64]{}
	if v := mustGate(t, run, nil, Rules{MaxGap: big.NewRat(1, 1)}); len(v.Reasons) > 1 {
		t.Errorf("%+v", v.Reasons)
	}
}
