package verify_test

import (
	"errors"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// slicedInstance has a job of two replicas of two slices beside one of a single
// GPU (10 µs), and an expert layer: a stage that sends 1000 bytes to one expert
// and 500 to another, each on a GPU (3 iterations of 1 + 3 µs if all are on one
// server of 1 GB/s, and of 1 + 12 µs if the first stage is alone on one of four
// GPUs). The servers have 4 and 3 GPUs.
func slicedInstance() *sched.Instance {
	return &sched.Instance{Name: "sliced", Model: sched.ModelGang,
		Cluster: sched.Cluster{Servers: []sched.Server{{GPUs: 4}, {GPUs: 3}}, Inter: 1e9, Intra: 1e9},
		Jobs: []sched.Job{
			{Weight: 1, Iters: 10, Stages: []sched.Stage{{Replicas: 2, Slices: 2, Compute: 1000}, {Replicas: 1, Compute: 1000}}},
			{Weight: 1, Iters: 3, Stages: []sched.Stage{{Replicas: 1, Compute: 1000}, {Replicas: 1, Compute: 1000}, {Replicas: 1, Compute: 1000}},
				Edges: []sched.Edge{{From: 0, To: 1, Bytes: 1000}, {From: 0, To: 2, Bytes: 500}}},
		}}
}

func slicedSchedule() *sched.Schedule {
	return &sched.Schedule{Class: sched.Class{Kind: sched.N}, Segments: []sched.Segment{
		seg(0, train, 0, 10, on(0, 2, 1, 0), on(1, 3, 1, 1)),
		seg(1, train, 10, 22, on(0, 3, 1, 1, 1)),
	}}
}

// TestSlicedRules breaks the rules that slices and stage graphs add to.
func TestSlicedRules(t *testing.T) {
	place := func(s *sched.Schedule, i int, shares ...sched.Share) { s.Segments[i].Place.Shares = shares }
	for _, test := range []struct {
		name string
		rule verify.Rule // "" for a legal schedule
		edit func(in *sched.Instance, s *sched.Schedule)
	}{
		{"legal", "", func(*sched.Instance, *sched.Schedule) {}},
		{"all on one server", "", func(in *sched.Instance, s *sched.Schedule) {
			in.Cluster.Servers[0].GPUs = 5
			place(s, 0, on(0, 5, 2, 1))
		}},
		{"a replica's slices on two servers", verify.RulePlacement, func(_ *sched.Instance, s *sched.Schedule) { place(s, 0, on(0, 3, 1, 0), on(1, 2, 1, 1)) }},
		{"a GPU per replica", verify.RulePlacement, func(_ *sched.Instance, s *sched.Schedule) { place(s, 0, on(0, 2, 2, 0), on(1, 1, 0, 1)) }},
		{"two GPUs for a replica of one", verify.RulePlacement, func(_ *sched.Instance, s *sched.Schedule) { place(s, 0, on(0, 2, 1, 0), on(1, 4, 1, 1)) }},
		{"a replica too few", verify.RuleGang, func(_ *sched.Instance, s *sched.Schedule) { place(s, 0, on(0, 2, 1, 0), on(1, 1, 0, 1)) }},
		{"GPUs counted as replicas", verify.RuleGang, func(_ *sched.Instance, s *sched.Schedule) { place(s, 0, on(0, 1, 0, 1), on(1, 2, 1, 0)) }},
		{"unstated replicas", verify.RulePlacement, func(in *sched.Instance, s *sched.Schedule) {
			in.Jobs[0].Stages = in.Jobs[0].Stages[:1]
			place(s, 0, sched.Share{Server: 0, GPUs: 4})
		}},
		{"stated replicas", "", func(in *sched.Instance, s *sched.Schedule) {
			in.Jobs[0].Stages = in.Jobs[0].Stages[:1]
			place(s, 0, on(0, 4, 2))
		}},
		{"more GPUs than there are", verify.RuleCapacity, func(_ *sched.Instance, s *sched.Schedule) {
			s.Segments[1].Start, s.Segments[1].End = 9, 21
		}},
		{"a device for each slice", "", func(_ *sched.Instance, s *sched.Schedule) {
			a, b, c := on(0, 2, 1, 0), on(1, 3, 1, 1), on(0, 3, 1, 1, 1)
			a.Devices, b.Devices, c.Devices = []int{0, 3}, []int{0, 1, 2}, []int{1, 2, 3}
			place(s, 0, a, b)
			place(s, 1, c)
		}},
		{"a device for each replica", verify.RuleDevice, func(_ *sched.Instance, s *sched.Schedule) {
			a, b := on(0, 2, 1, 0), on(1, 3, 1, 1)
			a.Devices, b.Devices = []int{0}, []int{0, 1}
			place(s, 0, a, b)
			s.Segments[1].Place.Shares[0].Devices = []int{0, 1, 2}
		}},
		{"slices that synchronise", verify.RuleProgress, func(in *sched.Instance, _ *sched.Schedule) { in.Jobs[0].Stages[0].SliceSync = 1 }},
		{"slices that have the time to", "", func(in *sched.Instance, s *sched.Schedule) { // 2·(1/2)·1000 bytes
			in.Jobs[0].Stages[0].SliceSync = 1000
			s.Segments[0].End, s.Segments[1].Start, s.Segments[1].End = 20, 20, 32
		}},
		{"a microsecond short on one server", verify.RuleProgress, func(_ *sched.Instance, s *sched.Schedule) { s.Segments[1].End = 21 }},
		{"experts elsewhere", verify.RuleProgress, func(_ *sched.Instance, s *sched.Schedule) {
			place(s, 1, on(0, 1, 1, 0, 0), on(1, 2, 0, 1, 1))
			s.Segments[1].End = 10 + 38
		}},
		{"experts elsewhere, in time", "", func(_ *sched.Instance, s *sched.Schedule) {
			place(s, 1, on(0, 1, 1, 0, 0), on(1, 2, 0, 1, 1))
			s.Segments[1].End = 10 + 39
		}},
		{"edges that count", verify.RuleProgress, func(in *sched.Instance, _ *sched.Schedule) {
			in.Jobs[1].Edges = append(in.Jobs[1].Edges, sched.Edge{From: 1, To: 2, Bytes: 1001})
		}},
	} {
		in, s := slicedInstance(), slicedSchedule()
		test.edit(in, s)
		if legal(in, s) != (test.rule == "") {
			t.Errorf("%s: the naive check disagrees", test.name)
		}
		_, err := verify.Check(in, s)
		var e *verify.Error
		switch {
		case test.rule == "" && err != nil:
			t.Errorf("%s: refused: %v", test.name, err)
		case test.rule != "" && !errors.As(err, &e):
			t.Errorf("%s: error %v, want a broken %s", test.name, err, test.rule)
		case test.rule != "" && (len(e.Rules()) != 1 || e.Rules()[0] != test.rule):
			t.Errorf("%s: broken rules %v, want only %s: %v", test.name, e.Rules(), test.rule, err)
		}
	}
}
