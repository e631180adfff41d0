// Package exhaustive finds optimal schedules of the gang model by branch and
// bound in continuous time, directly on an instance. Ten jobs take
// milliseconds, twenty on 32 GPUs seconds; more where jobs seldom compete.
//
// # Semi-active schedules
//
// Some optimal non-preemptive schedule starts every job at its release or when
// another job ends: a job that could start a little earlier on the same GPUs
// may be moved to the left, which costs nothing under any of the objectives. So
// a node is a time, the jobs that run and the jobs still to start; its branches
// are the sets of jobs to start now, each with one of its running times; and
// time then goes on to the next release or end. How the stages of a job are
// laid out on its parts matters to no other job, so the best layout is taken
// ([cuts]).
//
// # Pooled GPUs
//
// The search does not place jobs on servers. It asks that at every moment the
// running jobs have enough GPUs in all and can be packed into the servers, each
// with a pattern that runs no longer than the running time chosen: a
// relaxation, as a job must also keep its servers while others come and go. For
// starts that cost less than the incumbent, servers are then looked for, by
// depth-first search. Starts without servers give a clash: a least set of jobs
// that have no servers whenever they overlap as they do there. Clashes are
// forbidden in the next round of the search. A round that ends proves that no
// schedule costs less than the best starts it found; the last round's starts
// have servers.
//
// docs/bounds.md states the rules by which nodes are left out, with proofs.
package exhaustive

import (
	"context"
	"fmt"

	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// Solve searches for a schedule of class N of least cost in continuous time.
// Nodes and the result are a function of the instance, the objective and
// l.Nodes unless l.Time or the context ends the search. Nodes are those of all rounds,
// steps of the search for servers, and climbs of prices for as many as take as long. After a limit the bound is the largest of those
// of package bounds, of the rounds before, and of the least bound of all nodes that the
// last round left open.
//
// Errors: sched.ErrNotApplicable for models other than gang, slotted instances,
// maximised objectives, more than 64 jobs, numbers or gangs too large for the
// search's tables, and where the schedule found goes on after sched.MaxTime.
func Solve(ctx context.Context, in *sched.Instance, obj sched.Objective, l exact.Limits) (*exact.Result, error) {
	return Search{}.Solve(ctx, in, obj, l)
}

// Search is a search with what is known before. The zero value knows nothing.
type Search struct {
	// Start is a schedule of class N to begin with, or nil. It directs the search and
	// proves nothing: one that the search's own checks do not accept is an error.
	Start *sched.Schedule
	// Improve returns a schedule of class N that costs no more than the given one, or
	// that itself; nil improves nothing. It is asked where the search's own trials and a
	// few nodes do not settle an instance, of each of the best plans known then. What it
	// returns is checked like Start. It must depend on its arguments alone, but that it
	// may return what it has when the context ends.
	Improve improver
}

// Solve is the package's Solve, from what is known.
func (k Search) Solve(ctx context.Context, in *sched.Instance, obj sched.Objective, l exact.Limits) (*exact.Result, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, fmt.Errorf("exhaustive: %w", err)
	}
	s := newSearch(ctx, p, l)
	if k.Start != nil {
		pl, err := p.planOf(k.Start)
		if err != nil {
			return nil, fmt.Errorf("exhaustive: the schedule to begin with: %w", err)
		}
		s.improve(pl)
	}
	s.improve(firstIncumbent(p))
	if err := s.stages(k.Improve); err != nil {
		return nil, fmt.Errorf("exhaustive: %w", err)
	}
	r := &exact.Result{Class: sched.Class{Kind: sched.N}, Termination: milp.Optimal, Cost: s.best.cost, Bound: s.best.cost, Nodes: s.nodes}
	if bound := s.bound(); bound.Cmp(s.best.cost) < 0 {
		r.Termination, r.Bound = s.stopped, bound
	}
	r.Schedule, err = p.decode(s.best.plan)
	if err != nil {
		return nil, fmt.Errorf("exhaustive: %w", err)
	}
	if err := r.Schedule.CheckEnd(); err != nil {
		return nil, fmt.Errorf("exhaustive: %w: the best schedule found is too long: %w", sched.ErrNotApplicable, err)
	}
	return r, nil
}
