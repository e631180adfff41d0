package bouts

import (
	"cmp"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/partition"
)

// bout is a stretch of slots in which a job holds GPUs: it starts at from,
// trains until stop and saves until its GPUs are free, at free.
type bout struct {
	job              int
	from, stop, free int // slots
	last             bool
}

// bouts reads the bouts off the states at slot boundaries.
func (p *problem) bouts(path []key) []bout {
	var out []bout
	for j := range p.jobs {
		x, open := &p.jobs[j], -1 // index in out of the bout that holds GPUs
		for t := 1; t < len(path); t++ {
			before, after := path[t-1].state[j], path[t].state[j]
			s := &x.states[before]
			switch {
			case s.phase == waiting && s.on == after && after != before:
				open = len(out)
				out = append(out, bout{job: j, from: t - 1, stop: -1})
			case s.phase == training && s.leave == after:
				out[open].stop = t - 1
			}
			if open >= 0 {
				switch b := &out[open]; x.states[after].phase {
				case done:
					b.stop, b.free, b.last = t, t, true
					open = -1
				case stopped:
					b.free = t
					open = -1
				case waiting: // stopped without a pause
					b.free = t - 1
					open = -1
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b bout) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.job, b.job)) })
	return out
}

// completion returns when each job is done.
func (p *problem) completion(path []key) []sched.Time {
	out := make([]sched.Time, len(p.jobs))
	for j := range p.jobs {
		for t := range path {
			if p.jobs[j].states[path[t].state[j]].phase == done {
				out[j] = sched.Time(t) * p.slot
				break
			}
		}
	}
	return out
}

// decode turns states into a schedule. Bouts take GPUs in order of their
// starts, each from as few servers as possible; any that are free at the start
// will do, as what is held at the start is held longest.
func (p *problem) decode(path []key) (*sched.Schedule, error) {
	out := &sched.Schedule{Class: p.class}
	all := p.bouts(path)
	held := make([][]int, len(all)) // GPUs per server
	for i := range all {
		b := &all[i]
		j := &p.in.Jobs[b.job]
		free := make([]int, len(p.in.Cluster.Servers))
		for m := range free {
			free[m] = p.in.Cluster.Servers[m].GPUs
			for k := range i {
				if all[k].free > b.from {
					free[m] -= held[k][m]
				}
			}
		}
		var servers, parts []int
		held[i] = pick(free, j.Gang())
		for m, n := range held[i] {
			if n > 0 {
				servers, parts = append(servers, m), append(parts, n)
			}
		}
		place, err := partition.Place(p.in, sched.JobID(b.job), servers, parts)
		if err != nil {
			return nil, err
		}
		p.segments(out, b, place)
	}
	out.Sort()
	return out, nil
}

// segments appends a bout's load, training and pause.
func (p *problem) segments(out *sched.Schedule, b *bout, place sched.Placement) {
	j := &p.in.Jobs[b.job]
	add := func(from, to sched.Time, phase sched.Phase) {
		if from < to {
			out.Segments = append(out.Segments, sched.Segment{Job: sched.JobID(b.job), Start: from, End: to, Phase: phase, Place: place})
		}
	}
	from, stop := sched.Time(b.from)*p.slot, sched.Time(b.stop)*p.slot
	add(from, from+j.Load, sched.Load)
	add(from+j.Load, stop, sched.Train)
	if !b.last {
		add(stop, stop+j.Pause, sched.Pause)
	}
}

// pick takes gang GPUs from the free ones: all from the fullest server that has
// them, or else from the emptiest servers.
func pick(free []int, gang int) []int {
	counts := make([]int, len(free))
	for gang > 0 {
		best := -1
		for m, n := range free {
			switch {
			case n == 0 || counts[m] > 0:
			case best < 0,
				n >= gang && (free[best] < gang || n < free[best]),
				n < gang && n > free[best]:
				best = m
			}
		}
		counts[best] = min(gang, free[best])
		gang -= counts[best]
	}
	return counts
}
