package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// placementRun is a run of three fragmentations of one job. In the last nothing
// is proven optimal: the bounds are 80 ms and 40 MB.
func placementRun(proven bool) *record.Run {
	run := &record.Run{}
	for k := range 3 {
		row := func(method string, minimises record.Text, alpha, cut float64, ok record.Opt[bool]) {
			best := record.Some(0.08)
			least := record.Some(40e6)
			p := record.Placement{Family: "vgg19-16g-4s", Instance: "vgg19-16g-4s", JobName: "vgg19-16g-4s", GPUs: 16, Replicas: "4,5,6,1",
				Fragmentation: k, Seed: record.Some(int64(k)), Parts: "0:8,3:8", Method: method, Minimises: minimises, Termination: "OPTIMAL",
				Alpha: record.Some(alpha), Cut: record.Some(cut), Placement: "0:4,4,0,0;3:0,1,6,1", Proven: ok,
				AlphaLowerBound: best, AlphaRatioLowerBound: record.Some(alpha / best.V), CutLowerBound: least, CutRatioLowerBound: record.Some(cut / least.V),
				Wall: record.Some(float64(k+1) * 1e-6)}
			if k < 2 || proven {
				p.AlphaOptimum, p.AlphaRatioOptimum, p.CutOptimum, p.CutRatioOptimum = best, p.AlphaRatioLowerBound, least, p.CutRatioLowerBound
			}
			if alpha == 0 {
				p.Alpha, p.Cut, p.AlphaRatioLowerBound, p.AlphaRatioOptimum = record.Opt[float64]{}, record.Opt[float64]{}, record.Opt[float64]{}, record.Opt[float64]{}
				p.Termination, p.Message, p.Placement = "TIME_LIMIT", "killed after 9 s", ""
			}
			run.Placements = append(run.Placements, p)
		}
		row("heavy-edge", "", 0.08*(1+float64(k)/10), 60e6, record.Opt[bool]{})
		row("min-alpha", record.Alpha, 0.08, 50e6, record.Some(k < 2 || proven))
		alpha := 0.1
		if k == 1 {
			alpha = 0
		}
		row("count-cut/cbc", record.Cut, alpha, 40e6, record.Some(false))
	}
	run.Placements[2].Refuted = record.Some(true)
	return run
}

func TestPlacementTable(t *testing.T) {
	for _, proven := range []bool{true, false} {
		var b bytes.Buffer
		if err := New(placementRun(proven)).Write(&b, Options{}); err != nil {
			t.Fatal(err)
		}
		out := strings.Join(strings.Fields(b.String()), " ")
		mark, n := "", "3/3"
		if !proven {
			mark, n = "≤", "2/3"
		}
		for _, want := range []string{
			"placement · vgg19-16g-4s · 16 GPUs in stages of 4,5,6,1 · 3 fragmentations · optimum proven: alpha " + n + ", cut " + n,
			fmt.Sprintf("heavy-edge 3/3 88.000 %[1]s1.100 %[1]s1.200 %[1]s1.500 %[1]s1.500 – – – 2.0 µs 3.0 µs", mark),
			fmt.Sprintf("min-alpha 3/3 80.000 %[1]s1.000 %[1]s1.000 %[1]s1.250 %[1]s1.250 alpha %[2]s – 2.0 µs", mark, n),
			fmt.Sprintf("count-cut/cbc 2/3 100.000 %[1]s1.250 %[1]s1.250 %[1]s1.000 %[1]s1.000 cut 0/3 1/3", mark),
			"no placement: - count-cut/cbc on vgg19-16g-4s, fragmentation 01: TIME_LIMIT: killed after 9 s",
			"fragmentation 01 0:8,3:8 88.000 1.100 80.000 1.000 time limit",
			"proven refuted",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("proven %v: the table lacks %q:\n%s", proven, want, b.String())
			}
		}
		if strings.Contains(out, "no results") || strings.Contains(out, "percentiles") {
			t.Errorf("the table says what it should not:\n%s", out)
		}
	}
}

// Every format shows every method; CSV numbers are the rows'.
func TestPlacementFormats(t *testing.T) {
	run := placementRun(true)
	r := New(run)
	for _, f := range Formats() {
		var b bytes.Buffer
		if err := Write(&b, run, Options{Format: f, Width: 60}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"heavy-edge", "min-alpha", "count-cut/cbc"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %s:\n%s", f, want, b.String())
			}
		}
	}
	read := func(p Part) [][]string {
		var b bytes.Buffer
		if err := r.Write(&b, Options{Format: CSV, Part: p}); err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	if lines := read(All); len(lines) != 4 || lines[3][2] != "count-cut/cbc" || lines[3][4] != "2" || lines[3][6] != "1" {
		t.Errorf("summary: %v", lines)
	}
	if lines := read(Instances); len(lines) != 10 || lines[1][5] != "0.08" || lines[6][5] != "" || lines[6][14] != "killed after 9 s" {
		t.Errorf("instances: %v", lines)
	}
}

// One case shows the placements themselves, a deep pipeline only its length.
func TestPlacementOfOneCase(t *testing.T) {
	run := placementRun(true)
	run.Placements = run.Placements[:3]
	for i := range run.Placements {
		run.Placements[i].Replicas = strings.Repeat("1,", 15) + "1"
	}
	var b bytes.Buffer
	if err := New(run).Write(&b, Options{Part: Summaries}); err != nil {
		t.Fatal(err)
	}
	if out := b.String(); !strings.Contains(out, "0:4,4,0,0;3:0,1,6,1") || !strings.Contains(out, "16 GPUs in 16 stages") || strings.Contains(out, "worst") {
		t.Errorf("table:\n%s", out)
	}
}
