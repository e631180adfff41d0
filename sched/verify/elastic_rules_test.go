package verify_test

import (
	"errors"
	"slices"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// elasticInstance has slots of 10 µs and two servers of 4 GPUs, 10 units of
// memory and 20 Mbit/s. A worker of type 0 sends 4 Mbit/s, so that pi bytes
// both ways take 16 pi/4 µs.
//
//   - Job 0: up to 3 workers, W = 30, theta = 2 + 1 µs on one server and 11 µs
//     on two.
//   - Job 1: a ring of up to 4 workers, W = 12, theta = 4 + 2(F−1)/F µs on one
//     server, released at 15 µs.
//   - Job 2: up to 3 workers, W = 3, theta = 6 µs on one server and 10 µs on two.
func elasticInstance() *sched.Instance {
	us := sched.Duration(1000)
	in := &sched.Instance{Name: "elastic", Model: sched.ModelElastic, Slot: 10,
		Cluster: sched.Cluster{Inter: 1e9, Intra: 1e9},
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "mem", "bw"}, Bandwidth: 2,
			Workers: []sched.Container{{Demand: []int64{1, 2, 4}}, {Demand: []int64{2, 1, 16}}},
			Servers: []sched.Container{{Demand: []int64{0, 1, 8}}, {Demand: []int64{0, 3, 2}}}},
		Jobs: []sched.Job{
			{Weight: 1, Elastic: &sched.Elastic{MaxWorkers: 3, Batches: 30, Train: []sched.Duration{2 * us, 2 * us}, Update: []sched.Duration{us, us}, Gradients: 2}},
			{Weight: 1, Release: 15, Elastic: &sched.Elastic{Ring: true, MaxWorkers: 4, Batches: 12, Train: []sched.Duration{4 * us, 4 * us}, Update: []sched.Duration{2 * us}, Gradients: 1}},
			{Weight: 1, Elastic: &sched.Elastic{MaxWorkers: 3, Batches: 3, Train: []sched.Duration{5 * us, 5 * us}, Update: []sched.Duration{us, us}, Gradients: 1}},
		}}
	for range 2 {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: 4, Capacity: []int64{4, 10, 20}})
	}
	return in
}

func elasticSeg(j sched.JobID, start, end sched.Time, worker, server int, shares ...sched.Share) sched.Segment {
	s := seg(j, train, start, end, shares...)
	s.Place.Config = &sched.Config{WorkerType: worker, ServerType: server}
	return s
}

// elasticSchedule runs job 0 with 3 workers on one server for 3 slots
// (3·30/3 = 30 mini-batches), job 1 in a ring of two on the other server
// (2·30/5 = 12), then job 2 on both: one worker and the parameter servers
// apart (30/10 = 3).
func elasticSchedule() *sched.Schedule {
	return &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}, Segments: []sched.Segment{
		elasticSeg(0, 0, 30, 0, 0, on(0, 3, 3, 1)),
		elasticSeg(1, 20, 50, 0, 0, on(1, 2, 2, 0)),
		elasticSeg(2, 50, 80, 0, 1, on(0, 0, 0, 2), on(1, 1, 1, 0)),
	}}
}

// resized runs job 0 first on two workers for two slots (2·20/3 = 13 1/3
// mini-batches), then apart on three for six (3·60/11 = 16 4/11), for 29.69 in
// all, and then on one worker for one slot (3 1/3).
func resized() *sched.Schedule {
	return &sched.Schedule{Class: sched.Class{Kind: sched.EP, Slotted: true}, Segments: []sched.Segment{
		elasticSeg(0, 0, 20, 0, 0, on(0, 2, 2, 1)),
		elasticSeg(1, 20, 50, 0, 0, on(1, 2, 2, 0)),
		elasticSeg(0, 20, 80, 0, 0, on(0, 2, 2, 1), on(1, 1, 1, 0)),
		elasticSeg(2, 80, 110, 0, 1, on(0, 0, 0, 2), on(1, 1, 1, 0)),
		elasticSeg(0, 90, 100, 0, 0, on(0, 1, 1, 1)),
	}}
}

// loadedRestarts makes job 0 of the resized schedule load for a slot wherever
// it goes on: 13 1/3 + 3·50/11 + 3 1/3 = 30 10/33 mini-batches.
func loadedRestarts(in *sched.Instance, s *sched.Schedule) {
	in.Jobs[0].Load = 10
	second, third := s.Segments[2], s.Segments[4]
	second.Phase, third.Phase = load, load
	second.End, s.Segments[2].Start = 30, 30
	s.Segments[4].Start, s.Segments[4].End = 100, 110
	s.Segments = append(s.Segments, second, third)
}

// exactWindows leaves job 0 two windows, of three workers and of one.
func exactWindows(in *sched.Instance, s *sched.Schedule, batches int64) {
	in.Jobs[0].Elastic.Batches = batches
	s.Segments = append(s.Segments[1:2:2], s.Segments[3], elasticSeg(0, 0, 10, 0, 0, on(0, 3, 3, 1)), elasticSeg(0, 10, 40, 0, 0, on(0, 1, 1, 1)))
}

// TestElasticRules breaks one rule at a time.
func TestElasticRules(t *testing.T) {
	type schedule = sched.Schedule
	type edit = func(in *sched.Instance, s *schedule)
	e, ep := elasticSchedule, resized
	tests := []struct {
		name string
		rule verify.Rule // "" for a legal schedule
		of   func() *schedule
		edit edit
	}{
		{"Es", "", e, nil},
		{"EPs", "", ep, nil},
		{"Es is EPs", "", e, func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.EP }},
		{"slack", "", e, func(_ *sched.Instance, s *schedule) { s.Segments[2].End = 300 }},
		{"no config is the first types", "", e, func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Config = nil }},
		{"a window in pieces", "", e, func(_ *sched.Instance, s *schedule) {
			s.Segments[0].End = 13
			s.Segments = append(s.Segments, elasticSeg(0, 13, 30, 0, 0, on(0, 3, 3, 1)))
			s.Segments[3].Place.Config = nil
		}},

		{"continuous", verify.RuleClass, e, func(_ *sched.Instance, s *schedule) { s.Class.Slotted = false }},
		{"N in the elastic model", verify.RuleClass, e, func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.N }},
		{"P in the elastic model", verify.RuleClass, e, func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.P }},
		{"M in the elastic model", verify.RuleClass, e, func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.M }},
		{"a fluid class", verify.RuleClass, e, func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.FluidMin }},
		{"no such job", verify.RuleJob, e, func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, elasticSeg(3, 90, 120, 0, 0, on(1, 1, 1, 1)))
		}},
		{"an empty window", verify.RuleSegment, e, func(_ *sched.Instance, s *schedule) { s.Segments[2].End = 50 }},

		{"(2a): a job left out", verify.RuleMissing, e, func(_ *sched.Instance, s *schedule) { s.Segments = s.Segments[:2] }},
		{"a job left out before a deadline", "", e, func(in *sched.Instance, s *schedule) { in.Deadline, s.Segments = 30, s.Segments[:2] }},
		{"(2a): a job twice", verify.RulePreemption, e, func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, elasticSeg(2, 90, 120, 0, 1, on(0, 0, 0, 2), on(1, 1, 1, 0)))
		}},
		{"two windows in EP", "", e, func(_ *sched.Instance, s *schedule) {
			s.Class.Kind = sched.EP
			s.Segments = append(s.Segments, elasticSeg(2, 90, 120, 0, 1, on(0, 0, 0, 2), on(1, 1, 1, 0)))
		}},
		{"at two places at a time", verify.RuleOverlap, ep, func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, elasticSeg(0, 90, 100, 0, 0, on(1, 1, 1, 1)))
		}},
		{"(2b), (2c): another type on the way", verify.RulePlacementChange, e, func(_ *sched.Instance, s *schedule) {
			s.Segments[2].End = 70
			s.Segments = append(s.Segments, elasticSeg(2, 70, 90, 0, 0, on(0, 0, 0, 2), on(1, 1, 1, 0)))
		}},
		{"another type on the way in EP", "", e, func(_ *sched.Instance, s *schedule) {
			s.Class.Kind = sched.EP
			s.Segments[2].End = 70
			s.Segments = append(s.Segments, elasticSeg(2, 70, 90, 0, 0, on(0, 0, 0, 2), on(1, 1, 1, 0)))
		}},
		{"another size on the way", verify.RulePlacementChange, e, func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, elasticSeg(0, 30, 50, 0, 0, on(0, 2, 2, 1)))
		}},
		{"no such worker type", verify.RuleConfig, e, func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Config.WorkerType = 2 }},
		{"a negative worker type", verify.RuleConfig, e, func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Config.WorkerType = -1 }},
		{"no such server type", verify.RuleConfig, e, func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Config.ServerType = 2 }},
		{"a server type in a ring", verify.RuleConfig, e, func(_ *sched.Instance, s *schedule) { s.Segments[1].Place.Config.ServerType = 1 }},
		{"an accumulation", verify.RuleConfig, e, func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Config.Accumulation = 1 }},
		{"(2d): apart is slower", verify.RuleProgress, e, func(_ *sched.Instance, s *schedule) {
			s.Segments[0].Place.Shares = []sched.Share{on(0, 3, 3, 0), on(1, 0, 0, 2)}
			s.Segments[1].Start, s.Segments[1].End = 30, 60
		}},
		{"(2e): no parameter server", verify.RuleParameterServers, e, func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Shares[0].Stages[1] = 0 }},
		{"(15): one in a ring", verify.RuleParameterServers, e, func(_ *sched.Instance, s *schedule) { s.Segments[1].Place.Shares[0].Stages[1] = 1 }},
		{"(2f): a slot short", verify.RuleProgress, e, func(_ *sched.Instance, s *schedule) { s.Segments[0].End = 20 }},
		{"(2f): a mini-batch short", verify.RuleProgress, e, func(in *sched.Instance, _ *schedule) { in.Jobs[0].Elastic.Batches = 31 }},
		{"(2f): a nanosecond short", verify.RuleProgress, e, func(in *sched.Instance, _ *schedule) { in.Jobs[0].Elastic.Train[0]++ }},
		{"(2f) in a ring: a nanosecond short", verify.RuleProgress, e, func(in *sched.Instance, _ *schedule) { in.Jobs[1].Elastic.Train[0]++ }},
		{"(2f) over windows: two mini-batches short", verify.RuleProgress, ep, func(_ *sched.Instance, s *schedule) { s.Segments = s.Segments[:4] }},
		{"(2f) over windows: 33 1/33 are not 34", verify.RuleProgress, ep, func(in *sched.Instance, _ *schedule) { in.Jobs[0].Elastic.Batches = 34 }},
		{"(2f) over windows: 33 1/33 are 33", "", ep, func(in *sched.Instance, _ *schedule) { in.Jobs[0].Elastic.Batches = 33 }},
		{"(2f) over windows: 1·10 + 1/3·30 are 20", "", ep, func(in *sched.Instance, s *schedule) { exactWindows(in, s, 20) }},
		{"(2f) over windows: 1·10 + 1/3·30 are not 21", verify.RuleProgress, ep, func(in *sched.Instance, s *schedule) { exactWindows(in, s, 21) }},
		{"(2g): too many workers", verify.RuleWorkers, e, func(in *sched.Instance, _ *schedule) { in.Jobs[0].Elastic.MaxWorkers = 2 }},
		{"(2g): absurdly many workers", verify.RuleWorkers, e, func(_ *sched.Instance, s *schedule) {
			s.Segments[2].Place.Shares = []sched.Share{on(0, 1, 1, 1), on(1, 1, 1<<63-1, 1)}
		}},
		{"(2f): no workers", verify.RuleWorkers, e, func(_ *sched.Instance, s *schedule) { s.Segments[2].Place.Shares = s.Segments[2].Place.Shares[:1] }},
		{"nowhere", verify.RuleWorkers, e, func(_ *sched.Instance, s *schedule) { s.Segments[2].Place.Shares = nil }},
		{"(2h): GPUs", verify.RuleCapacity, e, func(in *sched.Instance, s *schedule) {
			s.Segments[0] = elasticSeg(0, 0, 30, 1, 0, on(0, 6, 3, 1))
		}},
		{"(2h): memory of two jobs", verify.RuleCapacity, e, func(in *sched.Instance, s *schedule) {
			s.Segments[2].Start, s.Segments[2].End = 0, 30
		}},
		{"(2h): one job after the other", "", e, func(in *sched.Instance, s *schedule) {
			s.Segments[2].Start, s.Segments[2].End = 30, 60
		}},
		{"(2h): bandwidth within a server", verify.RuleCapacity, e, func(in *sched.Instance, s *schedule) {
			in.Cluster.Servers[0].Capacity[2] = 19
		}},
		{"(2h): absurdly many parameter servers", verify.RuleCapacity, e, func(_ *sched.Instance, s *schedule) {
			s.Segments[0].Place.Shares[0].Stages[1] = 1<<63 - 1
		}},
		{"(2i): too little bandwidth", verify.RuleBandwidth, e, func(in *sched.Instance, s *schedule) { s.Segments[2].Place.Shares[0].Stages[1] = 1 }},
		{"(2i): enough on one of two servers", verify.RuleBandwidth, e, func(in *sched.Instance, s *schedule) {
			in.Jobs[2].Elastic.MaxWorkers = 2
			s.Segments[2] = elasticSeg(2, 50, 80, 0, 1, on(0, 1, 1, 2), on(1, 1, 1, 1))
		}},
		{"(2i): enough on both", "", e, func(in *sched.Instance, s *schedule) {
			s.Segments[2] = elasticSeg(2, 50, 80, 0, 1, on(0, 1, 1, 2), on(1, 1, 1, 2))
		}},
		{"(2j): in the slot of the release", verify.RuleRelease, e, func(_ *sched.Instance, s *schedule) { s.Segments[1].Start = 10 }},
		{"between slots", verify.RuleSlot, e, func(_ *sched.Instance, s *schedule) { s.Segments[1].Start = 15 }},
		{"ends between slots", verify.RuleSlot, e, func(_ *sched.Instance, s *schedule) { s.Segments[2].End = 85 }},

		{"no such server", verify.RulePlacement, e, func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Shares[0].Server = 2 }},
		{"a server twice", verify.RulePlacement, e, func(_ *sched.Instance, s *schedule) { s.Segments[2].Place.Shares[1].Server = 0 }},
		{"an empty share", verify.RulePlacement, e, func(_ *sched.Instance, s *schedule) {
			s.Segments[0].Place.Shares = append(s.Segments[0].Place.Shares, on(1, 0, 0, 0))
		}},
		{"a negative count", verify.RulePlacement, e, func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Shares[0].Stages[1] = -1 }},
		{"one count", verify.RulePlacement, e, func(_ *sched.Instance, s *schedule) { s.Segments[1].Place.Shares[0].Stages = []int{2} }},
		{"no counts", verify.RulePlacement, e, func(_ *sched.Instance, s *schedule) { s.Segments[1].Place.Shares[0].Stages = nil }},
		{"other GPUs than stated", verify.RulePlacement, e, func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Shares[0].GPUs = 4 }},
		{"devices", verify.RuleDevice, e, func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Shares[0].Devices = []int{0, 1, 2} }},
		{"GPUs where they are no resource", "", e, func(in *sched.Instance, s *schedule) {
			in.Elastic.Resources[0] = "tpu"
			for i := range s.Segments {
				for k := range s.Segments[i].Place.Shares {
					s.Segments[i].Place.Shares[k].GPUs = 0
				}
			}
		}},

		{"loads before its first training", verify.RuleGrammar, e, func(in *sched.Instance, s *schedule) {
			in.Jobs[2].Load = 10
			s.Segments[2].Phase = load
			s.Segments = append(s.Segments, elasticSeg(2, 80, 110, 0, 1, on(0, 0, 0, 2), on(1, 1, 1, 0)))
		}},
		{"a first start without a load", "", e, func(in *sched.Instance, _ *schedule) { in.Jobs[2].Load, in.Jobs[2].Pause = 10, 3 }},
		{"a restart without its load", verify.RuleGrammar, ep, func(in *sched.Instance, s *schedule) {
			in.Jobs[0].Load = 10
			s.Segments[2].Start = 30
		}},
		{"a resize without its load", verify.RulePlacementChange, ep, func(in *sched.Instance, s *schedule) { in.Jobs[0].Load = 10 }},
		{"restarts with their loads", "", ep, loadedRestarts},
		{"a preemption without its pause", verify.RuleGrammar, ep, func(in *sched.Instance, s *schedule) {
			loadedRestarts(in, s)
			in.Jobs[0].Pause = 2
		}},
		{"too little training beside the loads", verify.RuleProgress, ep, func(in *sched.Instance, s *schedule) {
			loadedRestarts(in, s)
			in.Jobs[0].Elastic.Batches = 31
		}},
	}
	for _, test := range tests {
		in, s := elasticInstance(), test.of()
		if test.edit != nil {
			test.edit(in, s)
		}
		_, err := verify.Check(in, s)
		if test.rule == "" {
			if err != nil {
				t.Errorf("%s: refused: %v", test.name, err)
			}
			continue
		}
		var e *verify.Error
		if !errors.As(err, &e) || !slices.Equal(e.Rules(), []verify.Rule{test.rule}) {
			t.Errorf("%s: got %v, want rule %s", test.name, err, test.rule)
		}
	}
}
