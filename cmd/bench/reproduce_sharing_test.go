package main

import (
	"context"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/reproduce"
	"yardstick/sched"
)

// TestReproduceSharing runs the suites of the paper's items at a small scale, each
// once, and makes every item of their records.
func TestReproduceSharing(t *testing.T) {
	scales := map[string]float64{"sjf-bsbf-physical": 0.3, "sjf-bsbf-240": 0.06, "sjf-bsbf-480": 0.03, "sjf-bsbf-load": 0.03, "sjf-bsbf-xi": 0.05}
	runs := map[string]*record.Run{}
	made := 0
	for _, item := range reproduce.Items() {
		if !strings.HasPrefix(item.Name, "sjf-bsbf-") {
			continue
		}
		in := reproduce.Input{Seed: 1, Scale: 0.05}
		for _, name := range item.Suites {
			if runs[name] == nil {
				runs[name] = runSharingSuite(t, name, scales[name])
				checkClasses(t, runs[name])
			}
			in.Runs = append(in.Runs, runs[name])
		}
		out, err := item.Make(context.Background(), in)
		if err != nil {
			t.Errorf("%s: %v", item.Name, err)
			continue
		}
		made++
		if len(out.Tables) == 0 {
			t.Errorf("%s: no tables", item.Name)
		}
		for _, table := range out.Tables {
			if len(table.Rows) < 3 {
				t.Errorf("%s: the table %q has %d rows", item.Name, table.Title, len(table.Rows))
			}
			for _, row := range table.Rows {
				if len(row) != len(table.Columns) {
					t.Errorf("%s: %d cells in %d columns: %v", item.Name, len(row), len(table.Columns), row)
				}
			}
		}
		for _, f := range out.Figures {
			if _, err := f.SVG(); err != nil {
				t.Errorf("%s: %v", item.Name, err)
			}
		}
		var text strings.Builder
		if err := item.Write(&text, out); err != nil {
			t.Error(err)
		}
		t.Logf("%s", text.String())
	}
	if made != 8 {
		t.Errorf("%d items made", made)
	}
}

// runSharingSuite runs the first window of every source of a suite.
func runSharingSuite(t *testing.T, name string, scale float64) *record.Run {
	t.Helper()
	s, err := reproduce.Suite(name, scale)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Instances {
		s.Instances[i].Slice.Repeat = 1
	}
	plan, err := bench.NewPlan(s, resolve)
	if err != nil {
		t.Fatal(err)
	}
	run, err := bench.Rows(plan, bench.Run(context.Background(), plan, bench.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range run.Ratios {
		if r := &run.Ratios[i]; !r.RatioToLowerBound.Valid || r.RatioToLowerBound.V < 1 {
			t.Errorf("%s: %s on %s, %s: ratio %v, %s", name, r.Method, r.Instance, r.Objective, r.RatioToLowerBound, r.Message)
		}
	}
	return run
}

// checkClasses: malleable schedules are divided by bounds of class F(min) alone,
// and all others of the sharing model by those of SP0.
func checkClasses(t *testing.T, run *record.Run) {
	t.Helper()
	malleable := 0
	for i := range run.Ratios {
		r := &run.Ratios[i]
		want := "SP0"
		if r.Class == (sched.Class{Kind: sched.M}).String() {
			want = "F(min)"
			malleable++
		}
		if string(r.LowerBoundClass) != want {
			t.Errorf("%s of class %s is divided by %s of class %s", r.Method, r.Class, r.LowerBoundMethod, r.LowerBoundClass)
		}
	}
	if malleable == 0 && run.Ratios[0].Suite != "sjf-bsbf-xi" {
		t.Errorf("%s: no malleable schedule", run.Ratios[0].Suite)
	}
}
