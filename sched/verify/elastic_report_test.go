package verify_test

import (
	"math/big"
	"slices"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

func TestElasticTimes(t *testing.T) {
	in := elasticInstance()
	v, err := verify.Check(in, resized())
	if err != nil {
		t.Fatal(err)
	}
	want := []verify.JobTimes{
		{Job: 0, Scheduled: true, Completion: 100, Wait: 10, Train: 90, Preemptions: 2, GPUs: 3, Servers: 2, GPUTime: 2*20 + 3*60 + 1*10},
		{Job: 1, Scheduled: true, Release: 15, Start: 20, Completion: 50, Wait: 5, Train: 30, GPUs: 2, Servers: 1, GPUTime: 60},
		{Job: 2, Scheduled: true, Start: 80, Completion: 110, Wait: 80, Train: 30, GPUs: 1, Servers: 2, GPUTime: 30},
	}
	if !slices.Equal(v.Jobs(), want) {
		t.Errorf("got %+v", v.Jobs())
	}
	if got := v.Utilisation(); got != 320.0/(8*110) {
		t.Errorf("utilisation %v", got)
	}
	if v.Class() != (sched.Class{Kind: sched.EP, Slotted: true}) || v.Makespan() != 110 {
		t.Errorf("class %v, makespan %v", v.Class(), v.Makespan())
	}
}

func TestElasticCosts(t *testing.T) {
	in := elasticInstance()
	in.Jobs[0].Weight, in.Jobs[1].Weight, in.Jobs[2].Weight = 0.5, 3, 2
	s := elasticSchedule() // completions 30, 50, 80
	for _, c := range []struct {
		deadline sched.Time
		drop     bool // the last job
		cost     map[sched.Objective]string
	}{
		{0, false, map[sched.Objective]string{sched.TotalCompletion: "160", sched.WeightedCompletion: "325", sched.TotalJCT: "145", sched.Makespan: "80"}},
		{80, false, map[sched.Objective]string{sched.ScheduledWeight: "11/2", sched.WeightedCompletion: "325"}},
		{79, false, map[sched.Objective]string{sched.ScheduledWeight: "7/2", sched.Makespan: "80"}},
		{79, true, map[sched.Objective]string{sched.ScheduledWeight: "7/2"}},
		{29, true, map[sched.Objective]string{sched.ScheduledWeight: "0"}},
	} {
		in.Deadline = c.deadline
		used := &sched.Schedule{Class: s.Class, Segments: s.Segments}
		if c.drop {
			used.Segments = s.Segments[:2]
		}
		v, err := verify.Check(in, used)
		if err != nil {
			t.Fatal(err)
		}
		if v.Complete() == c.drop {
			t.Errorf("%+v: complete is %v", c, v.Complete())
		}
		for _, o := range sched.Objectives() {
			want, defined := c.cost[o]
			got := v.Cost(o)
			switch {
			case !defined && (c.drop || o == sched.ScheduledWeight && c.deadline == 0):
				if got != nil {
					t.Errorf("deadline %v: %v is %v", c.deadline, o, got)
				}
			case defined:
				if rat, _ := new(big.Rat).SetString(want); got == nil || got.Cmp(rat) != 0 {
					t.Errorf("deadline %v: %v is %v, want %v", c.deadline, o, got, want)
				}
			}
		}
	}
}

// BenchmarkCheckElastic checks 100,000 jobs on 150 servers of 8 GPUs.
func BenchmarkCheckElastic(b *testing.B) {
	const jobs, servers = 100_000, 150
	in := elasticInstance()
	in.Cluster.Servers = nil
	for range servers {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: 8, Capacity: []int64{8, 100, 100}})
	}
	job := in.Jobs[0]
	in.Jobs = nil
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}}
	for i := range sched.JobID(jobs) {
		in.Jobs = append(in.Jobs, job)
		round, h := sched.Time(i/(servers/2)), int(i%(servers/2))*2
		s.Segments = append(s.Segments, elasticSeg(i, round*110, round*110+110, 0, 0, on(h, 2, 2, 1), on(h+1, 1, 1, 0)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := verify.Check(in, s); err != nil {
			b.Fatal(err)
		}
	}
}
