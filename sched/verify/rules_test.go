package verify_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// TestRules breaks one rule at a time.
func TestRules(t *testing.T) {
	type schedule = sched.Schedule
	tests := []struct {
		name string
		rule verify.Rule // "" for a legal schedule
		in   *sched.Instance
		s    *schedule
		edit func(in *sched.Instance, s *schedule)
	}{
		{"gang", "", gangInstance(), gangSchedule(), nil},
		{"preemptive", "", preemptiveInstance(), preemptiveSchedule(), nil},
		{"sharing", "", sharingInstance(), sharingSchedule(), nil},

		{"P in the gang model", verify.RuleClass, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.P }},
		{"S in the gang model", verify.RuleClass, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.S }},
		{"S in the preemptive model", verify.RuleClass, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.S }},
		{"M in the preemptive model", verify.RuleClass, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.M }},
		{"P on shared GPUs", verify.RuleCapacity, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.P }},
		{"a relaxation", verify.RuleClass, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.P0 }},
		{"a relaxation of P", verify.RuleClass, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.P0 }},
		{"a relaxation of S", verify.RuleClass, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.SP0 }},
		{"a fluid class", verify.RuleClass, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.Fluid }},
		{"an elastic class", verify.RuleClass, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Kind = sched.E }},
		{"no class", verify.RuleClass, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Class = sched.Class{} }},
		{"slotted without slots", verify.RuleClass, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Class.Slotted = true }},

		{"no such job", verify.RuleJob, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, seg(3, train, 50, 60, on(0, 1)))
		}},
		{"a negative job", verify.RuleJob, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, seg(-1, train, 50, 60, on(0, 1)))
		}},
		{"an empty segment", verify.RuleSegment, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].Start = 10 }},
		{"a segment before 0", verify.RuleSegment, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].Start = -10 }},
		{"a segment beyond the end of time", verify.RuleSegment, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[3].End = sched.MaxTime + 1 }},
		{"an unknown phase", verify.RuleSegment, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].Phase = 3 }},
		{"a job left out", verify.RuleMissing, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments = s.Segments[1:] }},
		{"a job left out before a deadline", "", gangInstance(), gangSchedule(), func(in *sched.Instance, s *schedule) { in.Deadline, s.Segments = 30, s.Segments[1:] }},
		{"too early", verify.RuleRelease, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[3].Start = 19 }},
		{"twice at a time", verify.RuleOverlap, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, seg(2, train, 24, 26, on(1, 1)))
		}},

		{"no such server", verify.RulePlacement, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[3].Place.Shares[0].Server = 2 }},
		{"a server twice", verify.RulePlacement, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[0].Place.Shares = []sched.Share{on(0, 1), on(0, 1)}
		}},
		{"more GPUs than the server has", verify.RulePlacement, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[3].Place.Shares[0].GPUs = 5 }},
		{"no GPUs", verify.RulePlacement, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[3].Place.Shares[0].GPUs = 0 }},
		{"unstated stages", verify.RulePlacement, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[1].Place.Shares[0].Stages = nil }},
		{"stages for another number of GPUs", verify.RulePlacement, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[1].Place.Shares[0].GPUs = 1 }},
		{"negative replicas", verify.RulePlacement, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[1].Place.Shares = []sched.Share{on(0, 2, 3, -1), on(1, 1, -1, 2)}
		}},
		{"too few GPUs", verify.RuleGang, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Shares[0].GPUs = 1 }},
		{"nowhere", verify.RuleGang, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Shares = nil }},
		{"the replicas of another stage", verify.RuleGang, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[1].Place.Shares[0].Stages = []int{2, 0} }},
		{"a choice where there is none", verify.RuleConfig, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Config = &sched.Config{WorkerType: 1} }},
		{"no such accumulation", verify.RuleConfig, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[2].Place.Config = &sched.Config{Accumulation: 3}
		}},

		{"no such device", verify.RuleDevice, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[2].Place.Shares[0].Devices[0] = 2 }},
		{"too few devices", verify.RuleDevice, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Shares[0].Devices = []int{1} }},
		{"a device twice in a share", verify.RuleDevice, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Shares[0].Devices = []int{1, 1} }},
		{"sharing on unnamed devices", verify.RuleDevice, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[2].Place.Shares[0].Devices = nil }},
		{"an exclusive device held twice", verify.RuleDevice, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments = []sched.Segment{
				seg(0, load, 0, 3, devices(0, 0, 2)), seg(0, train, 3, 13, devices(0, 0, 2)),
				seg(1, train, 12, 18, devices(0, 2)),
			}
		}},
		{"an exclusive device handed over", "", preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments = []sched.Segment{
				seg(0, load, 0, 3, devices(0, 0, 2)), seg(0, train, 3, 13, devices(0, 0, 2)),
				seg(1, train, 13, 19, devices(0, 2)),
			}
		}},
		{"devices named by some", verify.RuleDevice, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[3].Place.Shares[0].Devices = []int{0} }},
		{"devices named by the first only", verify.RuleDevice, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].Place.Shares[0].Devices = []int{0, 1} }},

		{"moves between load and training", verify.RulePlacementChange, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[2].Place.Shares = []sched.Share{on(0, 2, 2, 0), on(1, 1, 0, 1)}
		}},
		{"moves in training", verify.RulePlacementChange, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[3].End = 22
			s.Segments = append(s.Segments, seg(2, train, 22, 25, on(1, 1)))
		}},
		{"changes device in training", verify.RulePlacementChange, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[1].End = 8
			s.Segments = append(s.Segments, seg(1, train, 8, 14, devices(0, 1)))
		}},
		{"changes accumulation in training", verify.RulePlacementChange, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[1].End = 8
			s.Segments = append(s.Segments, seg(1, train, 8, 14, devices(0, 0)))
			s.Segments[3].Place.Config = &sched.Config{Accumulation: 2}
		}},
		{"says the same accumulation in two ways", "", sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[1].End = 8
			s.Segments = append(s.Segments, seg(1, train, 8, 12, devices(0, 0)))
			s.Segments[3].Place.Config = &sched.Config{Accumulation: 1}
		}},
		{"moves without load and pause", verify.RulePlacementChange, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[1].End = 5
			s.Segments = append(s.Segments, seg(0, train, 5, 7, on(1, 2)))
		}},
		{"moves without load", verify.RulePlacementChange, preemptiveInstance(), preemptiveSchedule(), func(in *sched.Instance, s *schedule) {
			in.Jobs[1].Load = 1
			s.Segments = append(s.Segments[:6], seg(1, load, 0, 1, on(0, 1)), seg(1, train, 1, 4, on(0, 1)), seg(1, train, 4, 7, on(1, 1)))
		}},
		{"moves without pause", verify.RulePlacementChange, preemptiveInstance(), preemptiveSchedule(), func(in *sched.Instance, s *schedule) {
			in.Jobs[1].Pause = 1
			s.Segments = append(s.Segments[:6], seg(1, train, 1, 4, on(0, 1)), seg(1, train, 4, 7, on(1, 1)))
		}},
		{"moves within a pause", verify.RulePlacementChange, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[2].Place.Shares[0].Server = 1
			s.Segments[8].Place.Shares[0].Server = 0
		}},
		{"splits its training", "", gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[3].End = 22
			s.Segments = append(s.Segments, seg(2, train, 22, 25, on(0, 1, 1)))
		}},
		{"stops in class N", verify.RulePreemption, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[3].End = 22
			s.Segments = append(s.Segments, seg(2, train, 23, 26, on(0, 1)))
		}},
		{"stops in class S", verify.RulePreemption, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[2].End = 4
			s.Segments = append(s.Segments, seg(2, train, 5, 7, devices(0, 1)))
		}},

		{"no load", verify.RuleGrammar, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments = slices.Delete(s.Segments, 1, 2) }},
		{"a short load", verify.RuleGrammar, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[1].Start = 1 }},
		{"a load for nothing", verify.RuleGrammar, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[3].Start = 21
			s.Segments = append(s.Segments, seg(2, load, 20, 21, on(0, 1)))
			s.Segments[3].End = 26
		}},
		{"a pause in class N", verify.RuleGrammar, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, seg(2, pause, 25, 26, on(0, 1)))
		}},
		{"only a load", verify.RuleGrammar, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments = slices.Delete(s.Segments, 2, 3) }},
		{"a short pause", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[2].End = 8 }},
		{"a long pause", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[2].End = 10 }},
		{"no pause", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments = slices.Delete(s.Segments, 2, 3) }},
		{"a pause in two parts", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[2].End = 8
			s.Segments = append(s.Segments, seg(0, pause, 8, 9, on(0, 2)))
		}},
		{"a pause later than the training", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[2].Start, s.Segments[2].End = 8, 10
		}},
		{"a pause after a load", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, seg(0, pause, 14, 16, on(1, 2)))
		}},
		{"a resumption without load", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments = slices.Delete(s.Segments, 4, 5) }},
		{"a load in two parts", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[4].End = 22
			s.Segments = append(s.Segments, seg(0, load, 22, 23, on(1, 2)))
		}},
		{"an aborted load that is too long", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[3].End = 16 }},
		{"a full load that is not used", "", preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[3].End = 15 }},
		{"ends in a load", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, seg(0, load, 40, 43, on(0, 2)))
		}},
		{"ends in a pause", verify.RuleGrammar, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments = append(s.Segments, seg(0, pause, 29, 31, on(1, 2)))
		}},

		{"starts within a slot", verify.RuleSlot, gangInstance(), gangSchedule(), func(in *sched.Instance, s *schedule) {
			in.Slot, s.Class.Slotted = 5, true
			s.Segments[1], s.Segments[2] = seg(1, load, 10, 13, on(0, 2, 1, 1), on(1, 1, 1, 0)), seg(1, train, 13, 25, on(0, 2, 1, 1), on(1, 1, 1, 0))
			s.Segments[3].Start, s.Segments[3].End = 21, 30
		}},
		{"completes within a slot", verify.RuleSlot, gangInstance(), gangSchedule(), func(in *sched.Instance, s *schedule) { in.Slot, s.Class.Slotted = 5, true }},
		{"completes at the end of the slot", "", gangInstance(), gangSchedule(), func(in *sched.Instance, s *schedule) {
			in.Slot, s.Class.Slotted = 5, true
			s.Segments[2].End = 15
		}},
		{"is preempted within a slot", verify.RuleSlot, preemptiveInstance(), preemptiveSchedule(), func(in *sched.Instance, s *schedule) {
			in.Slot, s.Class.Slotted = 2, true
			s.Segments[4].End, s.Segments[5].Start, s.Segments[5].End = 23, 23, 30
		}},
		{"is preempted between slots", "", preemptiveInstance(), preemptiveSchedule(), func(in *sched.Instance, s *schedule) {
			in.Slot, s.Class.Slotted = 2, true
			s.Segments[1].End, s.Segments[2].Start, s.Segments[2].End = 8, 8, 10
			s.Segments[5].End = 30
		}},
		{"a load aborted within a slot", verify.RuleSlot, preemptiveInstance(), preemptiveSchedule(), func(in *sched.Instance, s *schedule) {
			in.Slot, s.Class.Slotted = 2, true
			s.Segments[1].End, s.Segments[2].Start, s.Segments[2].End = 8, 8, 10
			s.Segments[3].End, s.Segments[5].End = 13, 30
		}},

		{"too many GPUs at a time", verify.RuleCapacity, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[0].Start, s.Segments[0].End = 12, 22
			s.Segments[1], s.Segments[2] = seg(1, load, 10, 13, on(0, 2, 2, 0), on(1, 1, 0, 1)), seg(1, train, 13, 23, on(0, 2, 2, 0), on(1, 1, 0, 1))
		}},
		{"too many GPUs in a pause", verify.RuleCapacity, preemptiveInstance(), preemptiveSchedule(), func(in *sched.Instance, s *schedule) {
			in.Cluster.Servers[0].GPUs = 2
			s.Segments[6].Place.Shares[0].Server = 1
			s.Segments[8] = seg(1, train, 8, 10, on(0, 1))
		}},
		{"three on a GPU", verify.RuleShareLimit, sharingInstance(), sharingSchedule(), func(in *sched.Instance, s *schedule) {
			in.Cluster.Servers[0].GPUMemory = 150
			s.Segments[0].End, s.Segments[1].End = 18, 22
			s.Segments[2] = seg(2, train, 4, 16, devices(0, 0))
		}},
		{"too much memory for two", verify.RuleMemory, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[0].End, s.Segments[1].End = 12, 20
			s.Segments[1].Place.Config = &sched.Config{Accumulation: 4}
		}},
		{"too much memory for one", verify.RuleMemory, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Segments[2].End = 20
			s.Segments[2].Place.Config = &sched.Config{Accumulation: 8}
		}},
		{"too much memory in class N", verify.RuleMemory, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Class.Kind = sched.N
			s.Segments[1].Start, s.Segments[1].End, s.Segments[2].End = 20, 30, 20
			s.Segments[2].Place.Config = &sched.Config{Accumulation: 8}
		}},
		{"class N in the sharing model", "", sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) {
			s.Class.Kind = sched.N
			s.Segments[1].Start, s.Segments[1].End, s.Segments[2].End = 8, 14, 6
		}},

		{"a microsecond short", verify.RuleProgress, gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].End = 9 }},
		{"a nanosecond short", verify.RuleProgress, gangInstance(), gangSchedule(), func(in *sched.Instance, _ *schedule) { in.Jobs[2].Stages[0].Compute, in.Jobs[2].Iters = 5001, 1 }},
		{"short over two bouts", verify.RuleProgress, preemptiveInstance(), preemptiveSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[5].End = 28 }},
		{"short at half speed", verify.RuleProgress, sharingInstance(), sharingSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].End = 7 }},
		{"short by less than a float64 sees", verify.RuleProgress, sharingInstance(), sharingSchedule(), func(in *sched.Instance, _ *schedule) {
			in.Interference[0][0] = 2 + 1.0/(1<<51)
		}},
		{"longer than needed", "", gangInstance(), gangSchedule(), func(_ *sched.Instance, s *schedule) { s.Segments[0].End = 17 }},
	}
	seen := map[verify.Rule]bool{}
	for _, test := range tests {
		if test.edit != nil {
			test.edit(test.in, test.s)
		}
		if legal(test.in, test.s) != (test.rule == "") {
			t.Errorf("%s: the naive check disagrees", test.name)
		}
		_, err := verify.Check(test.in, test.s)
		if test.rule == "" {
			if err != nil {
				t.Errorf("%s: refused: %v", test.name, err)
			}
			continue
		}
		seen[test.rule] = true
		var e *verify.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v, want a broken %s", test.name, err, test.rule)
		} else if rules := e.Rules(); len(rules) != 1 || rules[0] != test.rule {
			t.Errorf("%s: broken rules %v, want only %s: %v", test.name, rules, test.rule, err)
		} else if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: message %q is not one clean line", test.name, err)
		}
	}
	for _, rule := range []verify.Rule{verify.RuleClass, verify.RuleJob, verify.RuleSegment, verify.RuleMissing, verify.RuleRelease, verify.RuleOverlap,
		verify.RulePlacement, verify.RuleGang, verify.RuleDevice, verify.RuleConfig, verify.RulePlacementChange, verify.RulePreemption, verify.RuleGrammar,
		verify.RuleSlot, verify.RuleCapacity, verify.RuleShareLimit, verify.RuleMemory, verify.RuleProgress} {
		if !seen[rule] {
			t.Errorf("no schedule breaks %s", rule)
		}
	}
}
