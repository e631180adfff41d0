package main

import (
	"context"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/reproduce"
)

// TestReproducePrimalDual runs the paper's suite with one to five jobs on a tenth of
// the servers, once each, and makes every item of its records. Every schedule must
// be divided by a proven bound.
func TestReproducePrimalDual(t *testing.T) {
	s, err := reproduce.Suite("primal-dual", 0.05)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Instances {
		s.Instances[i].Slice.Repeat = 1
		s.Instances[i].Cluster.Servers /= 10
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
		r := &run.Ratios[i]
		// Nobody may be done by the deadline: then there is nothing to divide by.
		if none := r.Cost.Valid && r.Cost.V == 0; !none && (!r.RatioToLowerBound.Valid || r.RatioToLowerBound.V < 1) {
			t.Errorf("%s on %s, %s: cost %v, ratio %v, %s", r.Method, r.Instance, r.Objective, r.Cost, r.RatioToLowerBound, r.Message)
		}
	}
	made := 0
	for _, item := range reproduce.Items() {
		if !strings.HasPrefix(item.Name, "primal-dual-") {
			continue
		}
		out, err := item.Make(context.Background(), reproduce.Input{Runs: []*record.Run{run}, Seed: 1, Scale: 0.05})
		if err != nil {
			t.Errorf("%s: %v", item.Name, err)
			continue
		}
		made++
		for _, table := range out.Tables {
			for _, row := range table.Rows {
				if len(row) != len(table.Columns) || strings.Contains(strings.Join(row, "|"), "NaN") {
					t.Errorf("%s: %v in %v", item.Name, row, table.Columns)
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
	if made != 9 {
		t.Errorf("%d items made", made)
	}
}
