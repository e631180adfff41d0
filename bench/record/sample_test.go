package record

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files from what the code does now")

// randomRun returns a run whose every table has the given number of rows, of
// random values, some of them missing, with keys that do not repeat.
func randomRun(seed uint64, rows int) *Run {
	rng := rand.New(rand.NewPCG(seed, 1))
	run := &Run{Manifest: Manifest{
		Created: time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC),
		Suite:   json.RawMessage(`{"name":"random"}`),
		PlanID:  "0123456789abcdef",
		Params:  []Param{{Name: "cluster.inter"}, {Name: "load", Number: true, Unit: "jobs/s"}},
		Inputs:  []Input{{Name: "builtin:philly-like", SHA256: "ab", Bytes: 12}},
	}}
	fill(rng, ratioTable(run.Manifest.Params), run, rows)
	fill(rng, jobTable(), run, rows)
	fill(rng, segmentTable(), run, rows)
	fill(rng, solveTable(), run, rows)
	fill(rng, boundTable(), run, rows)
	fill(rng, predictionTable(), run, rows)
	fill(rng, theoremTable(), run, rows)
	fill(rng, placementTable(), run, rows)
	fill(rng, eventTable(), run, rows)
	fill(rng, instanceTable(), run, rows)
	for i := range run.Ratios { // most rows must count for the digest
		run.Ratios[i].WallLimited = rng.IntN(5) == 0
	}
	return run
}

func fill[R any](rng *rand.Rand, t *table[R], run *Run, rows int) {
	list := make([]R, rows)
	for i := range list {
		for c := range t.columns {
			set(t.columns[c].field(&list[i]), randomValue(rng, t.columns[c].describe(), t.columns[c].field(&list[i]), i))
		}
	}
	*t.rows(run) = list
}

func randomValue(rng *rand.Rand, c Column, field any, row int) value {
	v := value{
		s: fmt.Sprintf("%s é%d", c.Name, rng.IntN(9)),
		i: rng.Int64N(1 << 31),
		f: rng.NormFloat64() * 1e6,
		b: rng.IntN(2) == 0,
	}
	switch {
	case c.Group == Key:
		v.s, v.i = fmt.Sprintf("%s %d", c.Name, row), int64(row)
	case c.Nullable && rng.IntN(4) == 0:
		v.null = true
	case c.Type == Int64:
		v.i = rng.Int64N(1<<54) - 1<<53
	}
	if p, ok := field.(param); ok && p.Number {
		v.s = strconv.FormatFloat(v.f, 'g', -1, 64)
	}
	return v
}

// sampleRun is a small run with realistic values.
func sampleRun() *Run {
	ratio := func(instance, method string, cost, optimum float64) Ratio {
		return Ratio{CellID: instance + "/" + method, Suite: "quick", Instance: instance, InstanceSHA256: "00", Family: "busy", Model: "gang",
			Class: "N", Jobs: 8, GPUs: 8, Objective: "total-completion", Method: method, Sense: Min, Kind: "online", Termination: "OPTIMAL",
			Cost: Some(cost), Optimum: Some(optimum), OptimumStatus: Proven, RatioToOptimum: Some(cost / optimum),
			Params: map[string]string{"cluster.inter": "10Gbps"}}
	}
	return &Run{
		Manifest: Manifest{Created: time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), Suite: json.RawMessage(`{"name":"quick"}`), PlanID: "p",
			Params: []Param{{Name: "cluster.inter"}}},
		Ratios: []Ratio{ratio("a", "fifo", 12, 10), ratio("a", "sjf", 10, 10), ratio("b", "fifo", 7, 5)},
		Jobs: []Job{
			{CellID: "a/fifo", Job: 0, Release: 0, Start: Some(0.0), Completion: Some(12.5)},
			{CellID: "a/fifo", Job: 1, Release: 1.5},
		},
		Bounds: []Bound{{Suite: "quick", Instance: "a", InstanceSHA256: "00", Objective: "total-completion", Bound: "srpt", Side: Lower, Value: Some(9.0), Class: "P0", Certified: Some(true), ValueExact: "9", CellID: "a/srpt"}},
	}
}

func mustWrite(t *testing.T, dir string, run *Run) {
	t.Helper()
	if err := Write(dir, run); err != nil {
		t.Fatal(err)
	}
}

func mustDigest(t *testing.T, run *Run) string {
	t.Helper()
	d, err := run.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}
