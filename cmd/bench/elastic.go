package main

import (
	"context"
	"time"

	"yardstick/bench"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/sim"
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
			o.MaxWeight = primaldual.Exact{Context: ctx, Solver: lpsolve.LP{}, Limits: milp.Limits{Time: p.Limits.Solve, Nodes: p.Limits.Nodes}}
		}
		return elastic.Run(ctx, p.Instance, primaldual.New(o), elastic.Options{Clock: clock})
	}}), nil
}
