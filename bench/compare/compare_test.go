package compare

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// result is a run of two families, of 6 instances and 2 methods each, with
// costs in thirds, which no float64 holds.
func result(dir string) *record.Run {
	run := &record.Run{Dir: dir, Manifest: record.Manifest{ResultDigest: dir, Params: []record.Param{{Name: "load"}}}}
	for f, family := range []string{"small", "large"} {
		for i := range 6 {
			for m, method := range []string{"fifo", "sjf"} {
				cost := big.NewRat(int64(100+10*i+7*m+f), 3)
				bound := big.NewRat(int64(100+10*i), 3)
				value, _ := cost.Float64()
				low, _ := bound.Float64()
				run.Ratios = append(run.Ratios, record.Ratio{CellID: fmt.Sprint(family, i, method), Suite: "s", Instance: fmt.Sprintf("%s/%d", family, i), InstanceSHA256: "aa",
					Family: family, Model: "gang", Class: "N", Jobs: 3, GPUs: 4, Objective: "total-jct", Method: method, Sense: record.Min, Kind: "online",
					Termination: "COMPLETED", Cost: record.Some(value), CostExact: record.Exact(cost), LowerBound: record.Some(low), LowerBoundExact: record.Exact(bound),
					Optimum: record.Some(low), OptimumExact: record.Exact(bound), OptimumStatus: record.Proven, Wall: record.Some(0.01 * float64(i+1)),
					TheoremHolds: record.Some(true), Theorem: "T", Params: map[string]string{"load": "0.7"}})
			}
		}
	}
	return run
}

func at(t *testing.T, run *record.Run, instance, method string) *record.Ratio {
	t.Helper()
	for i := range run.Ratios {
		if r := &run.Ratios[i]; r.Instance == instance && r.Method == method {
			return r
		}
	}
	t.Fatalf("no row %s, %s", instance, method)
	return nil
}

func mustCompare(t *testing.T, a, b *record.Run) *Comparison {
	t.Helper()
	c, err := New([]*record.Run{a}, []*record.Run{b})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNothingChanged(t *testing.T) {
	c := mustCompare(t, result("a"), result("b"))
	if len(c.Changed) != 0 || len(c.Groups) != 4 {
		t.Errorf("%+v", c)
	}
	for _, g := range c.Groups {
		if g.GeoMean != 1 || g.Pairs != 6 || g.Counts[Same] != 6 {
			t.Errorf("%+v", g)
		}
	}
	for _, r := range c.Times {
		if r.Method != Overall && (r.Mark != "~" || r.P != 1 || r.Ratio != 1) {
			t.Errorf("%+v", r)
		}
	}
}

// Every kind of change has its mark, and the smallest change of a cost shows.
func TestMarks(t *testing.T) {
	a, b := result("a"), result("b")
	r := at(t, b, "small/0", "fifo")
	cost, _ := new(big.Rat).SetString(string(r.CostExact))
	r.CostExact = record.Exact(cost.Add(cost, big.NewRat(1, 1e15))) // below half a unit in the last place
	r = at(t, b, "small/1", "fifo")
	r.CostExact = "110/3"
	r = at(t, b, "small/2", "fifo")
	r.Cost, r.CostExact, r.Termination = record.Opt[float64]{}, "", "CRASHED"
	r = at(t, a, "small/3", "fifo")
	r.Cost, r.CostExact, r.Termination = record.Opt[float64]{}, "", "CRASHED"
	at(t, b, "small/4", "fifo").InstanceSHA256 = "bb"
	at(t, b, "small/5", "fifo").Instance = "small/6"
	r = at(t, b, "large/0", "sjf")
	r.OptimumStatus, r.LowerBoundExact, r.TheoremHolds = record.Claimed, "99/3", record.Some(false)
	c := mustCompare(t, a, b)
	marks := map[string]Mark{}
	for _, p := range c.Changed {
		marks[p.Instance+p.Method] = p.Mark
	}
	for key, want := range map[string]Mark{"small/0fifo": Worse, "small/1fifo": Same, "small/2fifo": Failed, "small/3fifo": Mended, "small/4fifo": Incomparable,
		"small/5fifo": Vanished, "small/6fifo": Added, "large/0sjf": Same} {
		got, changed := marks[key]
		if key == "small/1fifo" { // 110/3 is what it was
			if changed {
				t.Errorf("%s changed: %q", key, got)
			}
			continue
		}
		if got != want || !changed {
			t.Errorf("%s: mark %q, want %q", key, got, want)
		}
	}
	for _, p := range c.Changed {
		if p.Instance == "large/0" && strings.Join(p.Changes, "|") != "optimum no longer proven|bound weaker|theorem does not hold, was holds" {
			t.Errorf("%q", p.Changes)
		}
	}
	for _, g := range c.Groups {
		if g.Family == "small" && g.Method == "fifo" && (g.GeoMean <= 1 || g.Counts[Worse] != 1 || g.Pairs != 2) {
			t.Errorf("%+v", g)
		}
	}
	for _, format := range Formats() {
		var out bytes.Buffer
		if err := c.Write(&out, format, 0); err != nil {
			t.Fatal(err)
		}
		switch format {
		case "json":
			var back map[string]any
			if err := json.Unmarshal(out.Bytes(), &back); err != nil || len(back["changed"].([]any)) != len(c.Changed) {
				t.Errorf("%v", err)
			}
		case "csv":
			if rows, err := csv.NewReader(&out).ReadAll(); err != nil || len(rows) != 1+len(c.Changed)+len(c.Times) {
				t.Errorf("%d rows, %v", len(rows), err)
			}
		default:
			for _, must := range []string{"crashed", ">1.0000", "optimum no longer proven", "geomean", Legend} {
				if !strings.Contains(out.String(), must) {
					t.Errorf("%s lacks %q:\n%s", format, must, out.String())
				}
			}
		}
	}
	if c.Write(&bytes.Buffer{}, "yaml", 0) == nil {
		t.Error("an unknown format was printed")
	}
}

// Where more is better, a greater cost is better.
func TestMaximised(t *testing.T) {
	a, b := result("a"), result("b")
	for _, run := range []*record.Run{a, b} {
		for i := range run.Ratios {
			run.Ratios[i].Sense = record.Max
		}
	}
	at(t, b, "small/0", "fifo").CostExact = "200/3"
	c := mustCompare(t, a, b)
	if len(c.Changed) != 1 || c.Changed[0].Mark != Better || c.Changed[0].Ratio.Cmp(big.NewRat(1, 2)) != 0 {
		t.Errorf("%+v", c.Changed)
	}
}

// Comparing the other way round turns the marks and inverts the ratios.
func TestSymmetry(t *testing.T) {
	turned := map[Mark]Mark{Same: Same, Better: Worse, Worse: Better, Failed: Mended, Mended: Failed, Added: Vanished, Vanished: Added, Incomparable: Incomparable}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		a, b := result("a"), result("b")
		for _, run := range []*record.Run{a, b} {
			for i := range run.Ratios {
				r := &run.Ratios[i]
				switch rng.IntN(8) {
				case 0:
					r.CostExact = record.Text(fmt.Sprintf("%d/7", 200+rng.IntN(50)))
				case 1:
					r.Cost, r.CostExact = record.Opt[float64]{}, ""
				case 2:
					r.InstanceSHA256 = "cc"
				case 3:
					r.Instance += "'" + run.Dir
				}
			}
		}
		there, back := mustCompare(t, a, b), mustCompare(t, b, a)
		marks := map[Key]Mark{}
		for _, p := range back.Changed {
			marks[p.Key] = p.Mark
		}
		if len(marks) != len(there.Changed) {
			t.Errorf("seed %d: %d changes there, %d back", seed, len(there.Changed), len(marks))
		}
		for _, p := range there.Changed {
			if marks[p.Key] != turned[p.Mark] {
				t.Errorf("seed %d: %s: %q there, %q back", seed, p.Key, p.Mark, marks[p.Key])
			}
		}
		means := map[string]float64{}
		for _, g := range back.Groups {
			means[g.Family+g.Method] = g.GeoMean
		}
		for _, g := range there.Groups {
			if m := means[g.Family+g.Method]; g.Pairs > 0 && math.Abs(g.GeoMean*m-1) > 1e-12 {
				t.Errorf("seed %d: geometric means %v and %v", seed, g.GeoMean, m)
			}
		}
	}
}

func TestBadFractions(t *testing.T) {
	a := result("a")
	a.Ratios[0].CostExact = "1/0"
	if _, err := New([]*record.Run{a}, []*record.Run{result("b")}); err == nil {
		t.Error("1/0 was read")
	}
	b := result("b")
	b.Ratios = append(b.Ratios, b.Ratios[0])
	if _, err := New([]*record.Run{result("a")}, []*record.Run{b}); err == nil {
		t.Error("two rows of one key were paired")
	}
	if _, err := New(nil, []*record.Run{b}); err == nil {
		t.Error("a side without a run")
	}
}

// A method that is uniformly slower is found slower over the instances, though
// these differ far more than that.
func TestTimesPaired(t *testing.T) {
	a, b := result("a"), result("b")
	for i := range b.Ratios {
		if r := &b.Ratios[i]; r.Method == "sjf" {
			r.Wall = record.Some(r.Wall.V * (1.1 + 0.01*float64(i%5)))
		} else {
			r.Wall = record.Some(r.Wall.V * []float64{0.95, 1.05, 1.1, 0.9, 1.02, 0.99}[i/2%6])
		}
	}
	for _, r := range mustCompare(t, a, b).Times {
		want := map[string]string{"fifo": "~", "sjf": "+"}[r.Method]
		if r.Method != Overall && (r.Mark != want || r.Cells != 6) {
			t.Errorf("%+v, want mark %q", r, want)
		}
	}
}
