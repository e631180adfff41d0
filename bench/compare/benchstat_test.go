package compare

import (
	"fmt"
	"testing"

	"yardstick/bench/record"
)

// samples of benchstat's own example (golang.org/x/perf, cmd/benchstat,
// testdata/old.txt and new.txt), in ns per operation: one benchmark became
// faster, of the other the two runs are the same program.
var example = map[string][2][]float64{
	"format=json": {{1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774}, {1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425}},
	"format=gob":  {{3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062}, {3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062}},
}

// runs makes one run per repetition, with a cell per benchmark.
func runs(side int, repetitions int) []*record.Run {
	var list []*record.Run
	for n := range repetitions {
		run := &record.Run{Dir: fmt.Sprint(side, n), Manifest: record.Manifest{ResultDigest: "d"}}
		for _, name := range []string{"format=json", "format=gob"} {
			run.Ratios = append(run.Ratios, record.Ratio{CellID: name, Suite: "s", Instance: name, InstanceSHA256: "aa", Family: "Encode", Objective: "makespan",
				Method: "encode", Sense: record.Min, Cost: record.Some(1.0), CostExact: "1", Wall: record.Some(example[name][side][n] * 1e-9)})
		}
		list = append(list, run)
	}
	return list
}

// benchstat prints for this data, in its documentation and its golden files:
//
//	Encode/format=json  1.718µ ± 1%  1.423µ ± 1%  -17.20% (p=0.000 n=10)
//	Encode/format=gob   3.066µ ± 0%  3.070µ ± 2%        ~ (p=0.446 n=10)
func TestBenchstatExample(t *testing.T) {
	c, err := New(runs(0, 10), runs(1, 10))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][4]string{
		"format=json": {"1.718", "1.423", "-17.20%", "0.000"},
		"format=gob":  {"3.066", "3.070", "~", "0.446"},
	}
	for _, cell := range c.Cells {
		got := [4]string{fmt.Sprintf("%.3f", cell.MedA*1e6), fmt.Sprintf("%.3f", cell.MedB*1e6), cell.Delta, fmt.Sprintf("%.3f", cell.P)}
		if got != want[cell.Instance] {
			t.Errorf("%s: %v, benchstat prints %v", cell.Instance, got, want[cell.Instance])
		}
	}
	if len(c.Cells) != 2 {
		t.Errorf("%d cells", len(c.Cells))
	}
	if len(c.Changed) != 0 {
		t.Errorf("%+v", c.Changed)
	}
}

// Three runs on each side cannot tell anything at 0.05, and it says so.
func TestTooFewRuns(t *testing.T) {
	c, err := New(runs(0, 3), runs(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range c.Cells {
		if cell.Delta != "~" || len(cell.Notes) != 1 || cell.Notes[0] != "need >= 4 samples to detect a difference at alpha level 0.05" {
			t.Errorf("%+v", cell)
		}
	}
}
