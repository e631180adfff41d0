package pollux_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"yardstick/heuristics/pollux"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
)

func replay(t *testing.T, in *sched.Instance, o pollux.Options, run sim.Options) (*sim.Result, *verify.Verified) {
	t.Helper()
	r, err := sim.Run(context.Background(), in, pollux.New(o), run)
	if err != nil {
		t.Fatal(err)
	}
	return r, schedtest.Verify(t, in, r.Schedule)
}

// TestRandom: schedules of class M are legal, in continuous time and in slots,
// jobs are resized, and nobody tells the policy how long they are.
func TestRandom(t *testing.T) {
	resized := 0
	for seed := range uint64(400) {
		rng := schedtest.Rand(seed)
		shape := schedtest.Shape{Jobs: 1 + rng.IntN(8), Servers: 1 + rng.IntN(3), GPUs: 4, Stages: 1}
		interval := sched.Second / 5
		if seed%2 == 1 {
			shape.Slot, interval = 1000, 3500
		}
		in := schedtest.Malleable(rng, shape)
		r, v := replay(t, in, pollux.Options{Interval: interval, Placement: sim.Rule(seed % 5)}, sim.Options{Slotted: shape.Slot > 0})
		if r.Clairvoyant {
			t.Fatalf("seed %d: the policy is clairvoyant", seed)
		}
		if want := (sched.Class{Kind: sched.M, Slotted: shape.Slot > 0}); v.Class() != want {
			t.Fatalf("seed %d: class %v", seed, v.Class())
		}
		for _, j := range v.Jobs() {
			sizes := map[int]bool{}
			for _, s := range r.Schedule.Segments {
				if s.Job == j.Job {
					sizes[s.Place.GPUs()] = true
				}
			}
			if len(sizes) > 1 {
				resized++
			}
		}
		again, _ := replay(t, in, pollux.Options{Interval: interval, Placement: sim.Rule(seed % 5)}, sim.Options{Slotted: shape.Slot > 0})
		if again.Preemptions != r.Preemptions || len(again.Schedule.Segments) != len(r.Schedule.Segments) {
			t.Fatalf("seed %d: two runs differ", seed)
		}
	}
	if resized < 200 {
		t.Errorf("only %d jobs were resized", resized)
	}
}

// scaling is an instance of perfectly malleable jobs on four GPUs: g GPUs are g
// times as fast.
func scaling(pause sched.Time, jobs ...[2]sched.Time) *sched.Instance {
	in := &sched.Instance{Name: "scaling", Model: sched.ModelSharing, Cluster: schedtest.Servers(4), Interference: [][]float64{{1}}}
	for _, j := range jobs {
		sizes := []sched.Size{{GPUs: 1, Iter: 4e9}, {GPUs: 2, Iter: 2e9}, {GPUs: 4, Iter: 1e9}}
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Release: j[0], Iters: int64(j[1]), Pause: pause, Stages: []sched.Stage{{Replicas: 2, Compute: 2e9}},
			Sharing: &sched.Sharing{Accumulation: []sched.Accumulation{{Steps: 1, Iter: 2e9}}, Sizes: sizes}})
	}
	return in
}

// TestScenario: a job has all GPUs, halves with the next one at the next minute
// and, when that is done, grows again, a pause each time.
func TestScenario(t *testing.T) {
	const s = sched.Second
	in := scaling(10*s, [2]sched.Time{0, 300}, [2]sched.Time{70 * s, 60})
	r, v := replay(t, in, pollux.Default(), sim.Options{})
	type stretch struct {
		job        sched.JobID
		phase      sched.Phase
		start, end sched.Time
		gpus       int
	}
	var got []stretch
	for _, g := range r.Schedule.Segments {
		got = append(got, stretch{g.Job, g.Phase, g.Start / s, g.End / s, g.Place.GPUs()})
	}
	want := []stretch{
		{0, sched.Train, 0, 120, 4}, {0, sched.Pause, 120, 130, 4}, // 120 iterations
		{0, sched.Train, 130, 300, 2}, {1, sched.Train, 130, 250, 2}, // 85 of its, 60 of the other
		{0, sched.Pause, 300, 310, 2}, {0, sched.Train, 310, 405, 4}, // 95
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if v.Jobs()[0].Preemptions != 2 {
		t.Errorf("%+v", v.Jobs()[0])
	}
}

// TestRestartsCount: a job that would lose more by restarting than it gains
// stays as it is.
func TestRestartsCount(t *testing.T) {
	const s = sched.Second
	in := scaling(55*s, [2]sched.Time{0, 400}, [2]sched.Time{0, 1})
	for i := range in.Jobs {
		in.Jobs[i].Sharing.Sizes[2] = sched.Size{GPUs: 4, Iter: 1.9e9}
	}
	_, v := replay(t, in, pollux.Default(), sim.Options{})
	if got := v.Jobs()[0].Preemptions; got != 0 {
		t.Errorf("%d restarts for a twentieth of the time", got)
	}
}

// TestMoreJobsThanGPUs: those that wait go by release, and none starts before
// one is done.
func TestMoreJobsThanGPUs(t *testing.T) {
	const s = sched.Second
	in := scaling(0, [2]sched.Time{0, 100}, [2]sched.Time{0, 100}, [2]sched.Time{0, 100}, [2]sched.Time{0, 100}, [2]sched.Time{2, 5}, [2]sched.Time{1, 5})
	_, v := replay(t, in, pollux.Default(), sim.Options{})
	jobs := v.Jobs()
	if jobs[5].Start > jobs[4].Start || jobs[5].Start < 400*s {
		t.Errorf("started at %v and %v", jobs[4].Start, jobs[5].Start)
	}
}

func TestRefused(t *testing.T) {
	rigid := scaling(0, [2]sched.Time{0, 1})
	rigid.Jobs[0].Sharing.Sizes = nil
	large := scaling(0, [2]sched.Time{0, 1})
	for i := range large.Jobs[0].Sharing.Sizes {
		large.Jobs[0].Sharing.Sizes[i].Memory = 1
	}
	for want, in := range map[string]*sched.Instance{"not malleable": rigid, "fits no GPUs": large} {
		if _, err := sim.Run(context.Background(), in, pollux.New(pollux.Default()), sim.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if o := (pollux.Options{}); o.Validate() == nil {
		t.Error("an interval of 0 is accepted")
	}
	if o := pollux.Default(); o.Validate() != nil {
		t.Error("the default is refused")
	}
}
