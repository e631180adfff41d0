package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"yardstick/bench"
	"yardstick/bounds"
	formulation "yardstick/formulate/elastic"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// elasticPolicy makes a policy of the elastic model without parameters; its
// random choices are drawn by the instance's seed.
func elasticPolicy(policy func(seed uint64) elastic.Policy) func(bench.MethodRef) (bench.Method, error) {
	return func(ref bench.MethodRef) (bench.Method, error) {
		return bench.Policy(ref, "1", replayElastic(policy)), readParams(ref).finish()
	}
}

func replayElastic(policy func(seed uint64) elastic.Policy) bench.Replayed {
	return bench.Replayed{Replay: func(ctx context.Context, p bench.Problem, clock func() time.Duration) (*sim.Result, error) {
		return elastic.Run(ctx, p.Instance, policy(p.Seed), elastic.Options{Clock: clock})
	}}
}

func elasticFIFO(ref bench.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := elastic.FIFOOptions{Backfill: p.flag("backfill"), Ideal: p.flag("ideal")}
	return bench.Policy(ref, "1", replayElastic(func(seed uint64) elastic.Policy {
		o := o
		o.Seed = seed
		return elastic.FIFO(o)
	})), p.finish()
}

// exactNodes limits each exact maximum weighted schedule where the suite sets no
// limit.
const exactNodes = 10_000

// primalDual makes A_online. Its maximum weighted schedules are those of the
// greedy algorithm, or exact ones.
func primalDual(ref bench.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := primaldual.Options{Shift: p.flag("shift")}
	p.text("form", o.Form.String(), &o.Form)
	if o.Form == primaldual.Literal {
		o.Alpha = max(p.count("alpha"), 1)
	}
	exact := p.flag("exact")
	var g primaldual.Greedy
	if !exact {
		p.text("prices", g.Pricing.String(), &g.Pricing)
		p.text("order", g.Order.String(), &g.Order)
		g.Fill = p.flag("fill")
		g.Steps = p.count("steps")
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return bench.Policy(ref, "1", bench.Replayed{Replay: func(ctx context.Context, p bench.Problem, clock func() time.Duration) (*sim.Result, error) {
		o := o
		o.MaxWeight = g
		if exact {
			// What the policy does may not depend on the clock.
			o.MaxWeight = primaldual.Exact{Context: ctx, Solver: lpsolve.LP{}, Limits: milp.Limits{Nodes: cmp.Or(p.Limits.Nodes, exactNodes)}}
		}
		return elastic.Run(ctx, p.Instance, primaldual.New(o), elastic.Options{Clock: clock})
	}}), nil
}

// elasticOptimum is branch and price for sums of completion times.
func elasticOptimum(ref bench.MethodRef) (bench.Method, error) {
	return bench.Search(ref, "1", func(ctx context.Context, p bench.Problem, o sched.Objective) (bench.Outcome, error) {
		r, err := formulation.Solve(ctx, p.Instance, o, lpsolve.LP{}, milp.Limits{Time: p.Limits.Solve, Nodes: p.Limits.Nodes})
		switch {
		case errors.Is(err, bounds.ErrNotApplicable), errors.Is(err, formulation.ErrTooLarge):
			return skipped(err), nil
		case err != nil:
			return bench.Outcome{}, err
		}
		class := sched.Class{Kind: sched.E, Slotted: true}
		return bench.Outcome{Schedule: r.Schedule, Termination: r.Tree.Termination,
			Bounds: []bounds.Bound{{Name: ref.Name, Class: class, Objective: o, Value: r.Lower}}}, nil
	}), readParams(ref).finish()
}

// elasticConf is the linear program of configurations, by column generation.
func elasticConf(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
	r, err := formulation.Conf(ctx, p.Instance, o, lpsolve.LP{}, milp.Limits{Time: p.Limits.Solve})
	if errors.Is(err, formulation.ErrTooLarge) {
		return bounds.Bound{}, "", fmt.Errorf("%w: %w", bounds.ErrNotApplicable, err)
	}
	if err != nil {
		return bounds.Bound{}, "", err
	}
	return r.Bound, r.LP.Termination, nil
}

// elasticClosed makes a closed bound of the class that the parameter names: Es
// for policies that neither preempt nor resize, or F(min)s for all.
func elasticClosed(bound func(*sched.Instance, sched.Objective, sched.Class) (bounds.Bound, error)) func(bench.MethodRef) (bench.Method, error) {
	return func(ref bench.MethodRef) (bench.Method, error) {
		p := readParams(ref)
		class := sched.Class{Kind: sched.E, Slotted: true}
		p.text("class", class.String(), &class)
		return bench.LowerBound(ref, "1", bench.Closed(func(in *sched.Instance, o sched.Objective) (bounds.Bound, error) {
			return bound(in, o, class)
		})), p.finish()
	}
}
