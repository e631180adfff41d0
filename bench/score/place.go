package score

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"yardstick/sched"
)

// Schedule returns what was checked as a schedule of the instance that the jobs are those of,
// in the same order.
//
// Intervals without places are given whatever GPUs are free, lowest server first: any will
// do where running times do not depend on the place, and there are enough, as never more
// are in use than the cluster has.
//
// Errors: the record has ends alone; places are missing where they matter; jobs have several
// stages, whose layout is not recorded; jobs were stopped, whose loads and pauses are not.
func (c *Checked) Schedule(in *sched.Instance) (*sched.Schedule, error) {
	if c.Broken > 0 || len(in.Jobs) != len(c.Jobs) {
		return nil, errors.New("score: the record is no schedule of the instance's jobs")
	}
	if c.Evidence == Completions {
		return nil, errors.New("the record has ends alone: a schedule needs starts too")
	}
	s := &sched.Schedule{Class: c.Class}
	if c.Class.Kind == sched.P0 {
		s.Class.Kind = sched.P
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		switch {
		case len(j.Stages) != 1 || j.Slices(0) > 1:
			return nil, fmt.Errorf("job %s has several stages or slices, and the record does not say which are where", c.Jobs[i].Name)
		case c.Evidence == Intervals && !j.ConstantIteration() && len(in.Cluster.Servers) > 1:
			return nil, fmt.Errorf("the running time of job %s depends on where it runs, and the record does not say where", c.Jobs[i].Name)
		case c.Class.Kind == sched.P0 && (j.Load > 0 || j.Pause > 0):
			return nil, fmt.Errorf("jobs such as %s load and pause when they are stopped, and the record does not say when they did", c.Jobs[i].Name)
		}
	}
	free := make([]int, len(in.Cluster.Servers))
	for m := range free {
		free[m] = in.Cluster.Servers[m].GPUs
	}
	var running []*Piece // in order of end
	for i := range c.Pieces {
		p := &c.Pieces[i]
		for len(running) > 0 && running[0].End <= p.Start {
			for _, part := range running[0].Parts {
				free[part.Server] += part.GPUs
			}
			running = running[1:]
		}
		if p.Parts == nil {
			q := *p
			q.Parts = takeFree(free, int(p.GPUs/Milli))
			p = &q
			at, _ := slices.BinarySearchFunc(running, p.End, func(r *Piece, end sched.Time) int { return cmp.Compare(r.End, end) })
			running = slices.Insert(running, at, p)
		}
		var place sched.Placement
		for _, part := range p.Parts {
			place.Shares = append(place.Shares, sched.Share{Server: part.Server, GPUs: part.GPUs})
		}
		train := p.Start
		if load := in.Jobs[p.Job].Load; load > 0 {
			train += load
			s.Segments = append(s.Segments, sched.Segment{Job: sched.JobID(p.Job), Start: p.Start, End: train, Phase: sched.Load, Place: place})
		}
		s.Segments = append(s.Segments, sched.Segment{Job: sched.JobID(p.Job), Start: train, End: p.End, Place: place})
	}
	s.Sort()
	return s, nil
}

// takeFree takes so many GPUs, from the lowest servers that have some.
func takeFree(free []int, gpus int) (parts []Part) {
	for m := range free {
		if n := min(gpus, free[m]); n > 0 {
			parts = append(parts, Part{Server: m, GPUs: n})
			free[m] -= n
			gpus -= n
		}
	}
	return parts
}
