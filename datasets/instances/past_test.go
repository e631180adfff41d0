package instances

import (
	"fmt"
	"reflect"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/tracetest"
	"yardstick/sched"
)

// TestPast: the past of a window is the jobs that had completed before it, the last
// ones, in the order of their releases, each as it would be in a window of its own.
func TestPast(t *testing.T) {
	var rows []datasets.Row
	for i := range 40 {
		rows = append(rows, datasets.Row{Trace: "t", JobID: fmt.Sprint(i), SubmitS: datasets.Some(float64(50 * i)), DurationS: datasets.Some(float64(30 + i*i*37%600)), GPUs: datasets.Some(float64(1 + i%4))})
	}
	trace, err := datasets.NewTrace(tracetest.All(rows), datasets.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	build := func(first, jobs, past int) *sched.Instance {
		at := datasets.At{Rule: datasets.AtIndex, Index: first}
		windows, err := trace.Windows(datasets.Slice{Jobs: jobs, At: at}, 1, "x")
		if err != nil {
			t.Fatal(err)
		}
		in, err := Preemptive(&windows[0], PreemptiveOptions{Common: Common{Name: "x", Cluster: sched.Uniform(1, 4, 1e9, 1e9)}, Startup: 5 * sched.Second, Past: past})
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	whole := build(0, 40, 0)
	for _, past := range []int{0, 1, 7, 1000} {
		in := build(25, 10, past)
		epoch := whole.Jobs[25].Release
		var want []sched.Job
		for i := range 25 {
			if j := whole.Jobs[i]; j.Release+sched.Time(30+i*i*37%600)*sched.Second <= epoch {
				want = append(want, j)
			}
		}
		if past < len(want) {
			if len(in.Past) != past {
				t.Fatalf("past of %d jobs: %d", past, len(in.Past))
			}
			continue // which of them: the last to complete
		}
		for i := len(want) - 1; i >= 0; i-- {
			want[i].Release -= want[0].Release
		}
		if !reflect.DeepEqual(in.Past, want) {
			t.Errorf("past:\n%+v\nwant:\n%+v", in.Past, want)
		}
		if without := build(25, 10, 0); in.Hash() == without.Hash() || !reflect.DeepEqual(in.Jobs, without.Jobs) {
			t.Error("the past changes the jobs, or is not part of the instance")
		}
	}
	// Of a sample: jobs of another one.
	windows, err := trace.Windows(datasets.Slice{Jobs: 10, At: datasets.At{Rule: datasets.AtSample}}, 1, "x")
	if err != nil {
		t.Fatal(err)
	}
	own := map[int]bool{}
	for _, j := range windows[0].List() {
		own[j.Row] = true
	}
	before := windows[0].Before(20)
	if len(before) < 10 || len(before) > 20 {
		t.Errorf("%d jobs before a sample", len(before))
	}
	for i, j := range before {
		if own[j.Row] || i > 0 && j.Submit < before[i-1].Submit {
			t.Errorf("job %d before a sample: %+v", i, j)
		}
	}
	last := build(25, 10, 1).Past[0]
	if last.Release != 0 || last.Load < 5*sched.Second {
		t.Errorf("the last job of the past: %+v", last)
	}
	in := build(25, 10, 3)
	in.Model = sched.ModelGang
	if in.Validate() == nil {
		t.Error("a gang instance with a past is accepted")
	}
}
