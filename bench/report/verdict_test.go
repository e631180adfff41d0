package report

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// policyRow is a row of an online policy; optimum is proven, or a bound if bound is set.
func policyRow(instance, method string, cost, optimum float64, bound bool) *record.Ratio {
	row := &record.Ratio{Instance: instance, Method: method, Kind: "online", Class: "N", Sense: record.Min, Cost: record.Some(cost)}
	if bound {
		row.LowerBound, row.RatioToLowerBound, row.LowerBoundCertified = record.Some(optimum), record.Some(cost/optimum), record.Some(true)
	} else {
		row.Optimum, row.OptimumStatus, row.RatioToOptimum = record.Some(optimum), record.Certified, record.Some(cost/optimum)
	}
	return row
}

// The best policy is the one whose costs have the least geometric mean, over the instances
// that all solved; exact methods and those that solved fewer do not count.
func TestVerdict(t *testing.T) {
	exact := policyRow("a", "exhaustive", 10, 10, false)
	exact.Kind = "exact"
	failed := policyRow("b", "half", 1, 10, false)
	failed.Cost = record.Opt[float64]{}
	rows := []*record.Ratio{exact,
		policyRow("a", "good", 12, 10, false), policyRow("b", "good", 10, 10, false), policyRow("c", "good", 20, 10, true),
		policyRow("a", "other", 12, 10, false), policyRow("b", "other", 15, 10, false), policyRow("c", "other", 18, 10, true),
		policyRow("a", "bad", 40, 10, false), policyRow("b", "bad", 40, 10, false), policyRow("c", "bad", 40, 10, true),
		policyRow("a", "half", 10, 10, false), failed}
	rows[3].RatioToBestKnown, rows[3].BestKnown = record.Some(20/16.0), record.Some(16.0)
	v := newVerdict(rows)
	if v == nil || len(v.Best) != 1 || v.Best[0] != "good" || v.Next != "other" || v.Policies != 3 || v.LeftOut != 1 || v.Instances != 3 || v.Cheaper != 1 || v.Equal != 1 || v.Optima != 2 || v.Certified != 3 {
		t.Fatalf("%+v", v)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"ahead", v.Ahead.V, math.Cbrt(12 * 15 * 18 / (12.0 * 10 * 20))}, {"least", v.AtLeast.V, math.Cbrt(1.2 * 1 * 1.25)}, {"most", v.AtMost.V, math.Cbrt(1.2 * 1 * 2)}} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if got := v.sure(); !strings.Contains(got, "optimum proven on 2 of 3, certified; known within 17.0\u00a0%; left out for fewer schedules: 1 method") {
		t.Errorf("%q", got)
	}
	if got := v.ahead(false); got != "other +10.5\u00a0%; cheaper on 1 of 3, the same on 1" {
		t.Errorf("%q", got)
	}
	for name, rows := range map[string][]*record.Ratio{"none": nil, "exact alone": {exact}, "no common instance": {policyRow("a", "x", 1, 1, false), policyRow("b", "y", 1, 1, false)},
		"a cost of 0": {policyRow("a", "x", 0, 1, false)}} {
		if v := newVerdict(rows); v != nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
	one := newVerdict([]*record.Ratio{policyRow("a", "x", 2, 1, true), policyRow("a", "y", 2, 1, true)})
	if len(one.Best) != 2 || one.Next != "" || one.ahead(false) != "all cost the same" || !strings.Contains(one.sure(), "may be optimal") {
		t.Errorf("%+v", one)
	}
}

// On random rows no policy has a lesser mean than the best, its ratio lies between the
// sides, and neither the order of the rows nor the unit of the costs matters. Where more is
// better, reciprocal values have the same verdict.
func TestVerdictRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 300 {
		var rows, scaled, reciprocal []*record.Ratio
		sums := map[string]float64{}
		for i := range 1 + rng.IntN(6) {
			for _, m := range []string{"p", "q", "r"} {
				cost := 1 + rng.ExpFloat64()
				sums[m] += math.Log(cost)
				instance := string(rune('a' + i))
				row := policyRow(instance, m, cost, 0.9, rng.IntN(2) == 0)
				row.RatioToBestKnown = record.Some(cost)
				larger := policyRow(instance, m, 7*cost, 6.3, !row.RatioToOptimum.Valid)
				larger.RatioToBestKnown = record.Some(cost)
				turned := *row
				turned.Sense, turned.Cost = record.Max, record.Some(1/cost)
				rows, scaled, reciprocal = append(rows, row), append(scaled, larger), append(reciprocal, &turned)
			}
		}
		v := newVerdict(rows)
		for m, sum := range sums {
			if sum < sums[v.Best[0]]-1e-9 {
				t.Errorf("%s is better than %v: %v", m, v.Best, sums)
			}
		}
		if v.AtLeast.V > v.AtMost.V || v.AtLeast.V < 1 || v.Ahead.V <= 1 || v.Cheaper+v.Equal > v.Instances {
			t.Errorf("%+v", v)
		}
		rng.Shuffle(len(scaled), func(i, k int) { scaled[i], scaled[k] = scaled[k], scaled[i] })
		for name, other := range map[string]*Verdict{"scaled": newVerdict(scaled), "reciprocal": newVerdict(reciprocal)} {
			if other.Best[0] != v.Best[0] || other.Next != v.Next || math.Abs(other.Ahead.V/v.Ahead.V-1) > 1e-9 || math.Abs(other.AtMost.V/v.AtMost.V-1) > 1e-9 || other.Cheaper != v.Cheaper {
				t.Errorf("%s: %+v, %+v", name, v, other)
			}
		}
	}
}

// Bars lie on their axis, in the order of the ratios, and are never too thin to be seen.
func TestBars(t *testing.T) {
	some := record.Some[float64]
	list := []bracket{newBracket(some(1.2), some(1.5), Bound), newBracket(some(1), some(2), Bound), newBracket(some(4), some(4), Optimum), newBracket(record.Opt[float64]{}, record.Opt[float64]{}, None), newBracket(some(1), some(1), Optimum)}
	bars, scale := drawBrackets(list)
	if len(bars) != 5 || bars[3] != "" || scale != "1 to 4.00" {
		t.Fatalf("%q, %q", bars, scale)
	}
	for i, want := range []string{`<rect x="13.2" y="1" width="16.1"`, `<rect class="open" x="0.0" y="1" width="50.0"`, `<rect class="exact" x="98.0" y="1" width="2.0"`, "", `<rect class="exact" x="0.0" y="1" width="2.0"`} {
		if !strings.Contains(string(bars[i]), want) {
			t.Errorf("bar %d: %s, want %s", i, bars[i], want)
		}
	}
	if bars, scale := drawBrackets(make([]bracket, 3)); bars != nil || scale != "" {
		t.Errorf("bars of nothing: %q, %q", bars, scale)
	}
}
