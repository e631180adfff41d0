package report

import (
	"math"
	"math/rand/v2"
	"testing"

	"yardstick/bench/record"
	"yardstick/sched"
)

// TestOfferedLoadIsTheOne: the report's load is that of package sched.
func TestOfferedLoadIsTheOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 15))
	loads := 0
	for range 300 {
		n, gpus := 1+r.IntN(6), 1+r.IntN(9)
		var jobs []record.Job
		work, run, first, last := 0.0, 0.0, math.Inf(1), 0.0
		for range n {
			release, length, gang := float64(r.IntN(300)), float64(1+r.IntN(90)), 1+r.IntN(4)
			jobs = append(jobs, record.Job{Release: release, Train: record.Some(length), GPUs: record.Some(gang)})
			work, run = work+length*float64(gang), run+length
			first, last = min(first, release), max(last, release)
		}
		want, known := sched.OfferedLoad(n, work, run, last-first, gpus)
		got, ok := offeredLoad(jobs, gpus)
		if ok != known || math.Abs(got-want) > 1e-12*want {
			t.Fatalf("%v, %v, want %v, %v: %+v", got, ok, want, known, jobs)
		}
		if ok {
			loads++
		}
	}
	if loads < 100 {
		t.Errorf("%d loads", loads)
	}
}
