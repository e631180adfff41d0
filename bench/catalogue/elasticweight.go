package catalogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bench"
	"yardstick/bench/errata"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/bounds/theorems"
	"yardstick/formulate/maxweight"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// The algorithms of the primal-dual paper: A_maxweight, for the weight done by a
// deadline, and A_online, which solves such problems in rounds.

// greedy reads the options of A_maxweight.
func (p *params) greedy() primaldual.Greedy {
	var g primaldual.Greedy
	p.text("prices", g.Pricing.String(), &g.Pricing)
	p.text("order", g.Order.String(), &g.Order)
	g.Fill = p.flag("fill")
	g.Steps = p.count("steps", 0, 0)
	if g.Factor = p.number("factor", "1"); g.Factor <= 0 {
		p.refuse("factor", errors.New("it must be positive"))
	}
	return g
}

// aMaxWeight is A_maxweight on all jobs of an instance with a deadline, with the
// upper bound that its prices prove.
func aMaxWeight(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	g := p.greedy()
	return bench.Configured(bench.Heuristic(ref, "1", func(_ context.Context, p bench.Problem, o sched.Objective) (bench.Outcome, error) {
		in := p.Instance
		if err := forWeight(in, o); err != nil {
			return bench.Outcome{}, err
		}
		problem := primaldual.Problem{Model: pricing.New(in), Horizon: in.DeadlineSlots(), Bounded: true}
		for id := range in.Jobs {
			problem.Jobs = append(problem.Jobs, sched.JobID(id))
		}
		b, err := g.Solve(problem)
		if err != nil {
			return bench.Outcome{}, err
		}
		s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}}
		for _, x := range b.Runs {
			s.Segments = append(s.Segments, in.ElasticSegment(x.Job, x.Start, x.End-x.Start, x.Place))
		}
		s.Sort()
		return bench.Outcome{Schedule: s, Termination: bench.Completed, Bounds: []bounds.Bound{elasticBound(ref.Name, o, b.Upper)}}, nil
	}), g), p.finish()
}

// elasticDensity is the greedy algorithm by density, for the weight done by a
// deadline.
func elasticDensity(ref suite.MethodRef) (bench.Method, error) {
	return bench.Heuristic(ref, "1", func(_ context.Context, p bench.Problem, o sched.Objective) (bench.Outcome, error) {
		if err := forWeight(p.Instance, o); err != nil {
			return bench.Outcome{}, err
		}
		s, err := elastic.Greedy(p.Instance)
		if err != nil {
			return bench.Outcome{}, err
		}
		return bench.Outcome{Schedule: s, Termination: bench.Completed}, nil
	}), readParams(ref).finish()
}

// elasticPrices is the upper bound on the weight that prices prove, after steps
// of subgradient descent.
func elasticPrices(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	steps := p.count("steps", 0, 0)
	return bench.Configured(bench.LowerBound(ref, "1", func(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
		if err := forWeight(p.Instance, o); err != nil {
			return bounds.Bound{}, "", err
		}
		limited := ctx
		if p.Limits.Solve > 0 {
			var cancel context.CancelFunc
			limited, cancel = context.WithTimeout(ctx, p.Limits.Solve)
			defer cancel()
		}
		b := elasticBound(ref.Name, o, maxweight.Tighten(limited, pricing.New(p.Instance), nil, steps).Value)
		switch {
		case ctx.Err() != nil:
			return b, milp.Interrupted, nil
		case limited.Err() != nil:
			return b, milp.TimeLimit, nil
		}
		return b, milp.Optimal, nil
	}), steps), p.finish()
}

// forWeight returns sched.ErrNotApplicable unless the weight done by a deadline
// is asked for and defined.
func forWeight(in *sched.Instance, o sched.Objective) error {
	if o != sched.ScheduledWeight {
		return fmt.Errorf("%w to %v", sched.ErrNotApplicable, o)
	}
	if in.Model == sched.ModelElastic && in.Deadline < in.Slot {
		return fmt.Errorf("%w without a deadline of at least a slot", sched.ErrNotApplicable)
	}
	return maxweight.Check(in)
}

// exactNodes limits each exact maximum weighted schedule where the suite sets no
// limit.
const exactNodes = 10_000

// primalDual makes A_online. Its maximum weighted schedules are those of
// A_maxweight, or exact ones.
func primalDual(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := primaldual.Options{Shift: p.flag("shift")}
	p.text("form", o.Form.String(), &o.Form)
	formula := false // alpha of Theorem 5, which knows all jobs in advance
	if o.Form == primaldual.Literal {
		if formula = p.get("alpha", "1") == "formula"; !formula {
			o.Alpha = p.count("alpha", 1, 1)
		}
	}
	exact := p.flag("exact")
	var g primaldual.Greedy
	if !exact {
		g = p.greedy()
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	printed := o.Form == primaldual.Literal && !exact && g.Pricing == primaldual.Printed && !g.Fill
	return bench.Configured(bench.Policy(ref, "1", bench.Replayed{
		New: func(ctx context.Context, p bench.Problem) (sim.Policy, error) {
			o := o
			o.MaxWeight = g
			if exact {
				// What the policy does may not depend on the clock.
				o.MaxWeight = primaldual.Exact{Context: ctx, Solver: lpsolve.LP{}, Limits: milp.Limits{Nodes: cmp.Or(p.Limits.Nodes, exactNodes)}}
			}
			if formula && p.Instance.Model == sched.ModelElastic { // other instances are refused
				var err error
				if o.Alpha, err = primaldual.PaperAlpha(p.Instance, 0); err != nil {
					return nil, err
				}
			}
			return primaldual.New(o), nil
		},
		Theorems: primalDualTheorems(printed),
	}), o, formula, exact, g), nil
}

// primalDualTheorems evaluates Lemma 1, and with printed prices in the literal form
// Theorem 5.
func primalDualTheorems(printed bool) *bench.Theorems {
	return &bench.Theorems{Objective: sched.WeightedCompletion, Headline: theorems.PrimalDualHeadline,
		Evaluate: func(v *verify.Verified, r *bench.Replay, opt theorems.Interval) ([]theorems.Result, error) {
			var lambda *big.Rat
			if printed {
				l, err := primaldual.PaperLambda(v.Instance(), 0)
				if err != nil {
					return nil, err
				}
				lambda = new(big.Rat).SetFloat64(max(l, 2))
			}
			return errata.PrimalDualTheorems(v, r.Rounds.Alpha, r.Rounds.Kept, lambda, opt), nil
		}}
}
