package main

import (
	"context"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/reproduce"
)

// TestReproduceLazer runs the suites of the paper's items at a small scale, each
// once, and makes every item of their records.
func TestReproduceLazer(t *testing.T) {
	scales := map[string]float64{"lazer-earth": 0.001, "lazer-saturn": 0.0005, "lazer-uranus": 0.001, "lazer-testbed": 0.3, "lazer-loads": 0.01}
	runs := map[string]*record.Run{}
	made := 0
	for _, item := range reproduce.Items() {
		if !strings.HasPrefix(item.Name, "lazer-") {
			continue
		}
		in := reproduce.Input{Seed: 1, Scale: 0.01}
		for _, name := range item.Suites {
			if runs[name] == nil {
				runs[name] = runSuite(t, name, scales[name])
			}
			in.Runs = append(in.Runs, runs[name])
		}
		out, err := item.Make(context.Background(), in)
		if err != nil {
			t.Errorf("%s: %v", item.Name, err)
			continue
		}
		made++
		for _, table := range out.Tables {
			if len(table.Rows) == 0 {
				t.Errorf("%s: the table %q is empty", item.Name, table.Title)
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
	if made < 8 {
		t.Errorf("%d items made", made)
	}
}

// runSuite runs a suite of the reproductions and returns its records. Every
// cell must have come off, and every schedule of the suite be divided by a
// proven bound.
func runSuite(t *testing.T, name string, scale float64) *record.Run {
	t.Helper()
	s, err := reproduce.Suite(name, scale)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Instances { // windows of a trace a tenth as long
		name, jobs, _ := strings.Cut(s.Instances[i].Trace, "?jobs=")
		s.Instances[i].Trace = name + "?jobs=" + jobs[:len(jobs)-1]
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
