package catalogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"

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

// greedy reads the options of A_maxweight, whose schedules are usually those given.
func (p *params) greedy(usual primaldual.Schedules) primaldual.Greedy {
	var g primaldual.Greedy
	p.text("schedules", usual.String(), &g.Schedules)
	p.text("prices", g.Pricing.String(), &g.Pricing)
	p.text("order", g.Order.String(), &g.Order)
	g.Fill = p.flag("fill")
	g.Steps = p.count("steps", 0, 0)
	if g.Factor = p.number("factor", "1"); g.Factor <= 0 {
		p.refuse("factor", errors.New("it must be positive"))
	}
	return g
}

// slots reads T of Eq. (11), which only the prices as printed have: a number of slots,
// the horizon of each problem, or the slots in which all jobs can be done one after the
// other. The latter two are -1 and 0.
func (p *params) slots(prices primaldual.Pricing, usual string) int64 {
	if prices != primaldual.Printed {
		return ofHorizon
	}
	switch text := p.get("slots", usual); text {
	case "horizon":
		return ofHorizon
	case "serial":
		return 0
	default:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 1 {
			p.refuse("slots", errors.New("it must be a positive number of slots, horizon or serial"))
		}
		return n
	}
}

// ofHorizon stands for T as the horizon of each problem.
const ofHorizon = -1

// priced returns A_maxweight with the prices of all jobs of an instance, where T is not
// the horizon.
func priced(g primaldual.Greedy, in *sched.Instance, slots int64) (primaldual.Greedy, error) {
	if slots == ofHorizon || in.Model != sched.ModelElastic { // other instances are refused
		return g, nil
	}
	t, err := primaldual.PaperTariff(in, slots, g.Factor)
	g.Tariff = t
	return g, err
}

// aMaxWeight is A_maxweight on all jobs of an instance with a deadline, with the
// upper bound that its prices prove.
func aMaxWeight(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	g := p.greedy(primaldual.ExactSchedules)
	slots := p.slots(g.Pricing, "horizon")
	return bench.Configured(bench.Heuristic(ref, "1", func(_ context.Context, p bench.Problem, o sched.Objective) (bench.Outcome, error) {
		in := p.Instance
		if err := forWeight(in, o); err != nil {
			return bench.Outcome{}, err
		}
		problem := primaldual.Problem{Model: pricing.New(in), Horizon: in.DeadlineSlots(), Bounded: true}
		for id := range in.Jobs {
			problem.Jobs = append(problem.Jobs, sched.JobID(id))
		}
		g, err := priced(g, in, slots)
		if err != nil {
			return bench.Outcome{}, err
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
	}), g, slots), p.finish()
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
// A_maxweight, or exact ones. The literal form is Algorithms 1 to 7 with one λ, as the
// paper's theorems have it; alpha is the value that the paper finds typical, below its
// Theorem 5.
func primalDual(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := primaldual.Options{Shift: p.flag("shift")}
	p.text("form", o.Form.String(), &o.Form)
	formula := false // alpha of Theorem 5, which knows all jobs in advance
	schedules, horizon := primaldual.ExactSchedules, "horizon"
	if o.Form == primaldual.Literal {
		if formula = p.get("alpha", "4") == "formula"; !formula {
			o.Alpha = p.count("alpha", 4, 1)
		}
		schedules, horizon = primaldual.RepairedSchedules, "serial"
	}
	exact := p.flag("exact")
	var g primaldual.Greedy
	slots := int64(ofHorizon)
	if !exact {
		g = p.greedy(schedules)
		slots = p.slots(g.Pricing, horizon)
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	theorem := formula && slots != ofHorizon && !g.Fill && !exact // 5, about one alpha and one λ
	return bench.Configured(bench.Policy(ref, "2", bench.Replayed{
		New: func(ctx context.Context, p bench.Problem) (sim.Policy, error) {
			o := o
			g, err := priced(g, p.Instance, slots)
			if err != nil {
				return nil, err
			}
			o.MaxWeight = g
			if exact {
				// What the policy does may not depend on the clock.
				o.MaxWeight = primaldual.Exact{Context: ctx, Solver: p.Programs.Watch(lpsolve.LP{}), Limits: milp.Limits{Nodes: cmp.Or(p.Limits.Nodes, exactNodes)}}
			}
			if formula && p.Instance.Model == sched.ModelElastic { // other instances are refused
				t, err := primaldual.PaperTariff(p.Instance, max(slots, 0), g.Factor)
				if err != nil {
					return nil, err
				}
				o.Alpha = primaldual.PaperAlpha(p.Instance, t.Lambda)
			}
			return primaldual.New(o), nil
		},
		Theorems: primalDualTheorems(theorem, slots, g.Factor),
	}), o, formula, exact, g, slots), nil
}

// primalDualTheorems evaluates Lemma 1, and Theorem 5 on its own algorithm, with the λ
// of the run.
func primalDualTheorems(theorem bool, slots int64, factor float64) *bench.Theorems {
	return &bench.Theorems{Objective: sched.WeightedCompletion, Headline: theorems.PrimalDualHeadline,
		Evaluate: func(v *verify.Verified, r *bench.Replay, opt theorems.Interval) ([]theorems.Result, error) {
			var lambda *big.Rat
			if theorem {
				t, err := primaldual.PaperTariff(v.Instance(), slots, factor)
				if err != nil {
					return nil, err
				}
				lambda = new(big.Rat).SetFloat64(max(t.Lambda, 2))
			}
			return errata.PrimalDualTheorems(v, r.Rounds.Alpha, r.Rounds.Kept, lambda, opt), nil
		}}
}
