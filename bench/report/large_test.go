package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"testing"

	"yardstick/bench/record"
	"yardstick/internal/tier"
)

// largeRun has families of 10 methods and so many instances, with four jobs in
// every schedule; the method named exact reaches the optimum.
func largeRun(seed uint64, rows, instances int) *record.Run {
	rng := rand.New(rand.NewPCG(seed, 9))
	run := &record.Run{Dir: "results/large", Manifest: record.Manifest{Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Suite: json.RawMessage(`{"limits":{"solve":"60s"}}`),
		Execution: record.Execution{Workers: 2, Cells: rows, Wall: 3600}}}
	for n := 0; len(run.Ratios) < rows; n++ {
		family, instance := fmt.Sprintf("family-%d", n/instances), fmt.Sprintf("instance-%06d", n)
		optimum := 1000 * (1 + rng.ExpFloat64())
		proven := rng.IntN(4) > 0
		for m := range 10 {
			if len(run.Ratios) == rows {
				break
			}
			row := record.Ratio{CellID: fmt.Sprintf("%06d-%d", n, m), Suite: "large", Instance: instance, InstanceSHA256: "00", Family: family, Model: "gang", Class: "N",
				Jobs: 4, GPUs: 8, Servers: record.Some(2), Objective: "total-jct", Method: fmt.Sprintf("method-%d", m), Sense: record.Min, Kind: "online",
				OfferedLoad: offered(0.2+0.15*float64(n%7), n%7 > 0),
				Termination: "COMPLETED", Schedule: record.Some(0), DecisionP50: record.Some(1e-6)}
			if m == 0 {
				row.Method, row.Kind, row.Termination = "exact", "exact", "OPTIMAL"
			}
			if rng.IntN(200) == 0 {
				row.Termination, row.Schedule = "CRASHED", record.Opt[int]{}
				row.Message = "index out of range"
				run.Ratios = append(run.Ratios, row)
				continue
			}
			ratio := 1.0
			if m > 0 {
				ratio += 0.1 * float64(m) * rng.ExpFloat64()
			}
			row.Cost = record.Some(optimum * ratio)
			row.LowerBound, row.LowerBoundMethod, row.LowerBoundCertified = record.Some(optimum), "srpt", record.Some(true)
			row.RatioToLowerBound, row.RatioToBestKnown = record.Some(row.Cost.V/optimum), record.Some(row.Cost.V/optimum)
			if proven {
				row.Optimum, row.OptimumStatus, row.OptimumMethod, row.RatioToOptimum = record.Some(optimum), record.Proven, "exact", row.RatioToLowerBound
			}
			run.Ratios = append(run.Ratios, row)
			start := 0.0
			for j := range 4 {
				length := row.Cost.V / 10 * (0.5 + rng.Float64())
				release := float64(n%7*j) * optimum / 10
				run.Jobs = append(run.Jobs, record.Job{CellID: row.CellID, Job: j, Release: release, Start: record.Some(start), Completion: record.Some(start + length),
					JCT: record.Some(math.Max(start+length-release, 1)), Train: record.Some(length), GPUs: record.Some(4)})
				run.Segments = append(run.Segments, record.Segment{CellID: row.CellID, Job: j, Server: j % 2, Start: start, End: start + length, Phase: "train", GPUs: 4})
				start += length
			}
		}
	}
	return run
}

// A report of 100,000 rows stays below 3 MB, with every section.
func TestLargeReport(t *testing.T) {
	tier.Slow(t)
	for _, instances := range []int{1000, 1} { // of a family: few large groups to very many small ones
		var b bytes.Buffer
		if err := writeHTML(&b, largeRun(1, 100_000, instances)); err != nil {
			t.Fatal(err)
		}
		if b.Len() > 3_000_000 {
			t.Errorf("%d instances in a family: %d bytes", instances, b.Len())
		}
		checkPage(t, b.String())
	}
}

func BenchmarkHTML(b *testing.B) {
	for _, rows := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			run := largeRun(1, rows, 1000)
			var size int
			for b.Loop() {
				var out bytes.Buffer
				if err := writeHTML(&out, run); err != nil {
					b.Fatal(err)
				}
				size = out.Len()
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
