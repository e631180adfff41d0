package reproduce

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// handmade is a run of two policies on one instance: a large job and a small
// one, of which the malleable policy spreads the small one over more GPUs.
func handmade(family string, params map[string]string) *record.Run {
	run := &record.Run{}
	for i, method := range []string{"sharing-fifo", "pollux-like", "sjf-bsbf"} {
		id := fmt.Sprintf("%s%v%d", family, params, i)
		class, bound, boundClass := "N", "theta-lb0", "SP0"
		if method == "pollux-like" {
			class, bound, boundClass = "M", "malleable-lb0", "F(min)"
		}
		run.Ratios = append(run.Ratios, record.Ratio{CellID: id, Suite: "s", Instance: family + "/00", Family: family, Class: class, Objective: "total-jct", Method: method,
			Cost: record.Some(5400.0), RatioToLowerBound: record.Some(1.25 + float64(i)), LowerBoundMethod: record.Text(bound), LowerBoundClass: record.Text(boundClass),
			JCTMean: record.Some(2700.0 / float64(i+1)), Makespan: record.Some(4000.0), Params: params})
		gpus := []int{8, 4}
		if class == "M" {
			gpus = []int{2, 16}
		}
		for j := range 2 {
			run.Jobs = append(run.Jobs, record.Job{CellID: id, Job: j, Task: record.Text([]string{"BERT", "NCF"}[j]), GPUs: record.Some(gpus[j]), JCT: record.Some(1800.0 * float64(j+1)), Wait: record.Some(360.0 * float64(j))})
		}
	}
	return run
}

// TestSharingTables: large and small jobs are told apart by their gangs, whatever
// a malleable policy gives them, and values land in the right columns.
func TestSharingTables(t *testing.T) {
	in := Input{Runs: []*record.Run{handmade("jobs", nil)}, Scale: 1}
	out, err := sharingTable3(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Tables) != 2 {
		t.Fatalf("%d tables", len(out.Tables))
	}
	want := map[string]string{
		"average JCT, FIFO":               "0.75|2.34|0.50|3.92|1.00|2.13",
		"average JCT, Pollux":             "0.75|1.04|0.50|1.96|1.00|0.91",
		"average queueing time, SJF-BSBF": "0.05|0.14|0.00|0.89|0.10|0.03",
	}
	for _, row := range out.Tables[0].Rows {
		if w, ok := want[row[0]]; ok && strings.Join(row[1:], "|") != w {
			t.Errorf("%s: %v, want %s", row[0], row[1:], w)
		}
		delete(want, row[0])
	}
	if len(want) > 0 {
		t.Errorf("no rows for %v", want)
	}
	if got := strings.Join(out.Tables[1].Rows[1], "|"); got != "Pollux|M|≤2.250|≤2.250|malleable-lb0" {
		t.Error(got)
	}
	two, err := sharingTable2(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(two.Tables[0].Rows[0], "|"); got != "FIFO|4000|2317|2700.0|662.6|N|–|≤1.250|theta-lb0" {
		t.Error(got)
	}
}

// TestSharingDistribution: shares of jobs by JCT, and waiting by task.
func TestSharingDistribution(t *testing.T) {
	out, err := sharingFig5(context.Background(), Input{Runs: []*record.Run{handmade("jobs", nil)}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"FIFO|0.00|0.50|1.00|1.00", "FIFO|0.00|0.10"} {
		if got := strings.Join(out.Tables[i].Rows[0], "|"); got != want {
			t.Errorf("table %d: %s, want %s", i, got, want)
		}
	}
	if got := strings.Join(out.Tables[1].Columns, "|"); got != "policy|BERT|NCF" {
		t.Error(got)
	}
}

// TestSharingNeedsGangs: without a schedule in which jobs hold their gangs nobody
// knows which are large.
func TestSharingNeedsGangs(t *testing.T) {
	run := handmade("jobs", nil)
	run.Ratios = run.Ratios[1:2]
	if _, err := sharingTable3(context.Background(), Input{Runs: []*record.Run{run}}); err == nil {
		t.Error("a malleable schedule alone tells large jobs from small ones")
	}
}

// TestSharingSweep: points are in order of the parameter, and tables are as wide.
func TestSharingSweep(t *testing.T) {
	load, xi := &record.Run{}, &record.Run{}
	for _, v := range []string{"2", "0.5", "1"} {
		r := handmade("jobs", map[string]string{"sharing.rate": v})
		load.Ratios, load.Jobs = append(load.Ratios, r.Ratios...), append(load.Jobs, r.Jobs...)
		r = handmade("jobs", map[string]string{"sharing.xi": v, "gpuMemory": "24GB"})
		xi.Ratios, xi.Jobs = append(xi.Ratios, r.Ratios...), append(xi.Jobs, r.Jobs...)
	}
	out, err := sharingFig6(context.Background(), Input{Runs: []*record.Run{load, xi}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Figures) != 2 || len(out.Tables) != 4 {
		t.Fatalf("%d figures and %d tables", len(out.Figures), len(out.Tables))
	}
	for _, l := range out.Figures[0].Lines {
		if fmt.Sprint(l.X) != "[0.5 1 2]" {
			t.Errorf("%s: %v", l.Name, l.X)
		}
	}
	if got := strings.Join(out.Tables[0].Columns, "|"); got != "policy|0.5|1|2" {
		t.Error(got)
	}
}

// TestSharingLoadScales: the sweep of the number of jobs scales as a whole.
func TestSharingLoadScales(t *testing.T) {
	s, err := Suite("sjf-bsbf-load", 0.1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []int
	for i := range s.Instances {
		jobs = append(jobs, s.Instances[i].Slice.Jobs)
	}
	if fmt.Sprint(jobs) != "[12 18 24 30 36 42 48]" {
		t.Errorf("%v jobs", jobs)
	}
}
