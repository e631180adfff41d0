package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
)

// between returns the times between submissions of consecutive jobs, ascending.
func between(jobs []Job) []sched.Time {
	var list []sched.Time
	for i := 1; i < len(jobs); i++ {
		list = append(list, jobs[i].Submit-jobs[i-1].Submit)
	}
	slices.Sort(list)
	return list
}

// distance is Kolmogorov and Smirnov's between two sorted samples.
func distance(a, b []sched.Time) float64 {
	share := func(list []sched.Time, x sched.Time) float64 {
		i, _ := slices.BinarySearch(list, x+1)
		return float64(i) / float64(len(list))
	}
	largest := 0.0
	for _, x := range append(slices.Clone(a), b...) {
		largest = max(largest, math.Abs(share(a, x)-share(b, x)))
	}
	return largest
}

// TestSampleKeepsGaps: samples of bursty traces have their distribution of
// inter-arrival times, and consist of their jobs, in order, each once.
func TestSampleKeepsGaps(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 11))
		n := 2 + rng.IntN(600)
		var rows []Row
		at := 0.0
		for i := range n {
			if rng.IntN(4) == 0 {
				at += math.Floor(rng.ExpFloat64() * 300)
			}
			rows = append(rows, jobRow(fmt.Sprintf("%04d", i), at, float64(1+rng.IntN(8)), float64(1+rng.IntN(50))))
		}
		trace, err := NewTrace(All(rows), Selection{})
		if err != nil {
			t.Fatal(err)
		}
		jobs := 1 + rng.IntN(n)
		windows, err := trace.Windows(Slice{Jobs: jobs, At: At{Rule: AtSample}, Repeat: 2}, seed, "x")
		if err != nil || len(windows) != 2 {
			t.Fatalf("seed %d: %d windows, %v", seed, len(windows), err)
		}
		for _, w := range windows {
			list := w.List()
			last := -1
			for k, j := range list {
				i := slices.IndexFunc(trace.jobs, func(o Job) bool { return o.ID == j.ID })
				if i <= last || j.Run != trace.jobs[i].Run || j.Gang != trace.jobs[i].Gang || j.End-j.Submit != trace.jobs[i].End-trace.jobs[i].Submit {
					t.Fatalf("seed %d: job %d of the sample is %+v, job %d of the trace", seed, k, j, i)
				}
				if k > 0 && j.Submit-list[k-1].Submit != trace.gap(i) {
					t.Fatalf("seed %d: job %d follows after %v, not %v", seed, k, j.Submit-list[k-1].Submit, trace.gap(i))
				}
				last = i
			}
			if len(list) != jobs || list[0] != trace.jobs[w.First] {
				t.Fatalf("seed %d: %d jobs from %d on, want %d", seed, len(list), w.First, jobs)
			}
			if jobs < 2 {
				continue
			}
			// The first job's own gap is not part of the window: one more 1/jobs.
			if d := distance(between(list), between(trace.jobs)); d > 2/float64(jobs)+1/float64(n-1)+1e-12 {
				t.Errorf("seed %d: distance %v with %d of %d jobs", seed, d, jobs, n)
			}
			exact, _ := exactLoad(list).Float64()
			if math.Abs(w.Load-exact) > 1e-9*exact {
				t.Errorf("seed %d: load %v, want %v", seed, w.Load, exact)
			}
		}
	}
}

// TestSamplesDiffer: repetitions draw different jobs, and the same ones again;
// a uniform sample in place of the strata would fail TestSampleKeepsGaps.
func TestSamplesDiffer(t *testing.T) {
	trace := randomTrace(t, 4, 300)
	ids := func(master uint64) (lists []string) {
		windows, err := trace.Windows(Slice{Jobs: 100, At: At{Rule: AtSample}, Repeat: 3}, master, "x")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range windows {
			text := ""
			for _, j := range w.List() {
				text += j.ID + " "
			}
			lists = append(lists, text)
		}
		return lists
	}
	a, b, c := ids(1), ids(1), ids(2)
	if !slices.Equal(a, b) || slices.Equal(a, c) || a[0] == a[1] {
		t.Error("samples do not depend on the seed and on it alone")
	}
	whole, err := trace.Windows(Slice{At: At{Rule: AtSample}}, 1, "x")
	if err != nil || !slices.Equal(whole[0].List(), trace.jobs) {
		t.Errorf("the sample of all jobs is not the trace: %v", err)
	}
	if past := whole[0].Past(5); len(past) != 0 {
		t.Errorf("%d jobs before the first", len(past))
	}
	if _, err := trace.Windows(Slice{Jobs: 301, At: At{Rule: AtSample}}, 1, "x"); err == nil {
		t.Error("a sample of more jobs than there are")
	}
}
