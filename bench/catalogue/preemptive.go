package catalogue

import (
	"context"

	"yardstick/bench"
	"yardstick/bounds"
	"yardstick/formulate/preemptive"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// boutSearch is the dynamic program over the preemptive schedules in slots.
func boutSearch(ref bench.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := bouts.Options{NonPreemptive: p.flag("non-preemptive"), States: p.count("states", bouts.States, 1)}
	return bench.Configured(bench.Search(ref, "1", func(ctx context.Context, p bench.Problem, objective sched.Objective) (bench.Outcome, error) {
		o := o
		o.Limits = milp.Limits{Time: p.Limits.Solve, Nodes: p.Limits.Nodes}
		r, err := bouts.Solve(ctx, p.Instance, objective, o)
		if err != nil {
			return bench.Outcome{}, err
		}
		return bench.Outcome{Schedule: r.Schedule, Termination: r.Termination,
			Bounds: []bounds.Bound{{Name: ref.Name, Class: r.Class, Objective: objective, Value: r.Lower}}}, nil
	}), o), p.finish()
}

// boutProgram is the integer program over the bouts of the jobs, proven by our
// own branch and bound.
func boutProgram(ref bench.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := preemptive.Options{NonPreemptive: p.flag("non-preemptive")}
	return bench.Configured(bench.Search(ref, "2", func(ctx context.Context, p bench.Problem, objective sched.Objective) (bench.Outcome, error) {
		o := o
		o.Limits = milp.Limits{Time: p.Limits.Solve, Nodes: p.Limits.Nodes}
		solver := branch.New(lpsolve.LP{})
		r, err := preemptive.Solve(ctx, p.Instance, objective, solver, o)
		if err != nil {
			return bench.Outcome{}, err
		}
		out := bench.Outcome{Schedule: r.Schedule, Termination: r.MIP.Termination}
		if r.Lower != nil {
			out.Bounds = []bounds.Bound{{Name: ref.Name, Class: r.Class, Objective: objective, Value: r.Lower}}
		}
		out.Solves = []bench.Solve{{Formulation: ref.Name, Relation: r.Relation.String(), Solver: solver.Name(), Rows: r.Rows, Columns: r.Cols, Nonzeros: r.Nonzeros, Result: *r.MIP}}
		return out, nil
	}), o.NonPreemptive), p.finish()
}

// gridLP is the linear program of work per slot, of the instance's kind of time.
func gridLP(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
	grid := preemptive.ContinuousGrid
	if p.Instance.Slot > 0 {
		grid = preemptive.SlottedGrid
	}
	r, err := grid(ctx, p.Instance, o, lpsolve.LP{}, preemptive.GridOptions{Limits: milp.Limits{Time: p.Limits.Solve}})
	if err != nil {
		return bounds.Bound{}, "", err
	}
	return r.Bound, ended(r.LP), nil
}
