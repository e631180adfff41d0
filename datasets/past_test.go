package datasets

import (
	"math/rand/v2"
	"reflect"
	"sort"
	"testing"

	"yardstick/sched"
)

// TestPast: the past of a window is what sorting every job that has ended says.
func TestPast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for range 300 {
		trace := &Trace{jobs: make([]Job, 1+r.IntN(30))}
		at := sched.Time(0)
		for i := range trace.jobs {
			at += sched.Time(r.IntN(3))
			trace.jobs[i] = Job{Row: i, Submit: at, End: at + sched.Time(r.IntN(12))}
		}
		for first := range trace.jobs {
			w := &Window{First: first, Jobs: 1, trace: trace}
			var done []Job
			for _, j := range trace.jobs[:first] {
				if j.End <= trace.jobs[first].Submit {
					done = append(done, j)
				}
			}
			sort.SliceStable(done, func(a, b int) bool { return done[a].End < done[b].End })
			for _, n := range []int{0, 1, 3, 100} {
				want := done[max(0, len(done)-n):]
				if got := w.Past(n); len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
					t.Fatalf("window at %d of %+v: the last %d are %+v, not %+v", first, trace.jobs, n, got, want)
				}
			}
		}
	}
}
