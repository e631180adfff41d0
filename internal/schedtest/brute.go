package schedtest

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// Placements returns every way to place a job in the empty cluster, stage by
// stage, and in the sharing model with every accumulation option that fits the
// memory of the servers used.
func Placements(in *sched.Instance, id sched.JobID) []sched.Placement {
	j := &in.Jobs[id]
	counts := make([][]int, len(in.Cluster.Servers))
	free := make([]int, len(counts))
	for m := range counts {
		counts[m] = make([]int, len(j.Stages))
		free[m] = in.Cluster.Servers[m].GPUs
	}
	var out []sched.Placement
	var place func(s, m, left int)
	place = func(s, m, left int) { // left replicas of stage s to put on servers m, m+1, …
		switch {
		case s == len(j.Stages):
			out = append(out, withConfigs(in, j, counts)...)
		case left == 0 && s == len(j.Stages)-1:
			place(s+1, 0, 0)
		case left == 0:
			place(s+1, 0, j.Stages[s+1].Replicas)
		case m < len(counts):
			for x, t := 0, j.Slices(s); x <= min(left, free[m]/t); x++ {
				counts[m][s], free[m] = x, free[m]-x*t
				place(s, m+1, left-x)
				counts[m][s], free[m] = 0, free[m]+x*t
			}
		}
	}
	place(0, 0, j.Stages[0].Replicas)
	return out
}

func withConfigs(in *sched.Instance, j *sched.Job, counts [][]int) []sched.Placement {
	p := placement(j, counts, nil)
	if j.Sharing == nil {
		return []sched.Placement{*p}
	}
	var out []sched.Placement
	for _, a := range j.Sharing.Accumulation {
		fits := func(sh sched.Share) bool { return a.Memory <= in.Cluster.Servers[sh.Server].GPUMemory }
		if !slices.ContainsFunc(p.Shares, func(sh sched.Share) bool { return !fits(sh) }) {
			out = append(out, sched.Placement{Shares: p.Shares, Config: &sched.Config{Accumulation: a.Steps}})
		}
	}
	return out
}

// BruteForce returns an optimal schedule of class N and its cost. It is meant
// for up to five jobs on up to three servers, and panics on elastic instances.
//
// It goes through every order of the jobs and every placement of each, and
// starts each job as early as its placement allows, but neither before its
// release nor before the job that precedes it in the order. This finds an
// optimum of every regular objective, one that does not improve when a job
// completes later:
//
//   - It makes schedules only. When a job starts at t, all jobs started so far
//     started by t, so the GPUs in use do not increase after t; a placement
//     that fits at t fits for good. Hence too the earliest start is the
//     earliest time allowed or the completion of an earlier job.
//   - It makes a schedule as good as any other. Take any schedule, its jobs in
//     the order of their starts S_j (ties broken at will), and its placements.
//     By induction no job is started later than S_j: when the predecessors
//     start no later than in that schedule, they complete no later either, since
//     the placements are the same, so whatever runs at S_j here runs at S_j
//     there, and the job fits at S_j, which is not before its release nor before
//     its predecessor's start. So no job completes later.
//
// A branch is cut when its cost with every remaining job completed as if alone,
// at once on its fastest placement, does not beat the best schedule known.
func BruteForce(in *sched.Instance, obj sched.Objective) (*sched.Schedule, *big.Rat) {
	if !in.Model.Has(sched.N) {
		panic("schedtest: elastic instances have no schedules of class N")
	}
	b := &brute{in: in, obj: obj, choices: make([][]choice, len(in.Jobs)), chosen: make([]start, len(in.Jobs)), completion: make([]sched.Time, len(in.Jobs))}
	for id := range in.Jobs {
		j, fastest := &in.Jobs[id], sched.MaxTime
		for _, p := range Placements(in, sched.JobID(id)) {
			d, err := in.RunTime(sched.JobID(id), &p)
			if err != nil {
				panic(fmt.Sprintf("schedtest: %v", err))
			}
			b.choices[id] = append(b.choices[id], choice{p, j.Load + d})
			fastest = min(fastest, j.Load+d)
		}
		b.completion[id] = j.Release + fastest
	}
	b.next(0)
	if b.best == nil {
		panic(fmt.Sprintf("schedtest: a job of instance %q fits nowhere", in.Name))
	}
	s := &sched.Schedule{Class: sched.Class{Kind: sched.N}}
	for id := range b.best {
		appendJob(s, in, sched.JobID(id), b.best[id].at, &b.best[id].place)
	}
	s.Sort()
	return s, b.cost
}

// choice is a placement and how long the job then holds it.
type choice struct {
	place sched.Placement
	holds sched.Time
}

// start is a job's choice and when it starts; done is false for jobs that the
// order has not reached.
type start struct {
	choice
	at   sched.Time
	done bool
}

type brute struct {
	in         *sched.Instance
	obj        sched.Objective
	choices    [][]choice
	chosen     []start
	completion []sched.Time // of the jobs done; the earliest conceivable of the others
	best       []start
	cost       *big.Rat
}

// next tries every job that is left, with every choice, after the jobs chosen,
// the last of which starts at the given time.
func (b *brute) next(after sched.Time) {
	cost := b.obj.Cost(b.in, b.completion)
	if b.best != nil && (cost.Cmp(b.cost) == 0 || (cost.Cmp(b.cost) < 0) == b.obj.Maximised()) {
		return
	}
	left := false
	for id := range b.chosen {
		if b.chosen[id].done {
			continue
		}
		left = true
		before := b.completion[id]
		for _, c := range b.choices[id] {
			at := b.earliest(&c.place, max(after, b.in.Jobs[id].Release))
			b.chosen[id] = start{c, at, true}
			b.completion[id] = at + c.holds
			b.next(at)
			b.chosen[id].done, b.completion[id] = false, before
		}
	}
	if !left {
		b.best, b.cost = slices.Clone(b.chosen), cost
	}
}

// earliest returns the first time, not before the given one, at which the
// placement fits beside the jobs chosen, all of which start by then.
func (b *brute) earliest(p *sched.Placement, at sched.Time) sched.Time {
	for !b.fits(p, at) {
		next := sched.MaxTime
		for id := range b.chosen {
			if c := &b.chosen[id]; c.done && c.at+c.holds > at {
				next = min(next, c.at+c.holds)
			}
		}
		at = next
	}
	return at
}

func (b *brute) fits(p *sched.Placement, at sched.Time) bool {
	for _, sh := range p.Shares {
		used := sh.GPUs
		for id := range b.chosen {
			if c := &b.chosen[id]; c.done && c.at+c.holds > at {
				for _, other := range c.place.Shares {
					if other.Server == sh.Server {
						used += other.GPUs
					}
				}
			}
		}
		if used > b.in.Cluster.Servers[sh.Server].GPUs {
			return false
		}
	}
	return true
}
