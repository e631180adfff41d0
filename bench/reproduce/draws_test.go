package reproduce

import (
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/report/chart"
	"yardstick/bench/suite"
)

// Texts that differ in numbers become one with medians and ranges.
func TestCombineTexts(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{[]string{"≤ 1.003", "≤ 14.600", "≤ 1.337"}, "≤ 1.337 (1.003 to 14.600)"},
		{[]string{"12,196", "9,999", "100"}, "9,999 (100 to 12,196)"},
		{[]string{"-5.0 %", "3.0 %"}, "-5.0 (-5.0 to 3.0) %"}, // the lower of two
		{[]string{"2 of 3", "2 of 4"}, "2 of 3 (3 to 4)"},
		{[]string{"SPJF", "SPJF"}, "SPJF"},
		{[]string{"–", "–"}, "–"},
		{[]string{"–", "2.0", "1.0"}, "1.0 (1.0 to 2.0), 2 of 3"},
		{[]string{"a", "b", "a"}, "a | b"},
	} {
		if got := combineTexts(c.texts); got != c.want {
			t.Errorf("%v: %q, want %q", c.texts, got, c.want)
		}
	}
}

// The chance of heads, by Pascal's triangle.
func TestChance(t *testing.T) {
	for n := 1; n <= 12; n++ {
		row := []float64{1}
		for range n {
			next := []float64{1}
			for i := 1; i < len(row); i++ {
				next = append(next, row[i-1]+row[i])
			}
			row = append(next, 1)
		}
		tail := 0.0
		for k := n; k >= 0; k-- {
			tail += row[k]
			if got, want := chance(k, n), tail/math.Pow(2, float64(n)); math.Abs(got-want) > 1e-12 {
				t.Errorf("at least %d of %d: %v, want %v", k, n, got, want)
			}
		}
	}
}

// Five draws decide if all five agree; what is reversed is the mirror image.
func TestJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for draws := 1; draws <= 20; draws++ {
		for range 20 {
			ratios, inverse := make([]float64, draws), make([]float64, draws)
			for i := range ratios {
				ratios[i] = math.Exp(rng.NormFloat64())
				inverse[i] = 1 / ratios[i]
			}
			v, w := judge(ratios), judge(inverse)
			if v.low > v.high || v.low < slices.Min(ratios)*(1-1e-9) || v.high > slices.Max(ratios)*(1+1e-9) {
				t.Fatalf("%v: the interval is %v to %v", ratios, v.low, v.high)
			}
			mirror := map[string]string{"holds": "reversed", "reversed": "holds", "no verdict": "no verdict"}
			if v.holds+w.holds != draws || w.verdict() != mirror[v.verdict()] {
				t.Fatalf("%v: %+v %s and %+v %s", ratios, v, v.verdict(), w, w.verdict())
			}
			if draws < 5 && v.verdict() != "no verdict" || draws == 5 && (v.verdict() == "holds") != (v.holds == 5) {
				t.Fatalf("%v: %s", ratios, v.verdict())
			}
			scaled := slices.Clone(ratios)
			slices.Reverse(scaled)
			if judge(scaled).median != v.median || judge(scaled).holds != v.holds {
				t.Fatalf("%v: the order of draws matters", ratios)
			}
		}
	}
	if v := judge([]float64{1, 1, 1, 1, 1}); v.verdict() != "no verdict" || v.holds != 0 {
		t.Errorf("ties: %+v, %s", v, v.verdict())
	}
	// With a clear majority of many draws and one far outlier, the interval forbids a verdict.
	many := slices.Repeat([]float64{1.01}, 19)
	if v := judge(append(many, 1e-9)); v.verdict() != "no verdict" {
		t.Errorf("%+v: %s", v, v.verdict())
	}
}

func TestCombine(t *testing.T) {
	draw := func(a, b string, y float64) *Output {
		return &Output{Tables: []Table{{Title: "costs", Columns: []string{"method", "ours", "paper"}, Rows: [][]string{{"A", a, "1"}, {"B", b, "2"}, {"C", "–", "3"}}}},
			Figures: []chart.Figure{{Title: "f", Lines: []chart.Line{{X: []float64{1}, Y: []float64{y}}}}}, Notes: []string{"Ours: " + a}}
	}
	one := draw("1.0", "2.0", 1)
	if Combine([]*Output{one}) != one {
		t.Error("one draw is changed")
	}
	out := Combine([]*Output{one, draw("3.0", "2.0", 5), draw("1.5", "2.0", 3), draw("1.2", "2.0", 2), draw("1.1", "2.0", 9)})
	if got := out.Tables[0].Rows[0][1]; got != "1.2 (1.0 to 3.0)" {
		t.Error(got)
	}
	if got := strings.Join(out.Tables[2].Rows[0], "|"); len(out.Tables[2].Rows) != 1 || !strings.HasPrefix(got, "costs, ours: A below B|4 of 5|1.667|") || !strings.HasSuffix(got, "|no verdict") {
		t.Error(out.Tables[2].Rows)
	}
	if out.Figures[0].Lines[0].Y[0] != 3 || out.Notes[0] != "Ours: 1.2 (1.0 to 3.0)" {
		t.Error(out.Figures, out.Notes)
	}
	wide := draw("1.0", "2.0", 1)
	wide.Tables[0].Rows = wide.Tables[0].Rows[:2]
	if out := Combine([]*Output{one, wide}); len(out.Tables) != 3 || out.Tables[1].Title != "draw 2: costs" {
		t.Errorf("%+v", out.Tables)
	}
}

func TestUnpublished(t *testing.T) {
	o := &Output{Tables: []Table{{Columns: []string{"m", "ours", "paper, s"}, Rows: [][]string{{"A", "1", "2"}}}, {Columns: []string{"what", "whose", "x"}, Rows: [][]string{{"JCT", "paper", "7"}, {"JCT", "ours", "8"}}}},
		Notes: []string{"Paper: 7.", "Ours: 8."}}
	o.Unpublished()
	if o.Tables[0].Rows[0][2] != absent || o.Tables[1].Rows[0][2] != absent || o.Tables[1].Rows[1][2] != "8" || len(o.Notes) != 1 {
		t.Errorf("%+v", o)
	}
}

// allSuites are the suites of all items, each once.
func allSuites() []string {
	var names []string
	for _, item := range Items() {
		names = append(names, item.Suites...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// The seed reaches every suite: its own and that of every generated trace.
func TestSeedReachesSuites(t *testing.T) {
	for _, name := range allSuites() {
		for _, scale := range []float64{1, 0.1} {
			s, err := Suite(name, scale, 7)
			if err != nil {
				t.Fatal(err)
			}
			if s.Seed != 7 {
				t.Errorf("%s: the seed is %d", name, s.Seed)
			}
			for i := range s.Instances {
				trace := s.Instances[i].Trace
				_, query, _ := strings.Cut(trace, "?")
				if values, err := url.ParseQuery(query); strings.Contains(query, "jobs=") && (err != nil || !slices.Equal(values["seed"], []string{"7"})) {
					t.Errorf("%s: %s", name, trace)
				}
			}
		}
	}
}

// At a scale, suites whose traces state their rate have that fraction of jobs, past
// jobs and servers, in the same time: the load stays, within what gangs of a
// sample vary. Their sources agree in what is scaled, as thinned assumes.
func TestThinned(t *testing.T) {
	count := 0
	for _, name := range allSuites() {
		whole, err := Suite(name, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(whole.Instances[0].Trace, rateKnob) {
			continue
		}
		count++
		part, err := Suite(name, 0.1, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole.Instances {
			a, b := &whole.Instances[i], &part.Instances[i]
			if a.Trace != whole.Instances[0].Trace || *a.History != *whole.Instances[0].History || a.Slice.At != whole.Instances[0].Slice.At || a.Cluster.Servers != whole.Instances[0].Cluster.Servers {
				t.Errorf("%s: the sources differ in what is scaled", name)
			}
			if strings.Contains(a.Trace, "helios") {
				checkThinnedLazer(t, name, a, b)
				continue
			}
			if *b.History != 60_658 || b.Slice.At.Index != 60_658 {
				t.Errorf("%s: %d past jobs before job %d", name, *b.History, b.Slice.At.Index)
			}
			want := "builtin:pai-cleaned?jobs=75822&interArrival=70.65s"
			if a.Cluster.Servers == 1 {
				want = "builtin:pai-cleaned?jobs=75822&interArrival=7.065s"
				if b.Cluster != a.Cluster || b.Slice.Jobs != a.Slice.Jobs {
					t.Errorf("%s: %+v, %d jobs", name, b.Cluster, b.Slice.Jobs)
				}
			} else if b.Cluster.Servers != 25 || b.Slice.Jobs != 7500 && whole.Matrix == nil {
				t.Errorf("%s: %d servers, %d jobs", name, b.Cluster.Servers, b.Slice.Jobs)
			}
			if b.Trace != want {
				t.Errorf("%s: %s, want %s", name, b.Trace, want)
			}
		}
		if whole.Matrix == nil {
			continue
		}
		for k, axis := range whole.Matrix.Axes {
			for v, value := range axis.Values {
				if axis.Key == "slice.jobs" && part.Matrix.Axes[k].Values[v] != value.(uint64)/10 || axis.Key != "slice.jobs" && part.Matrix.Axes[k].Values[v] != value {
					t.Errorf("%s: %s is %v, of %v", name, axis.Key, part.Matrix.Axes[k].Values[v], value)
				}
			}
		}
	}
	if count != 11 {
		t.Errorf("%d suites can be thinned", count)
	}
}

// checkThinnedLazer: a tenth of the jobs of a suite of Lazer, at a tenth of the rate, on a
// tenth of the servers; samples stay as they are, of a tenth of the trace.
func checkThinnedLazer(t *testing.T, name string, a, b *suite.Source) {
	t.Helper()
	want := map[string]string{"lazer-earth": "earth-lazer?jobs=42700&interArrival=390s", "lazer-loads": "earth-lazer?jobs=42700&interArrival=390s",
		"lazer-saturn": "saturn-lazer?jobs=69800&interArrival=800s", "lazer-uranus": "uranus-lazer?jobs=32900&interArrival=2430s",
		"lazer-testbed": "earth-lazer?jobs=42700&interArrival=39s"}[name]
	if b.Trace != "builtin:helios-"+want || *b.History != 0 {
		t.Errorf("%s: %s with a history of %d, want %s", name, b.Trace, *b.History, want)
	}
	if name == "lazer-testbed" {
		if b.Cluster != a.Cluster || b.Slice.Jobs != a.Slice.Jobs {
			t.Errorf("%s: %+v, %d jobs", name, b.Cluster, b.Slice.Jobs)
		}
	} else if b.Cluster.Servers != 6 || b.Slice.Jobs != a.Slice.Jobs/10 {
		t.Errorf("%s: %d servers, %d jobs", name, b.Cluster.Servers, b.Slice.Jobs)
	}
}

// The load as the trace comes is about the same at either scale.
func TestThinnedLoad(t *testing.T) {
	loads := map[float64]float64{}
	for _, scale := range []float64{0.05, 0.1} {
		sum := 0.0
		for seed := range uint64(5) {
			s, err := Suite("asrpt-fig9", scale, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			src := s.Instances[0]
			none := 0
			src.History = &none
			built, err := src.Build(s.Seed, &suite.Budget{Most: maxJobs})
			if err != nil {
				t.Fatal(err)
			}
			load := built[0].OfferedLoad()
			if !load.Valid {
				t.Fatal("no load")
			}
			sum += load.V / 5
		}
		loads[scale] = sum
	}
	t.Log(loads)
	if r := loads[0.05] / loads[0.1]; r < 0.75 || r > 1.33 {
		t.Errorf("loads %v: the scale changes them", loads)
	}
}
