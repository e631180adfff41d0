package sched_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestOfferedLoad compares with the definition, followed by hand on random jobs:
// it does not change with the unit of time, halves with twice the GPUs, doubles
// with twice the work, and is what a queue whose jobs keep coming like this would be
// utilised. Bursts have none.
func TestOfferedLoad(t *testing.T) {
	bursts, loads := 0, 0
	schedtest.EachSeed(t, 300, func(t *testing.T, r *rand.Rand) {
		n, gpus := 1+r.IntN(8), 1+r.IntN(16)
		var releases []float64
		work, run := 0.0, 0.0
		for range n {
			releases = append(releases, float64(r.IntN(200)))
			d := float64(1 + r.IntN(100))
			work, run = work+d*float64(1+r.IntN(4)), run+d
		}
		slices.Sort(releases)
		span := releases[n-1] - releases[0]
		load, ok := sched.OfferedLoad(n, work, run, span, gpus)
		if want := n > 1 && span > 0 && span*float64(n) >= run; ok != want {
			t.Fatalf("%d jobs within %v that run for %v: has a load: %v", n, span, run, ok)
		}
		if !ok {
			bursts++
			return
		}
		loads++
		gap := 0.0 // the mean time between releases, one by one
		for i := range n - 1 {
			gap += (releases[i+1] - releases[i]) / float64(n-1)
		}
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-12*want {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		near("definition", load, work/float64(n)/gap/float64(gpus))
		for _, c := range []float64{1e-6, 3, 1e9} {
			scaled, ok := sched.OfferedLoad(n, c*work, c*run, c*span, gpus)
			if near("all times scaled", scaled, load); !ok {
				t.Errorf("a load is none when all times are multiplied by %v", c)
			}
		}
		half, _ := sched.OfferedLoad(n, work, run, span, 2*gpus)
		near("twice the GPUs", half, load/2)
		twice, _ := sched.OfferedLoad(n, 2*work, run, span, gpus)
		near("twice the work", twice, 2*load)
	})
	if bursts < 30 || loads < 30 {
		t.Errorf("%d bursts, %d loads: the test is one-sided", bursts, loads)
	}
}
