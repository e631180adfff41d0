package reproduce

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/record"
	"yardstick/sched"
)

// lazerRecords are two jobs under each of the six schedulers: job 0 of two GPUs
// trains for 60 s, job 1 of one GPU for 120 s; every scheduler makes job 1 wait
// for a minute per its place in the comparison, and SRTF loses 30 s of a load.
func lazerRecords() *record.Run {
	run := &record.Run{}
	for i, s := range lazerSchedulers() {
		cell := fmt.Sprint("cell", i)
		for _, objective := range []string{"total-jct", "total-completion"} {
			run.Ratios = append(run.Ratios, record.Ratio{CellID: cell, Instance: "earth/00", Method: s.method, Objective: objective, Params: map[string]string{"startup": "3s"},
				Cost: record.Some(1.0), RatioToLowerBound: record.Some(1 + float64(i)/8), LowerBoundMethod: "lb0", Preemptions: record.Some(3), FutilePreempts: record.Some(i)})
		}
		wait, futile := float64(60*i), 0.0
		if s.name == "SRTF" {
			futile = 30
		}
		for j, train := range []float64{60, 120} {
			row := record.Job{CellID: cell, Job: j, JCT: record.Some(train + 12), Wait: record.Some(0.0), Load: record.Some(12.0), Train: record.Some(train),
				Pause: record.Some(0.0), Futile: record.Some(0.0), GPUs: record.Some(2 - j)}
			if j == 1 {
				row.Wait.V, row.Load.V, row.Futile.V = wait, 12+futile, futile
				row.JCT.V += wait + futile
			}
			run.Jobs = append(run.Jobs, row)
		}
	}
	// A cell that failed, and one of a bound, leave nothing.
	run.Ratios = append(run.Ratios, record.Ratio{CellID: "x", Method: "lazer", Objective: "total-jct"})
	return run
}

func lazerItem(t *testing.T, name string, runs ...*record.Run) string {
	t.Helper()
	item, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := item.Make(context.Background(), Input{Runs: runs, Seed: 1, Scale: 1})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, f := range out.Figures {
		if _, err := f.SVG(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var b strings.Builder
	for _, table := range out.Tables {
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("%s: %d cells in %d columns", name, len(row), len(table.Columns))
			}
			b.WriteString(strings.Join(row, "|") + "\n")
		}
	}
	return b.String()
}

// TestLazerByHand: what the items say about records whose figures are known.
func TestLazerByHand(t *testing.T) {
	run := lazerRecords()
	for name, want := range map[string][]string{
		"lazer-fig3": {"SJF|72.0|1.00×|–|0.0|12.0|60.0|0.0|102.0|0.0|12.0|90.0|0.0", "SRTF|72.0|1.00×|1.6×|0.0|12.0|60.0|0.0|147.0|30.0|27.0|90.0|0.0"},
		// SRTF holds 2·72 + 132 + 30 GPU-seconds, of which 30 are lost.
		"lazer-fig4": {"SJF|0|0.0|0|0.00 %|–", "SRTF|1|0.0|0|9.80 %|10 %", "Pollux|2|0.0|0|0.00 %|13 %"},
		"lazer-fig5": {"SJF|0.0|–|–|0.0|–|0.0|–", "Optimus|0.0|–|34.5×|240.0|–|120.0|–"},
		"lazer-fig8abc": {"SJF|1.00×|1.3×|0.31×|1.16×|–|1.8×|0.00×|1.1×|0.0|–|0.0|–|0.0|0.0|0.00 %|≤1.000|≤1.000", // of SRTF's two jobs one lost 30 s
			"SRTF|1.00×|1.5×|0.51×|1.2×|–|2.4×|0.20×|1.1×|0.0|2.03|0.5|5.1|0.5|0.5|50.00 %|≤1.125|≤1.125", "Lazer|1.00×|–|1.00×|–|–|–|1.00×|–|0.0|0|0.0|0|0.0|0.0|0.00 %|≤1.625|≤1.625"},
	} {
		got := lazerItem(t, name, run)
		for _, line := range want {
			if !strings.Contains(got, line+"\n") {
				t.Errorf("%s lacks %q:\n%s", name, line, got)
			}
		}
	}
	item, err := Find("lazer-fig3")
	if err != nil {
		t.Fatal(err)
	}
	out, err := item.Make(context.Background(), Input{Runs: []*record.Run{run}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Number{{"Startup 3s. SRTF: loading added to SJF's, s", "113", 0}, {"Startup 3s. Pollux: waiting of the JCT, %", "31", 0},
		{"Startup 3s. preemptive schedulers: mean of the loading over SJF's", "20.6", 1}, {"Startup 3s. all five: mean of pausing, s", "8", 0}} {
		if !slices.Contains(out.Numbers, want) {
			t.Errorf("%v lacks %v", out.Numbers, want)
		}
	}
	got := lazerItem(t, "lazer-table2", run, run, &record.Run{})
	for _, line := range []string{
		"JCT|Earth|3s|1.2|2.2|1.2|3.7|1.2|4.2|1.2|5.2|1.2|6.2|1.2|7.2", "JCT|Earth|paper|5.6|12.6|7.4|29.0|9.9|94.5|8.2|24.4|10.8|22.9|4.6|10.4",
		"Futile preemption|Saturn|3s|0.0|0.0|0.0|0.5|0.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0",
		"Earth|3s|SRTF|≤1.125|≤1.125|3|1|50.00 %|0.5|0.5|9.80 %", "Saturn|3s|Lazer|≤1.625|≤1.625|3|5|0.00 %|0.0|0.0|0.00 %",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("lazer-table2 lacks %q:\n%s", line, got)
		}
	}
}

// TestLazerPublished: every row of the published table has two numbers for each
// scheduler.
func TestLazerPublished(t *testing.T) {
	for metric, traces := range lazerPublished() {
		for _, trace := range lazerTraces() {
			if row := traces[trace.name]; len(row) != 2*len(lazerSchedulers()) {
				t.Errorf("%s of %s has %d numbers", metric, trace.name, len(row))
			}
		}
	}
}

// TestLazerQuantile: nearest rank.
func TestLazerQuantile(t *testing.T) {
	list := []float64{1, 2, 3, 4}
	for p, want := range map[float64]float64{0: 1, 0.25: 1, 0.26: 2, 0.5: 2, 0.95: 4, 1: 4} {
		if got := lazerQuantile(list, p); got != want {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
	if lazerQuantile(nil, 0.5) != 0 || lazerFactor(1, 0) != "–" || lazerPercent(1, 0) != "–" {
		t.Error("nothing has a quantile, a factor or a share")
	}
}

// TestLazerRatio: upper estimates are rounded up, over all instances.
func TestLazerRatio(t *testing.T) {
	m := lazerTimes{ratios: map[string][]float64{"total-jct": {1.0001, 1.0005}}}
	if got := m.ratio(sched.TotalJCT); got != "≤1.001" {
		t.Errorf("ratio %s", got)
	}
	if got := m.ratio(sched.TotalCompletion); got != "–" {
		t.Errorf("ratio %s of nothing", got)
	}
}
