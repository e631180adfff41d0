package compare

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"yardstick/bench/record"
)

func TestOutward(t *testing.T) {
	for _, c := range []struct {
		v         float64
		direction int64
		want      string
	}{{1.05, +1, "1.050"}, {1.05, -1, "1.050"}, {1.0501, +1, "1.051"}, {1.0509, -1, "1.050"}, {1.0509, +1, "1.051"}, {1, +1, "1.000"}, {math.Nextafter(1, 2), +1, "1.001"}, {1.9999, +1, "2.000"}} {
		if got := outward(c.v, c.direction); got != c.want {
			t.Errorf("%v, %+d: %s, want %s", c.v, c.direction, got, c.want)
		}
	}
}

// bracketed is a result whose optima are not proven: the bound is three quarters of the
// optimum of result, and the best schedule known costs what it does.
func bracketed(dir string) *record.Run {
	run := result(dir)
	for i := range run.Ratios {
		r := &run.Ratios[i]
		optimum, _ := new(big.Rat).SetString(string(r.OptimumExact))
		bound := new(big.Rat).Mul(optimum, big.NewRat(3, 4))
		value, _ := bound.Float64()
		r.BestKnown, r.LowerBound, r.LowerBoundExact = r.Optimum, record.Some(value), record.Exact(bound)
		r.Optimum, r.OptimumExact, r.OptimumStatus = record.Opt[float64]{}, "", ""
	}
	return run
}

// A comparison says where each side's ratio lies: between the best schedule known and the
// bound, and exactly where the optima are proven.
func TestComparedBrackets(t *testing.T) {
	a, b := bracketed("a"), result("b")
	at(t, b, "small/0", "sjf").CostExact = "50" // of 107/3
	c := mustCompare(t, a, b)
	for _, g := range c.Groups {
		least := 1.0
		for i := range 6 {
			for m, method := range []string{"fifo", "sjf"} {
				if f := map[string]int{"small": 0, "large": 1}[g.Family]; method == g.Method {
					least *= float64(100+10*i+7*m+f) / float64(100+10*i)
				}
			}
		}
		least = math.Pow(least, 1.0/6)
		if g.A == nil || g.B == nil || g.A.Rows != 6 || g.A.Optima || !g.B.Optima || g.B.Rows != 6 || math.Abs(g.A.AtLeast/least-1) > 1e-9 || math.Abs(g.A.AtMost/least-4.0/3) > 1e-9 || g.B.AtLeast != g.B.AtMost {
			t.Errorf("%s, %s: %+v, %+v, least %v", g.Family, g.Method, g.A, g.B, least)
		}
	}
	var out strings.Builder
	if err := c.Write(&out, "table", 0); err != nil {
		t.Fatal(err)
	}
	for _, must := range []string{"ratio A", "ratio B", "≤1.334", "1.057–1.410"} {
		if !strings.Contains(out.String(), must) {
			t.Errorf("%q is missing in\n%s", must, out.String())
		}
	}
	out.Reset()
	if err := c.Write(&out, "csv", 0); err != nil || !strings.Contains(out.String(), "a_ratio_at_least,a_ratio,b_ratio_at_least,b_ratio\n") {
		t.Errorf("%v: %.300s", err, out.String())
	}
	v, err := Gate(b, result("c"), Rules{MaxRatio: new(big.Rat)})
	if err != nil || len(v.Reasons) != 1 || !strings.Contains(v.Reasons[0].Text, "over 6 instances, from 1.058 to 1.119, ") {
		t.Errorf("%v: %+v", err, v)
	}
}

// The sides enclose what is true, whatever the costs: random optima between a bound and the
// best schedule known, less and more being better.
func TestSidesEnclose(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for range 500 {
		maximised := rng.IntN(2) == 0
		var rows []*Row
		truth := 0.0
		n := 1 + rng.IntN(5)
		for range n {
			optimum := int64(100 + rng.IntN(1000))
			worse, beyond := optimum+int64(rng.IntN(300)), optimum-int64(rng.IntN(90))
			if maximised {
				worse, beyond = optimum-int64(rng.IntN(90)), optimum+int64(rng.IntN(300))
			}
			cost := worse
			if maximised {
				cost -= int64(rng.IntN(9))
				truth += math.Log(float64(optimum) / float64(cost))
			} else {
				cost += int64(rng.IntN(300))
				truth += math.Log(float64(cost) / float64(optimum))
			}
			row := &Row{Maximised: maximised, Cost: big.NewRat(cost, 1), Bound: big.NewRat(beyond, 1), Best: big.NewRat(worse, 1)}
			switch rng.IntN(4) {
			case 0:
				row.Optimum = big.NewRat(optimum, 1)
			case 1:
				row.Best = nil
			}
			rows = append(rows, row)
		}
		truth = math.Exp(truth / float64(n))
		s := newSides(rows)
		if s.Rows != n || truth < s.AtLeast*(1-1e-12) || truth > s.AtMost*(1+1e-12) || s.AtLeast < 1 {
			t.Errorf("%v outside of %+v", truth, s)
		}
	}
	if s := newSides([]*Row{{Cost: big.NewRat(1, 1)}}); s != nil || s.String() != "" {
		t.Errorf("of nothing: %v", s)
	}
}
