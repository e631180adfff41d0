package schedtest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"yardstick/sched"
)

// RandomSchedule returns a random schedule of class N: at each event it goes
// through the waiting jobs in a random order and starts some of those that
// fit, on random GPUs. It panics if a job never fits.
func RandomSchedule(r *rand.Rand, in *sched.Instance) *sched.Schedule {
	s := &sched.Schedule{Class: sched.Class{Kind: sched.N}}
	free := make([]int, len(in.Cluster.Servers))
	for m := range free {
		free[m] = in.Cluster.Servers[m].GPUs
	}
	for id := range in.Jobs {
		if randomPlacement(r, in, sched.JobID(id), free) == nil {
			panic(fmt.Sprintf("schedtest: job %d of instance %q fits nowhere", id, in.Name))
		}
	}
	type running struct {
		end sched.Time
		on  []sched.Share
	}
	var jobs []running
	waiting := r.Perm(len(in.Jobs))
	for now := sched.Time(0); len(waiting) > 0; {
		jobs = slices.DeleteFunc(jobs, func(x running) bool {
			if x.end > now {
				return false
			}
			for _, sh := range x.on {
				free[sh.Server] += sh.GPUs
			}
			return true
		})
		waiting = slices.DeleteFunc(waiting, func(i int) bool {
			id := sched.JobID(i)
			if in.Jobs[i].Release > now || r.IntN(4) == 0 {
				return false
			}
			p := randomPlacement(r, in, id, free)
			if p == nil {
				return false
			}
			for _, sh := range p.Shares {
				free[sh.Server] -= sh.GPUs
			}
			jobs = append(jobs, running{appendJob(s, in, id, now, p), p.Shares})
			return true
		})
		next := now + 1 + sched.Time(r.Int64N(int64(sched.Second))) // a pause for no reason, unless something happens
		for _, x := range jobs {
			next = min(next, x.end)
		}
		for _, i := range waiting {
			if in.Jobs[i].Release > now {
				next = min(next, in.Jobs[i].Release)
			}
		}
		now = next
	}
	s.Sort()
	return s
}

// appendJob adds the segments of a job that starts at the given time and runs
// without interruption, and returns its completion time.
func appendJob(s *sched.Schedule, in *sched.Instance, id sched.JobID, start sched.Time, p *sched.Placement) sched.Time {
	d, err := in.RunTime(id, p)
	if err != nil {
		panic(fmt.Sprintf("schedtest: %v", err))
	}
	if load := in.Jobs[id].Load; load > 0 {
		s.Segments = append(s.Segments, sched.Segment{Job: id, Start: start, End: start + load, Phase: sched.Load, Place: *p})
		start += load
	}
	s.Segments = append(s.Segments, sched.Segment{Job: id, Start: start, End: start + d, Place: *p})
	return start + d
}

// randomPlacement returns a random placement on the free GPUs, or nil.
// Half the time it fills one server after the other.
func randomPlacement(r *rand.Rand, in *sched.Instance, id sched.JobID, free []int) *sched.Placement {
	j := &in.Jobs[id]
	config, memory := randomConfig(r, j)
	var gpus []int // the server of each free GPU
	for _, m := range r.Perm(len(free)) {
		if in.Cluster.Servers[m].GPUMemory >= memory {
			gpus = append(gpus, slices.Repeat([]int{m}, free[m])...)
		}
	}
	if len(gpus) < j.Gang() {
		return nil
	}
	if j.Sliced() {
		return placement(j, wholeReplicas(r, j, free), config)
	}
	if r.IntN(2) == 0 {
		r.Shuffle(len(gpus), func(a, b int) { gpus[a], gpus[b] = gpus[b], gpus[a] })
	}
	counts := make([][]int, len(free))
	for s := range j.Stages {
		for range j.Stages[s].Replicas {
			m := gpus[0]
			gpus = gpus[1:]
			if counts[m] == nil {
				counts[m] = make([]int, len(j.Stages))
			}
			counts[m][s]++
		}
	}
	return placement(j, counts, config)
}

// placement returns the placement with counts[m][s] replicas of stage s on
// server m; nil rows are servers not used. It returns nil if there are no rows.
func placement(j *sched.Job, counts [][]int, config *sched.Config) *sched.Placement {
	if counts == nil {
		return nil
	}
	p := &sched.Placement{Config: config}
	for m, stages := range counts {
		sh := sched.Share{Server: m, Stages: slices.Clone(stages)}
		for s, x := range stages {
			sh.GPUs += x * j.Slices(s)
		}
		if sh.GPUs > 0 {
			p.Shares = append(p.Shares, sh)
		}
	}
	return p
}

// randomConfig chooses an accumulation option of a job of the sharing model
// and returns the memory that it needs.
func randomConfig(r *rand.Rand, j *sched.Job) (*sched.Config, sched.Bytes) {
	if j.Sharing == nil {
		return nil, 0
	}
	a := j.Sharing.Accumulation[r.IntN(len(j.Sharing.Accumulation))]
	return &sched.Config{Accumulation: a.Steps}, a.Memory
}
