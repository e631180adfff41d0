package catalogue

import (
	"context"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/formulate/preemptive"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// boutSearch is the dynamic program over the preemptive schedules in slots.
func boutSearch(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := bouts.Search{NonPreemptive: p.flag("non-preemptive"), States: p.count("states", bouts.States, 1)}
	return bench.Configured(bench.Search(ref, "1", o.Solve), o), p.finish()
}

// boutProgram is the integer program over the bouts of the jobs, proven by our
// own branch and bound.
func boutProgram(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	once := p.flag("non-preemptive")
	return bench.Configured(bench.Search(ref, "2", func(ctx context.Context, in *sched.Instance, o sched.Objective, l exact.Limits) (*exact.Result, error) {
		return preemptive.Solve(ctx, in, o, branch.New(lpsolve.LP{}), preemptive.Options{NonPreemptive: once, Limits: l})
	}), once), p.finish()
}

// gridLP is the linear program of work per slot, of the instance's kind of time.
func gridLP(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
	grid := preemptive.ContinuousGrid
	if p.Instance.Slot > 0 {
		grid = preemptive.SlottedGrid
	}
	r, err := grid(ctx, p.Instance, o, p.Programs.Watch(lpsolve.LP{}), preemptive.GridOptions{Limits: milp.Limits{Time: p.Limits.Solve}})
	if err != nil {
		return bounds.Bound{}, "", err
	}
	return r.Bound, ended(r.LP), nil
}
