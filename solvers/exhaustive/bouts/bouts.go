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
	"math/big"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// States is how many states a search keeps where its options do not say.
const States = 2_000_000

// Options direct a search. The zero value asks for nothing special.
type Options struct {
	// Limits: nodes are states expanded; they count reproducibly, time does not.
	Limits milp.Limits
	// States is the most states kept, about 200 bytes each; 0 means the constant of that name.
	States int
	// NonPreemptive searches class Ns, in which every job has one bout.
	NonPreemptive bool
}

// Result is what a search has found out.
type Result struct {
	// Termination is OPTIMAL, or NODE_LIMIT, TIME_LIMIT, MEMORY_LIMIT or
	// INTERRUPTED; or NUMERICAL_ERROR where the search has ended, but weights of
	// too many digits were rounded in it, so that Lower misses Cost by little.
	Termination milp.Termination
	// Class is Ps, or Ns for a non-preemptive search: that of Schedule, and the
	// class of whose schedules none costs less than Lower.
	Class sched.Class
	// Schedule is the best schedule found. There always is one.
	Schedule *sched.Schedule
	Cost     *big.Rat // of Schedule
	// Lower is a proven lower bound on the cost of every schedule of Class on
	// the instance's slots; it equals Cost iff the schedule is proven optimal.
	// It is none for schedules in continuous time.
	Lower *big.Rat
	Nodes int // states expanded
}

// Solve searches for a schedule of least cost whose jobs start, stop and
// complete at multiples of the instance's slot. Nodes and the result are a
// function of the instance, the objective and the options, unless time or the
// context ends the search.
//
// Errors: sched.ErrNotApplicable for instances without slots, models other than
// preemptive (or gang, if NonPreemptive), jobs whose iteration time depends on
// the placement, maximised objectives, more than 12 jobs, and numbers too large
// for the search's tables.
func Solve(ctx context.Context, in *sched.Instance, obj sched.Objective, o Options) (*Result, error) {
	p, err := newProblem(in, obj, o.NonPreemptive)
	if err != nil {
		return nil, fmt.Errorf("bouts: instance %q: %w", in.Name, err)
	}
	s := newSearch(ctx, p, o)
	s.run()
	r := &Result{Termination: s.stopped, Class: p.class, Lower: p.cost(s.lower), Nodes: s.expanded}
	if r.Schedule, err = p.decode(s.best.path); err != nil {
		return nil, fmt.Errorf("bouts: instance %q: %w", in.Name, err)
	}
	if err := r.Schedule.CheckEnd(); err != nil {
		return nil, fmt.Errorf("bouts: instance %q: %w: the best schedule found is too long: %w", in.Name, sched.ErrNotApplicable, err)
	}
	r.Cost = obj.Cost(in, p.completion(s.best.path))
	switch {
	case r.Lower.Cmp(r.Cost) == 0:
		r.Termination = milp.Optimal
	case s.stopped == "":
		r.Termination = milp.Numerical
	}
	return r, nil
}
