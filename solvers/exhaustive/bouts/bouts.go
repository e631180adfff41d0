// Package bouts finds optimal schedules of the slotted preemptive model, class
// Ps, and of its non-preemptive part, Ns, by searching the states that a
// cluster can be in at slot boundaries. It reads no linear program and is meant
// for few jobs: four of them take milliseconds.
//
// # States
//
// At a slot boundary a job waits (W), has loaded for some slots (L), trains (T),
// has some slots of a pause to go (P) or is done (D); W, L, T and P go with the
// training time that is left. During the next slot it does one of a few
// things, which lead to one state each: a job that waits stays or starts, one
// that trains goes on or begins to save. All jobs together hold at most G GPUs.
// That is a shortest-path problem, slot by slot, from the state in which every
// job waits to the one in which every job is done; a slot costs the weights of
// the jobs that are not done. States reached twice are kept once, so that it is
// a memoised dynamic program, and it is searched best first: by the cost so far
// plus a lower bound on the rest (A*). The first time that the final state
// comes up its cost is the optimum, and at any moment before, the least sum in
// the queue is a proven lower bound.
//
// Loads and pauses need not be whole slots, nor training times: a bout of m slots
// trains for m·slot − l, and what another job may use begins with a slot.
//
// # What is left out
//
// Four kinds of state are not visited, because every schedule can be changed
// into one without them in which no job completes later. Together the changes
// end, since each lowers the completion times or, leaving them, the starts of
// bouts.
//
//   - Interrupted loads: without them the GPUs are idle meanwhile.
//   - Late starts: a bout does not start in a slot if the job had been waiting and
//     its GPUs were free throughout the slot before. The bout moves one slot to
//     the left.
//   - Stops for nothing: in the slot after a pause the job's GPUs are not free, nor
//     does it start again. Otherwise it had better train one slot more before
//     the pause, and one slot less at the very end.
//   - Work beyond what is needed.
//
// Source: P. E. Hart, N. J. Nilsson, B. Raphael, A formal basis for the heuristic
// determination of minimum cost paths (1968); the model is that of Lazer,
// section 2 and Eq. (1). Not in the sources: the rest.
package bouts

import (
	"context"
	"fmt"

	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// States is how many states a search keeps where its options do not say.
const States = 2_000_000

// Search is a search of class Ps. The zero value asks for nothing special.
type Search struct {
	// States is the most states kept, about 200 bytes each; 0 means the constant of that name.
	States int
	// NonPreemptive searches class Ns, in which every job has one bout.
	NonPreemptive bool
}

// Solve searches for a schedule of least cost whose jobs start, stop and
// complete at multiples of the instance's slot. Nodes are states expanded; they and the
// result are a function of the instance, the objective, the options and l.Nodes, unless
// l.Time or the context ends the search. The bound is none for schedules in continuous
// time. The termination is MEMORY_LIMIT if there were too many states, and
// NUMERICAL_ERROR where the search has ended, but weights of too many digits were
// rounded in it, so that the bound misses the cost by little.
//
// Errors: sched.ErrNotApplicable for instances without slots, models other than
// preemptive (or gang, if NonPreemptive), jobs whose iteration time depends on
// the placement, maximised objectives, more than 24 jobs, and numbers too large
// for the search's tables.
func (o Search) Solve(ctx context.Context, in *sched.Instance, obj sched.Objective, l exact.Limits) (*exact.Result, error) {
	p, err := newProblem(in, obj, o.NonPreemptive)
	if err != nil {
		return nil, fmt.Errorf("bouts: instance %q: %w", in.Name, err)
	}
	s := newSearch(ctx, p, o, l)
	s.run()
	r := &exact.Result{Termination: s.stopped, Class: p.class, Bound: p.cost(s.lower), Nodes: s.expanded}
	if r.Schedule, err = p.decode(s.best.path); err != nil {
		return nil, fmt.Errorf("bouts: instance %q: %w", in.Name, err)
	}
	if err := r.Schedule.CheckEnd(); err != nil {
		return nil, fmt.Errorf("bouts: instance %q: %w: the best schedule found is too long: %w", in.Name, sched.ErrNotApplicable, err)
	}
	r.Cost = obj.Cost(in, p.completion(s.best.path))
	switch {
	case r.Bound.Cmp(r.Cost) == 0:
		r.Termination = milp.Optimal
	case s.stopped == "":
		r.Termination = milp.Numerical
	}
	return r, nil
}
