package reproduce

import (
	"fmt"
	"strings"
	"testing"

	"yardstick/bench/record"
	"yardstick/sched"
)

// TestWorkload: two instances of a point of a sweep, each under two policies and an elastic one
// that gives jobs other gangs; every job counts once.
func TestWorkload(t *testing.T) {
	run := &record.Run{}
	for k, value := range []string{"8", "8", "16"} {
		for m, method := range []string{"pollux-like", "a-srpt", "fifo"} {
			id := fmt.Sprint("cell", k, m)
			r := record.Ratio{CellID: id, Instance: fmt.Sprint("pai/", k), Method: method, Family: "pai", Params: map[string]string{"gpus": value},
				Cost: record.Some(1.0), OfferedLoad: record.Some(0.5 + float64(k)/10)}
			gang, train := 1, record.Some(600.0)
			switch method {
			case "pollux-like":
				r.Class, gang = sched.Class{Kind: sched.M}.String(), 7
			case "a-srpt":
				r.UnseenShare = record.Some(0.5)
				run.Predictions = append(run.Predictions, record.Prediction{CellID: id, History: 3}, record.Prediction{CellID: id})
			}
			run.Ratios = append(run.Ratios, r)
			for j, iterations := range []int64{60, 120, 240} {
				run.Jobs = append(run.Jobs, record.Job{CellID: id, Job: j, Release: float64(30 * j), GPUs: record.Some(gang + 3*j*j), Train: train, Iters: record.Some(iterations), IterationBest: record.Some(1.0)})
			}
		}
	}
	item := &Item{Suites: []string{"asrpt-fig8"}}
	table, ok := item.Workload(Input{Runs: []*record.Run{run}})
	want := []string{
		"asrpt-fig8, pai, gpus 8|2|3|33.3 %|6.0|2.3|30.0|0.55|50.0 %", // gangs 1, 4, 13; 1, 2 and 4 minutes
		"asrpt-fig8, pai, gpus 16|1|3|33.3 %|6.0|2.3|30.0|0.70|50.0 %",
		"asrpt-fig8, the paper's text|–|75,000|0 %|–|–|–|–|65 %",
	}
	if !ok || len(table.Rows) != len(want) {
		t.Fatalf("%v: %v", ok, table.Rows)
	}
	for i, row := range table.Rows {
		if got := strings.Join(row, "|"); got != want[i] || len(row) != len(table.Columns) {
			t.Errorf("%s, want %s", got, want[i])
		}
	}
	for i := range run.Jobs {
		run.Jobs[i].GPUs = record.Opt[int]{}
	}
	if table, ok := item.Workload(Input{Runs: []*record.Run{run}}); ok {
		t.Errorf("jobs without gangs have a workload: %v", table.Rows)
	}
}

// TestPublishedWorkload: every suite of items whose jobs have gangs has a row, as wide as the
// table.
func TestPublishedWorkload(t *testing.T) {
	for _, item := range Items() {
		for _, suite := range item.Suites {
			row := publishedWorkload(suite)
			if elastic := suite == "primal-dual"; elastic != (row == nil) || !elastic && len(row) != len(workloadColumns()) {
				t.Errorf("%s: %v", suite, row)
			}
		}
	}
}
