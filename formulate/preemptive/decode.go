package preemptive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/partition"
)

// bouts reads the bouts off a point.
func (m *program) bouts(x []float64) ([]bout, error) {
	if len(x) != len(m.model.Vars) {
		return nil, fmt.Errorf("the point has %d values for %d variables", len(x), len(m.model.Vars))
	}
	var out []bout
	for c, b := range m.cols {
		switch {
		case x[c] > 1-1e-6 && x[c] < 1+1e-6:
			out = append(out, b)
		case x[c] > 1e-6 || x[c] < -1e-6:
			return nil, fmt.Errorf("variable %s is %v", m.model.Vars[c].Name, x[c])
		}
	}
	return out, nil
}

// point returns the point of some bouts, or nil if one of them has no variable.
func (m *program) point(bouts []bout) []float64 {
	x := make([]float64, len(m.model.Vars))
	latest := 0
	for _, b := range bouts {
		c, ok := m.column[b]
		if !ok {
			return nil
		}
		x[c] = 1
		if b.last {
			latest = max(latest, b.stop)
		}
	}
	if m.latest >= 0 {
		x[m.latest] = float64(latest)
	}
	return x
}

// schedule gives the bouts GPUs, in order of their starts and each from as few
// servers as possible, and returns their segments.
//
// Errors: the bouts need more GPUs than there are.
func (p *problem) schedule(bouts []bout) (*sched.Schedule, error) {
	order := slices.Clone(bouts)
	slices.SortFunc(order, func(a, b bout) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.job, b.job)) })
	out := &sched.Schedule{Class: p.class}
	held := make([][]int, len(order)) // GPUs per server
	for i, b := range order {
		free := make([]int, len(p.in.Cluster.Servers))
		for m := range free {
			free[m] = p.in.Cluster.Servers[m].GPUs
			for k := range i {
				if p.free(order[k]) > b.from {
					free[m] -= held[k][m]
				}
			}
		}
		held[i] = take(free, p.jobs[b.job].gang)
		if held[i] == nil {
			return nil, errors.New("the bouts need more GPUs than there are")
		}
		var servers, parts []int
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

// take takes a gang from the free GPUs: from the fullest server that has
// enough of them, or else from the emptiest ones. It returns nil if there are
// too few.
func take(free []int, gang int) []int {
	order := make([]int, len(free))
	for m := range order {
		order[m] = m
	}
	slices.SortStableFunc(order, func(a, b int) int {
		enoughA, enoughB := free[a] >= gang, free[b] >= gang
		switch {
		case enoughA && enoughB:
			return cmp.Compare(free[a], free[b])
		case enoughA:
			return -1
		case enoughB:
			return 1
		}
		return cmp.Compare(free[b], free[a])
	})
	out := make([]int, len(free))
	for _, m := range order {
		out[m] = min(gang, free[m])
		gang -= out[m]
	}
	if gang > 0 {
		return nil
	}
	return out
}

func (p *problem) segments(out *sched.Schedule, b bout, place sched.Placement) {
	j := &p.in.Jobs[b.job]
	from, stop := sched.Time(b.from)*p.slot, sched.Time(b.stop)*p.slot
	add := func(from, to sched.Time, phase sched.Phase) {
		if from < to {
			out.Segments = append(out.Segments, sched.Segment{Job: sched.JobID(b.job), Start: from, End: to, Phase: phase, Place: place})
		}
	}
	add(from, from+j.Load, sched.Load)
	add(from+j.Load, stop, sched.Train)
	if !b.last {
		add(stop, stop+j.Pause, sched.Pause)
	}
}
