package verify_test

import (
	"slices"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// million returns a schedule of a million jobs of 1 to 16 GPUs on 250 servers
// of 8, of the given number of stages.
func million(b *testing.B, stages int) (*sched.Instance, *sched.Schedule) {
	const jobs, servers, gpus = 1_000_000, 250, 8
	r := newRand(9)
	in := &sched.Instance{Name: "million", Model: sched.ModelGang, Cluster: sched.Uniform(servers, gpus, 1_250_000_000, 300_000_000_000)}
	in.Jobs = make([]sched.Job, jobs)
	s := &sched.Schedule{Class: sched.Class{Kind: sched.N}, Segments: make([]sched.Segment, jobs)}
	free := make([][]sched.Time, servers) // when each GPU is free, ascending
	for m := range free {
		free[m] = make([]sched.Time, gpus)
	}
	for i := range jobs {
		j, m := &in.Jobs[i], i%servers
		*j = sched.Job{Release: sched.Time(i) * 1000, Weight: 1, Iters: int64(between(r, 10, 100_000)), Stages: make([]sched.Stage, stages)}
		per := 1 << r.IntN(4) / stages // replicas of each stage on each server used
		per = max(per, 1)
		parts := 1
		if i%100 == 0 && m+1 < servers {
			parts = 2
		}
		p := sched.Placement{Shares: make([]sched.Share, parts)}
		for k := range p.Shares {
			p.Shares[k] = sched.Share{Server: m + k, GPUs: per * stages}
			if stages > 1 {
				p.Shares[k].Stages = slices.Repeat([]int{per}, stages)
			}
		}
		for k := range j.Stages {
			j.Stages[k] = sched.Stage{Replicas: per * parts, Compute: sched.Duration(between(r, 1e7, 1e9)), Params: sched.Bytes(r.IntN(1e9))}
			if k < stages-1 {
				j.Stages[k].Boundary = sched.Bytes(r.IntN(1e8))
			}
		}
		d, err := in.RunTime(sched.JobID(i), &p)
		if err != nil {
			b.Fatal(err)
		}
		start := j.Release
		for k := range p.Shares {
			start = max(start, free[m+k][per*stages-1])
		}
		for k := range p.Shares {
			for g := range per * stages {
				free[m+k][g] = start + d
			}
			slices.Sort(free[m+k])
		}
		s.Segments[i] = sched.Segment{Job: sched.JobID(i), Start: start, End: start + d, Place: p}
	}
	s.Sort()
	return in, s
}

func BenchmarkCheckMillionJobs(b *testing.B) {
	for _, stages := range []int{1, 4} {
		b.Run([]string{1: "stages=1", 4: "stages=4"}[stages], func(b *testing.B) {
			in, s := million(b, stages)
			b.ReportAllocs()
			for b.Loop() {
				v, err := verify.Check(in, s)
				if err != nil {
					b.Fatal(err)
				}
				v.Cost(sched.WeightedCompletion)
			}
		})
	}
}

// BenchmarkCheckShared checks 100,000 jobs, in pairs on 2,000 GPUs.
func BenchmarkCheckShared(b *testing.B) {
	const jobs, servers, gpus = 100_000, 250, 8
	in := &sched.Instance{Name: "shared", Model: sched.ModelSharing, Cluster: sched.Uniform(servers, gpus, 1, 1), Interference: [][]float64{{1.3, 1.1}, {1.7, 2.1}}}
	for m := range in.Cluster.Servers {
		in.Cluster.Servers[m].GPUMemory = 100
	}
	s := &sched.Schedule{Class: sched.Class{Kind: sched.S}}
	r := newRand(10)
	var free [2 * servers * gpus]sched.Time
	for i := range sched.JobID(jobs) {
		n := int64(between(r, 100, 10_000))
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Iters: n, Stages: []sched.Stage{{Replicas: 1, Compute: 1e6}},
			Sharing: &sched.Sharing{Task: int(i % 2), Accumulation: []sched.Accumulation{{Steps: 1, Iter: 1e6, Memory: 50}}}})
		half := int(i) % len(free)
		end := free[half] + sched.Time(n*2100)
		gpu := half / 2
		s.Segments = append(s.Segments, seg(i, train, free[half], end, devices(gpu/gpus, gpu%gpus)))
		free[half] = end
	}
	s.Sort()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := verify.Check(in, s); err != nil {
			b.Fatal(err)
		}
	}
}
