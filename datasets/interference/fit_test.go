package interference

import (
	"math"
	"math/rand/v2"
	"testing"

	"yardstick/datasets"
)

// TestFitLoads finds the loads that a table was made of, exactly and through
// noise.
func TestFitLoads(t *testing.T) {
	table := Synthetic()
	s := table.Settings()[0]
	f, err := FitLoads(table, s)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	for _, l := range SyntheticLoads() {
		want[l.Task] = l.Busy
	}
	for _, l := range f.Loads {
		if math.Abs(l.Busy-want[l.Task]) > 0.005 { // the table has three decimals
			t.Errorf("%s: %v, want %v", l.Task, l.Busy, want[l.Task])
		}
	}
	if f.Pairs != 225 || f.RMSE > 1e-3 || f.R2 < 0.999 || f.Beyond != 0 {
		t.Errorf("%v", f)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rows := table.Rows()
	for i := range rows {
		rows[i].Xi = datasets.Some(max(1, rows[i].Xi.V*math.Exp(0.05*rng.NormFloat64())))
	}
	noisy, err := New(rows)
	if err != nil {
		t.Fatal(err)
	}
	g, err := FitLoads(noisy, s)
	if err != nil {
		t.Fatal(err)
	}
	if g.RMSE < 0.03 || g.RMSE > 0.055 || g.R2 < 0.8 {
		t.Errorf("with 5 %% of noise: %v", g)
	}
	if _, err := FitLoads(table, Setting{Source: "nobody"}); err == nil {
		t.Error("a setting without pairs is fitted")
	}
}

// TestFitLoadsOfGavel shows how well the model fits Gavel's published
// measurements; docs/reproduction/sharing.md has the figures.
func TestFitLoadsOfGavel(t *testing.T) {
	table, _ := published(t)
	for _, s := range table.Settings() {
		if s.GPUs != 1 || s.Placement != Consolidated {
			continue
		}
		f, err := FitLoads(table, s)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: %v", s, f)
		if !(f.R2 > 0) || f.Pairs < 100 {
			t.Errorf("%v: %v: worse than one factor for all", s, f)
		}
	}
}
