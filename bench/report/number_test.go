package report

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"yardstick/bench/record"
)

// Rounding up never prints less than the value, rounding down never more, and
// both stay within one unit of the last place.
func TestDirected(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 100_000 {
		v, decimals := rng.ExpFloat64()*math.Pow(10, float64(rng.IntN(9)-3)), rng.IntN(5)
		unit := math.Pow(10, -float64(decimals))
		up, _ := strconv.ParseFloat(directed(v, decimals, +1), 64)
		down, _ := strconv.ParseFloat(directed(v, decimals, -1), 64)
		if up < v || down > v || up-v > unit*(1+1e-6) || v-down > unit*(1+1e-6) {
			t.Fatalf("%v with %d decimals: %v, %v", v, decimals, down, up)
		}
	}
	for v, want := range map[float64]string{1: "1.000", 1.0000000000000002: "1.001", 1.234: "1.234", 1.9999: "2.000", 9.9991: "10.000"} {
		if got := directed(v, 3, +1); got != want {
			t.Errorf("%v up: %s, want %s", v, got, want)
		}
	}
	if got := directed(1.2349, 3, -1); got != "1.234" {
		t.Errorf("down: %s", got)
	}
}

func TestTexts(t *testing.T) {
	for v, want := range map[float64]string{0: "0.0 ns", 3.2e-9: "3.2 ns", 999.4e-9: "999 ns", 999.6e-9: "1.0 µs", 0.0000126: "13 µs", 0.25: "250 ms", 1.25: "1.2 s", 75: "75 s"} {
		if got := durationText(record.Some(v)); got != want {
			t.Errorf("duration %v: %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0.84: "0.8 s", 61.2: "61 s", 119.4: "119 s", 120: "2m00s", 3599: "59m59s", 3600: "1h00m", 90_061: "25h01m"} {
		if got := wallText(v); got != want {
			t.Errorf("wall time %v: %s, want %s", v, got, want)
		}
	}
	for v, want := range map[string]string{"0": "0", "999": "999", "1000": "1,000", "-1234567.25": "-1,234,567.25", "123456.7": "123,456.7"} {
		if got := thousands(v); got != want {
			t.Errorf("%s: %s, want %s", v, got, want)
		}
	}
	if got := shorten("abcdé", 4); got != "abc…" {
		t.Errorf("%s", got)
	}
}

// All costs of a table share a unit and show the least one with four digits.
func TestScale(t *testing.T) {
	for _, c := range []struct {
		objective string
		costs     []float64
		want      []string
		unit      string
	}{
		{"total-jct", []float64{967.6455, 12345.678}, []string{"967.6", "12,345.7"}, "s"},
		{"total-jct", []float64{3, 4000}, []string{"3", "4,000"}, "s"},
		{"makespan", []float64{0.0125, 2}, []string{"0.01250", "2.00000"}, "s"},
		{"total-jct", []float64{400_000, 800_001}, []string{"111.1", "222.2"}, "h"},
		{"weighted-completion", []float64{1e9, 2e9}, []string{"11,574", "23,148"}, "d·weight"},
		{"scheduled-weight", []float64{1e9, 12.5}, []string{"1,000,000,000.00", "12.50"}, "weight"},
		{"total-jct", []float64{0}, []string{"0"}, "s"},
	} {
		g := Group{Objective: c.objective}
		for _, v := range c.costs {
			g.Details = append(g.Details, Detail{Cost: record.Some(v)})
		}
		s := newScale(&g)
		for i, v := range c.costs {
			if got := s.text(record.Some(v), 0); got != c.want[i] || s.unit != c.unit {
				t.Errorf("%s %v: %s %s, want %s %s", c.objective, v, got, s.unit, c.want[i], c.unit)
			}
		}
	}
}

// A file is no terminal: no colour, no limit in width.
func TestTerminalOfAFile(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for columns, want := range map[string]int{"": 0, "72": 72, "-3": 0, "many": 0} {
		t.Setenv("COLUMNS", columns)
		if o := Terminal(f); o.Width != want || o.Color {
			t.Errorf("COLUMNS=%s: %+v", columns, o)
		}
	}
}

// A range is rounded outwards, and where its least says nothing the most stands alone.
func TestRangeText(t *testing.T) {
	some := record.Some[float64]
	for _, c := range []struct {
		least, most record.Opt[float64]
		kind        Kind
		want        string
	}{
		{some(1.0629), some(1.0741), Bound, "1.062–1.075"},
		{some(1.0004), some(1.0741), Bound, "≤1.075"},
		{some(1), some(1.0741), Bound, "≤1.075"},
		{some(1.0741), some(1.0741), Optimum, "1.075"},
		{record.Opt[float64]{}, some(1.5), Bound, "≤1.500"},
		{some(1.5), record.Opt[float64]{}, Bound, "–"},
	} {
		if got := rangeText(c.least, c.most, c.kind); got != c.want {
			t.Errorf("%v to %v, %v: %q, want %q", c.least, c.most, c.kind, got, c.want)
		}
	}
}
