package verify_test

import (
	"errors"
	"slices"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// malleableInstance has two jobs of 12 iterations on a server of 4 GPUs, the
// first of which takes 3 µs on one GPU, 2 µs on two and 1 µs on four.
func malleableInstance() *sched.Instance {
	in := sharingInstance()
	in.Cluster.Servers = []sched.Server{{GPUs: 4, GPUMemory: 100}, {GPUs: 1, GPUMemory: 10}}
	sharing := *in.Jobs[0].Sharing
	sharing.Sizes = []sched.Size{{GPUs: 1, Iter: 3000, Memory: 90}, {GPUs: 2, Iter: 2000, Memory: 50}, {GPUs: 4, Iter: 1000, Memory: 30}}
	job := in.Jobs[0]
	job.Iters, job.Load, job.Pause, job.Sharing = 12, 1, 2, &sharing
	in.Jobs = []sched.Job{job, job}
	return in
}

// malleableSchedule grows the first job from one GPU to four, on which it has 8
// iterations left, and starts the second one on two.
func malleableSchedule() *sched.Schedule {
	return &sched.Schedule{Class: sched.Class{Kind: sched.M}, Segments: []sched.Segment{
		seg(0, load, 0, 1, on(0, 1)), seg(0, train, 1, 13, on(0, 1)), seg(0, pause, 13, 15, on(0, 1)),
		seg(0, load, 15, 16, on(0, 4)), seg(0, train, 16, 24, on(0, 4)),
		seg(1, load, 24, 25, on(0, 2)), seg(1, train, 25, 49, on(0, 2)),
	}}
}

func TestMalleable(t *testing.T) {
	v, err := verify.Check(malleableInstance(), malleableSchedule())
	if err != nil {
		t.Fatal(err)
	}
	if j := v.Jobs()[0]; j.Completion != 24 || j.Preemptions != 1 || j.GPUs != 4 || j.GPUTime != 15+4*9 || j.Wait != 0 {
		t.Errorf("the job that grows: %+v", j)
	}
	if got := v.Cost(sched.Makespan); got.Num().Int64() != 49 {
		t.Errorf("makespan %v", got)
	}
	three := sched.Placement{Shares: []sched.Share{on(0, 3)}}
	tests := []struct {
		name string
		rule verify.Rule
		edit func(in *sched.Instance, s *sched.Schedule)
	}{
		{"a number of GPUs that is no size", verify.RuleGang, func(_ *sched.Instance, s *sched.Schedule) { s.Segments[5].Place, s.Segments[6].Place = three, three }},
		{"a job without sizes", verify.RuleGang, func(in *sched.Instance, _ *sched.Schedule) {
			sharing := *in.Jobs[1].Sharing
			sharing.Sizes, in.Jobs[1].Sharing = nil, &sharing
		}},
		{"grows within a bout", verify.RulePlacementChange, func(_ *sched.Instance, s *sched.Schedule) { s.Segments[6].Place.Shares = []sched.Share{on(0, 4)} }},
		{"too little memory", verify.RuleMemory, func(_ *sched.Instance, s *sched.Schedule) {
			s.Segments[0].Place.Shares = []sched.Share{on(1, 1)}
		}},
		{"chooses an accumulation", verify.RuleConfig, func(_ *sched.Instance, s *sched.Schedule) {
			s.Segments[6].Place.Config = &sched.Config{Accumulation: 1}
		}},
		{"no pause before it grows", verify.RuleGrammar, func(_ *sched.Instance, s *sched.Schedule) { s.Segments = slices.Delete(s.Segments, 2, 3) }},
		{"no load after it has grown", verify.RuleGrammar, func(_ *sched.Instance, s *sched.Schedule) { s.Segments = slices.Delete(s.Segments, 3, 4) }},
		{"more GPUs than there are", verify.RuleCapacity, func(_ *sched.Instance, s *sched.Schedule) {
			s.Segments[5].Start, s.Segments[5].End, s.Segments[6].Start = 22, 23, 23
		}},
		{"a microsecond short", verify.RuleProgress, func(_ *sched.Instance, s *sched.Schedule) { s.Segments[4].End = 23 }},
		{"counts the large size for all of it", verify.RuleProgress, func(_ *sched.Instance, s *sched.Schedule) {
			s.Segments[1].Start, s.Segments[0].Start, s.Segments[0].End = 2, 1, 2
		}},
	}
	for _, test := range tests {
		in, s := malleableInstance(), malleableSchedule()
		test.edit(in, s)
		_, err := verify.Check(in, s)
		var e *verify.Error
		if !errors.As(err, &e) || !slices.Contains(e.Rules(), test.rule) {
			t.Errorf("%s: %v, want %s", test.name, err, test.rule)
		}
	}
}
