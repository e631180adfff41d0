package exhaustive

import (
	"cmp"
	"fmt"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/partition"
)

// decode turns a plan into a schedule. Jobs that may take any free GPUs get
// them in order of their starts, from as few servers as possible; jobs with
// prescribed GPUs that start at the same time come first.
func (p *problem) decode(pl plan) (*sched.Schedule, error) {
	order := make([]int, len(p.jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		anyA, anyB := 0, 0
		if pl.counts[a] == nil {
			anyA = 1
		}
		if pl.counts[b] == nil {
			anyB = 1
		}
		return cmp.Or(cmp.Compare(pl.start[a], pl.start[b]), anyA-anyB)
	})
	out := &sched.Schedule{Class: sched.Class{Kind: sched.N}}
	counts := make([][]int, len(p.jobs))
	for k, i := range order {
		counts[i] = pl.counts[i]
		if counts[i] == nil {
			free := slices.Clone(p.free)
			for _, before := range order[:k] {
				if pl.end[before] > pl.start[i] {
					for m, n := range counts[before] {
						free[m] -= n
					}
				}
			}
			counts[i] = pick(free, p.jobs[i].gang)
		}
		if err := p.segments(out, i, &pl, counts[i]); err != nil {
			return nil, err
		}
	}
	out.Sort()
	return out, nil
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

// segments appends job i's load, if it has one, and its training.
func (p *problem) segments(out *sched.Schedule, i int, pl *plan, counts []int) error {
	var servers, parts []int
	for m, n := range counts {
		if n > 0 {
			servers, parts = append(servers, m), append(parts, n)
		}
	}
	id := p.jobs[i].id
	place, err := partition.Place(p.in, id, servers, parts)
	if err != nil {
		return err
	}
	start, load := sched.Time(pl.start[i]), p.in.Jobs[id].Load
	if load > 0 {
		out.Segments = append(out.Segments, sched.Segment{Job: id, Start: start, End: start + load, Phase: sched.Load, Place: place})
	}
	out.Segments = append(out.Segments, sched.Segment{Job: id, Start: start + load, End: sched.Time(pl.end[i]), Phase: sched.Train, Place: place})
	return nil
}

// planOf returns the plan that a schedule is.
//
// Errors: it is not of class N, a job is missing, interrupted, early or runs for
// less than it takes on its GPUs, or servers have fewer GPUs than are held.
func (p *problem) planOf(s *sched.Schedule) (plan, error) {
	out := newPlan(len(p.jobs))
	if s.Class != (sched.Class{Kind: sched.N}) {
		return out, fmt.Errorf("it is of class %v, not N", s.Class)
	}
	index := make([]int, len(p.jobs))
	for i := range p.jobs {
		index[p.jobs[i].id] = i
	}
	for _, seg := range s.Segments {
		if seg.Job < 0 || int(seg.Job) >= len(index) {
			return out, fmt.Errorf("there is no job %d", seg.Job)
		}
		i := index[seg.Job]
		counts := make([]int, len(p.free))
		for _, sh := range seg.Place.Shares {
			if sh.Server < 0 || sh.Server >= len(counts) {
				return out, fmt.Errorf("job %d: there is no server %d", seg.Job, sh.Server)
			}
			counts[sh.Server] += sh.GPUs
		}
		switch {
		case out.counts[i] == nil:
			out.start[i], out.counts[i] = int64(seg.Start), counts
		case int64(seg.Start) != out.end[i] || !slices.Equal(out.counts[i], counts):
			return out, fmt.Errorf("job %d is interrupted or moved at %v", seg.Job, seg.Start)
		}
		out.end[i] = int64(seg.End)
	}
	var key patternKey
	for i := range p.jobs {
		j := &p.jobs[i]
		gpus := 0
		for _, n := range out.counts[i] {
			gpus += n
		}
		if gpus != j.gang || out.start[i] < j.release || out.end[i] < out.start[i]+p.durationOn(&key, j, out.counts[i]) {
			return out, fmt.Errorf("job %d runs from %v to %v on %d GPUs, which is not what it takes", j.id, sched.Time(out.start[i]), sched.Time(out.end[i]), gpus)
		}
		out.end[i] = out.start[i] + p.durationOn(&key, j, out.counts[i]) // with its stages laid out at best
	}
	for i := range p.jobs {
		for m, free := range p.free {
			for k := range p.jobs {
				if out.counts[k] != nil && out.start[k] <= out.start[i] && out.start[i] < out.end[k] {
					free -= out.counts[k][m]
				}
			}
			if free < 0 {
				return out, fmt.Errorf("server %d has too few GPUs at %v", m, sched.Time(out.start[i]))
			}
		}
	}
	return out, nil
}
