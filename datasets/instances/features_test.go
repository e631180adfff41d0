package instances

import (
	"math"
	"reflect"
	"testing"

	"yardstick/datasets"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// Three jobs on two servers of two GPUs, counted by hand.
func TestFeaturesByHand(t *testing.T) {
	job := func(name, user string, release sched.Time, gang int, weight float64, seconds int64) sched.Job {
		return sched.Job{Name: name, User: user, Release: release, Weight: weight, Iters: seconds,
			Stages: []sched.Stage{{Compute: sched.Duration(1_000_000_000), Replicas: gang}}}
	}
	in := &sched.Instance{Name: "hand", Model: sched.ModelGang, Cluster: sched.Uniform(2, 2, 1_250_000_000, 300_000_000_000), Jobs: []sched.Job{
		job("a", "ann", 0, 1, 1, 10), job("b", "bob", 5*sched.Second, 2, 3, 20), job("c", "ann", 30*sched.Second, 4, 2, 60),
	}, History: make([]sched.PastJob, 7)}
	got, err := FeaturesOf(in)
	if err != nil {
		t.Fatal(err)
	}
	work := (10 + 2*20 + 4*60) * 1e6
	want := Features{History: 7, Span: 30 * sched.Second, LeastWeight: 1, MostWeight: 3, Users: 2, Gangs: datasets.Some(Gangs{
		Largest: 4, Mean: 7.0 / 3, Single: 1.0 / 3, Work: work, MeanRun: 30e6, MedianRun: 20 * sched.Second, LongestRun: 60 * sched.Second,
		OfferedLoad: datasets.Some(work * 2 / 3 / 4 / 30e6),
	})}
	if load := got.Gangs.V.OfferedLoad; math.Abs(load.V-want.Gangs.V.OfferedLoad.V) > 1e-12 {
		t.Errorf("load %v, want %v", load, want.Gangs.V.OfferedLoad)
	}
	got.Gangs.V.OfferedLoad = want.Gangs.V.OfferedLoad
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The features of every model do not depend on the order of the jobs, the load is
// OfferedLoad's, and on a scale of twice the time the times are twice as long.
func TestFeatures(t *testing.T) {
	for name, in := range schedtest.Every(20) {
		got, err := FeaturesOf(in)
		if err != nil {
			t.Fatal(name, err)
		}
		load, ok, err := OfferedLoad(in)
		if err != nil || got.Gangs.OK != in.Model.Gangs() || got.Gangs.V.OfferedLoad != (datasets.Opt[float64]{V: load, OK: ok}) {
			t.Errorf("%s: %+v; OfferedLoad says %v, %v, %v", name, got, load, ok, err)
		}
		last := len(in.Jobs) - 1
		perm := make([]int, last+1)
		for i := range perm {
			perm[i] = last - i
		}
		if other, err := FeaturesOf(schedtest.PermuteJobs(in, perm)); err != nil || other != got {
			t.Errorf("%s: %+v, and in another order %+v, %v", name, got, other, err)
		}
		if !in.Model.Gangs() {
			continue
		}
		twice, err := FeaturesOf(schedtest.Scale(in, 2))
		if err != nil {
			t.Fatal(name, err)
		}
		want := got
		want.Span, want.Slot = 2*got.Span, 2*got.Slot
		g := &want.Gangs.V
		g.Work, g.MeanRun, g.MedianRun, g.LongestRun = 2*g.Work, 2*g.MeanRun, 2*g.MedianRun, 2*g.LongestRun
		if !reflect.DeepEqual(twice, want) {
			t.Errorf("%s: on twice the time %+v, want %+v", name, twice, want)
		}
	}
}
