package generate

import (
	"math"
	"os"
	"slices"
	"testing"

	"yardstick/datasets"
)

// The public traces that some machines have beside the repository.
const sharedJobs = "../../../shared/data/curated/jobs.parquet"

// Against the published rows themselves, not only their quantiles: the
// Kolmogorov–Smirnov distance of running times and demands.
func TestDistanceToPublicTraces(t *testing.T) {
	if _, err := os.Stat(sharedJobs); err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	source, err := datasets.Open(sharedJobs)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	durations, demands := map[string][]float64{}, map[string][]float64{}
	for r, err := range source.Rows("trace", "duration_s", "gpus") {
		if err != nil {
			t.Fatal(err)
		}
		if r.DurationS.OK {
			durations[r.Trace] = append(durations[r.Trace], r.DurationS.V)
		}
		if r.GPUs.OK {
			demands[r.Trace] = append(demands[r.Trace], r.GPUs.V)
		}
	}
	philly, pai := newSample(t, Philly, 70_000, 1), newSample(t, PAI, 100_000, 1)
	pollux := newSample(t, Pollux, 20_000, 1)
	var workloads []float64
	for _, n := range []string{"1", "3", "4", "6", "7"} {
		workloads = append(workloads, demands["pollux/workloads/workload-"+n]...)
	}
	for _, c := range []struct {
		what         string
		got, want    []float64
		atLeast      int
		low, highest float64
	}{
		{"running times of philly", philly.durations, durations["philly"], 70_063, 0, math.Inf(1)},
		{"demands of philly", philly.demands, demands["philly"], 70_063, 0, math.Inf(1)},
		{"running times of pai from 300 s to 3 d", pai.durations, durations["pai_gaia100k"], 59_002, 300, 3 * 86400},
		{"demands of pollux", pollux.demands, workloads, 800, 0, math.Inf(1)},
	} {
		if len(c.want) < c.atLeast {
			t.Fatalf("%s: %d public rows", c.what, len(c.want))
		}
		slices.Sort(c.want)
		d := 0.0
		got, want := between(c.got, c.low, c.highest), between(c.want, c.low, c.highest)
		for _, x := range append(slices.Clone(got), want...) {
			d = max(d, math.Abs(below(got, x)-below(want, x)))
		}
		t.Logf("%s: KS distance %.4f", c.what, d)
		if d > 0.05 {
			t.Errorf("%s: KS distance %.4f, at most 0.05 is wanted", c.what, d)
		}
	}
}
