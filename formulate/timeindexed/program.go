package timeindexed

import (
	"errors"
	"fmt"
	"math/big"

	"yardstick/formulate"
	"yardstick/sched"
)

// ErrServers reports a point whose starts no assignment of servers realises.
var ErrServers = errors.New("no servers exist for these starts")

var errNoStarts = errors.New("timeindexed: the point does not start every job once")

// Build returns the aggregated program with the given slot, durations and
// release dates rounded up or down, for inspection and for other solvers. Solve
// does more: see the package comment. [BuildConfigurations] and [BuildServers]
// know more of servers.
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
	p, err := newTotal(in, obj, slot)
	if err != nil {
		return nil, err
	}
	g := grid{slot: slot, up: up}
	m, err := p.buildTotal(g, p.knownOn(g), make([]bool, len(p.jobs)))
	if err != nil {
		return nil, err
	}
	return m.stated(), nil
}

// newTotal reads an instance whose objective one program can state.
func newTotal(in *sched.Instance, obj sched.Objective, slot sched.Time) (*problem, error) {
	switch {
	case obj == sched.Makespan:
		return nil, errors.New("the makespan is not one program but a sequence of them")
	case obj.Sum() != obj:
		return nil, fmt.Errorf("%v is %v divided by the number of jobs: build that", obj, obj.Sum())
	case slot <= 0:
		return nil, fmt.Errorf("the slot is %v: it must be positive", slot)
	}
	return newProblem(in, obj)
}

// buildTotal makes the aggregated program, in which no schedule of the known
// cost or less is missing.
func (p *problem) buildTotal(g grid, known *big.Rat, all []bool) (*program, error) {
	m, err := p.build(g, p.deadlines(g, known), all, true)
	if err != nil {
		return nil, err
	}
	formulate.Shift(m.model, p.objective(new(big.Rat)))
	return m, nil
}

// stated says what the aggregated program is to the instance.
func (m *program) stated() *formulate.Program {
	out := &formulate.Program{Model: m.model, Relation: formulate.Relaxation}
	switch exact := m.p.divides(m.grid.slot); {
	case exact:
		out.Relation = m.p.exactness()
	case m.grid.up:
		out.Relation = formulate.Restriction
	default:
		return out
	}
	out.Decode = func(x []float64) (*sched.Schedule, error) {
		starts := m.starts(x)
		if starts == nil {
			return nil, errNoStarts
		}
		stays, _, verdict := m.p.assign(m.requests(starts), exactly)
		if verdict != assigned {
			return nil, fmt.Errorf("timeindexed: %w", ErrServers)
		}
		return m.p.schedule(m.p.shift(stays))
	}
	return out
}
