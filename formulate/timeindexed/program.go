package timeindexed

import (
	"errors"
	"fmt"

	"yardstick/formulate"
	"yardstick/sched"
)

// ErrServers reports a point whose starts no assignment of servers realises.
var ErrServers = errors.New("no servers exist for these starts")

// Build returns the program with the given slot, durations and release dates
// rounded up or down, for inspection and for other solvers. Solve does more:
// see the package comment.
//
// The relation is Exact if the slot divides all data and any free GPUs serve
// every job, Relaxation if the program is rounded down, and Restriction
// otherwise. Points of a program that is rounded down are no schedules, so
// that Decode is nil unless the slot divides all data; elsewhere it returns
// ErrServers for points without servers.
//
// Errors: as for Solve; the objective is the makespan, which Solve finds by a
// sequence of programs, or the mean JCT.
func Build(in *sched.Instance, obj sched.Objective, slot sched.Time, up bool) (*formulate.Program, error) {
	prog, err := build(in, obj, slot, up)
	if err != nil {
		return nil, fmt.Errorf("timeindexed: instance %q: %w", in.Name, err)
	}
	return prog, nil
}

func build(in *sched.Instance, obj sched.Objective, slot sched.Time, up bool) (*formulate.Program, error) {
	switch obj {
	case sched.Makespan:
		return nil, errors.New("the makespan is not one program but a sequence of them")
	case sched.MeanJCT:
		return nil, fmt.Errorf("%v is %v divided by the number of jobs: build that", obj, sched.TotalJCT)
	}
	if slot <= 0 {
		return nil, fmt.Errorf("the slot is %v: it must be positive", slot)
	}
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, err
	}
	g := grid{slot: slot, up: up}
	known := p.first()
	cost := known.cost
	if up {
		cost = g.cost(p, p.onGrid(g, startOrder(known.stays)))
	}
	m, err := p.build(g, p.deadlines(g, cost), make([]bool, len(p.jobs)), true)
	if err != nil {
		return nil, err
	}
	if obj == sched.TotalJCT {
		m.model.Constant, _ = p.sum(func(j *job) sched.Time { return -j.release }).Float64()
	}
	out := &formulate.Program{Model: m.model, Relation: formulate.Relaxation}
	switch exact := p.divides(slot); {
	case exact:
		out.Relation = p.exactness()
	case up:
		out.Relation = formulate.Restriction
	default:
		return out, nil
	}
	out.Decode = func(x []float64) (*sched.Schedule, error) {
		starts := m.starts(x)
		if starts == nil {
			return nil, errors.New("timeindexed: the point does not start every job once")
		}
		stays, _, verdict := p.assign(m.requests(starts), exactly)
		if verdict != assigned {
			return nil, fmt.Errorf("timeindexed: %w", ErrServers)
		}
		return p.schedule(p.shift(stays))
	}
	return out, nil
}
