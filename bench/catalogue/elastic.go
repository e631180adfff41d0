package catalogue

import (
	"context"
	"errors"
	"math"
	"math/big"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/bounds"
	formulation "yardstick/formulate/elastic"
	"yardstick/formulate/maxweight"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func elasticFIFO(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := elastic.FIFOOptions{Backfill: p.flag("backfill"), Ideal: p.flag("ideal")}
	return bench.Configured(bench.Policy(ref, "1", bench.Replayed{New: seeded(func(seed uint64) sim.Policy {
		o := o
		o.Seed = seed
		return elastic.FIFO(o)
	})}), o), p.finish()
}

// elasticOptimum is branch and price, for sums of completion times and for the
// weight done by a deadline.
func elasticOptimum(ctx context.Context, in *sched.Instance, o sched.Objective, l exact.Limits) (*exact.Result, error) {
	var log exact.Log
	solve := func() (*exact.Result, error) {
		if o == sched.ScheduledWeight {
			return maxweight.Solve(ctx, in, log.Watch(lpsolve.LP{}), l)
		}
		return formulation.Solve(ctx, in, o, log.Watch(lpsolve.LP{}), l)
	}
	r, err := solve()
	if err != nil {
		return nil, err
	}
	r.Programs = append(r.Programs, log.Programs()...)
	return r, nil
}

// elasticBound states what is proven of schedules of jobs that keep what they
// have.
func elasticBound(name string, o sched.Objective, value *big.Rat) bounds.Bound {
	return bounds.Bound{Name: name, Class: sched.Class{Kind: sched.E, Slotted: true}, Objective: o, Value: value}
}

// elasticConf is the linear program of configurations, by column generation.
func elasticConf(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
	if o == sched.ScheduledWeight {
		r, err := maxweight.Relax(ctx, p.Instance, p.Programs.Watch(lpsolve.LP{}), milp.Limits{Time: p.Limits.Solve})
		if err != nil {
			return bounds.Bound{}, "", err
		}
		b := elasticBound("elastic-conf", o, r.Bound.Value)
		b.Proof = r.Bound.Proof(len(p.Instance.Cluster.Servers), len(p.Instance.Elastic.Resources))
		return b, r.Master.Termination, nil
	}
	return relaxed(formulation.Conf(ctx, p.Instance, o, p.Programs.Watch(lpsolve.LP{}), milp.Limits{Time: p.Limits.Solve}))
}

// elasticAggregate is the same program with all servers merged into one.
func elasticAggregate(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
	return relaxed(formulation.Aggregate(ctx, p.Instance, o, p.Programs.Watch(lpsolve.LP{}), milp.Limits{Time: p.Limits.Solve}))
}

func relaxed(r *formulation.Relaxation, err error) (bounds.Bound, milp.Termination, error) {
	if err != nil {
		return bounds.Bound{}, "", err
	}
	return r.Bound, r.LP.Termination, nil
}

// elasticClosed makes a closed bound of the class that the parameter names: Es
// for policies that neither preempt nor resize, or F(min)s for all.
func elasticClosed(bound func(*sched.Instance, sched.Objective, sched.Class) (bounds.Bound, error)) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		p := readParams(ref)
		class := p.elasticClass()
		return bench.Configured(bench.LowerBound(ref, "1", bench.Closed(func(in *sched.Instance, o sched.Objective) (bounds.Bound, error) {
			return bound(in, o, class)
		})), class), p.finish()
	}
}

func (p *params) elasticClass() sched.Class {
	class := sched.Class{Kind: sched.E, Slotted: true}
	p.text("class", class.String(), &class)
	return class
}

// elasticIntervals is the linear program over a geometric grid, of the class that
// the parameter names; for the weight done by a deadline, the grid is that.
func elasticIntervals(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	class := p.elasticClass()
	ratio := p.number("ratio", "1.3")
	if p.err == nil && ratio < 1.01 {
		p.refuse("ratio", errors.New("it must be at least 1.01"))
	}
	return bench.Configured(bench.LowerBound(ref, "1", func(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
		limits := milp.Limits{Time: p.Limits.Solve}
		if o == sched.ScheduledWeight {
			return formulation.Weight(ctx, p.Instance, class, p.Programs.Watch(lpsolve.LP{}), limits)
		}
		return formulation.Intervals(ctx, p.Instance, o, class, ratio, p.Programs.Watch(lpsolve.LP{}), limits)
	}), class, ratio), p.finish()
}

// elasticDeadlines adds up, over all slots, the weight that cannot be done by
// then.
func elasticDeadlines(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	steps := p.count("steps", 0, 0)
	return bench.Configured(bench.LowerBound(ref, "1", func(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
		return formulation.Deadlines(ctx, p.Instance, o, steps, milp.Limits{Time: p.Limits.Solve})
	}), steps), p.finish()
}

// elasticTariff is the bound of prices of resources, equal on all servers.
func elasticTariff(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	steps := p.count("steps", 30, 1)
	return bench.Configured(bench.LowerBound(ref, "1", func(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
		r, err := formulation.Prices(ctx, p.Instance, o, formulation.PricesOptions{Steps: steps})
		if err != nil {
			return bounds.Bound{}, "", err
		}
		if r.Interrupted {
			return r.Bound, milp.Interrupted, nil
		}
		return r.Bound, bench.Completed, nil
	}), steps), p.finish()
}

// number reads a parameter that is a decimal number or a fraction.
func (p *params) number(name, fallback string) float64 {
	v := new(big.Rat)
	p.text(name, fallback, v)
	f, _ := v.Float64()
	if math.IsInf(f, 0) {
		p.refuse(name, errors.New("it is too large"))
	}
	return f
}
