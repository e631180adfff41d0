// Package preemptive formulates slotted scheduling of gangs that may be stopped
// and go on later (class Ps), with a load before and a pause after every bout
// of training, and without stops (class Ns). [Solve] finds and proves optima;
// [GridBound] solves a linear program for larger instances, and for continuous
// time.
//
// # Bouts
//
// Slots have length δ. Job k holds its g_k GPUs in bouts. One of m slots trains
// for mδ − l_k in them; if it is not the job's last, the pause p_k follows, which
// blocks its GPUs for q_k = ⌈p_k/δ⌉ slots more: other bouts begin at slot boundaries
// only. The job completes at the end of its last bout. T_k is its training time.
//
// The binary variable z[k,s,m,f] is a bout of job k from slot s on, of m slots,
// final (f = 1) or not. With e = s + m,
//
//	min Σ w_k δ Σ_{f=1} e z                                                 (1)
//	Σ_{f=1} z[k,s,m,1] = 1                                each job k       (2)
//	Σ (mδ − l_k) z[k,s,m,f] ≥ T_k                          each job k       (3)
//	Σ_k g_k y[k,t] ≤ G'                                    each slot t      (4)
//	Σ_k u(g_k) y[k,t] ≤ 1                                  each slot t      (5)
//	y'[k,t] + Σ_{f=1, e ≤ t} z[k,s,m,1] ≤ 1                each k and t     (6)
//
// where y[k,t] adds up the bouts that hold GPUs in slot t, pauses included, and
// y' also those whose pause ended at t. In (3) equality is asked for where δ
// divides l_k, the unit being the slot. In (4), G' is the most GPUs that jobs in
// question can hold together; (5), for several functions u, and for sets of jobs
// no two of which fit together, follows from (4) for whole bouts and cuts off
// fractions of them. (6) says that bouts of a job do not overlap, leave a slot
// after a pause, and that none comes after the last.
//
// # Why that is exact
//
// Some optimal schedule has a point. Interrupted loads can be left out: without
// them the GPUs are idle. In the slot after a pause a job neither runs, nor are
// its GPUs free: otherwise let it train one slot more before the pause and one
// slot less at the end. Training beyond T_k can be left out at the end of a
// bout. Conversely, any GPUs that are free when a bout begins will do for all of
// it, as what is held later was held at that moment or begins later. Where the
// speed of a job depends on its GPUs, T_k is its least training time, points
// need not be schedules, and the program is a relaxation.
//
// Every job has a deadline: what a schedule no dearer than a known one leaves it
// if all others end as early as they can. Bouts that do not lead from a release
// to a deadline have no variable.
//
// Sources: the model is that of Lazer, section 2 and Eq. (1), where a job waits,
// loads, trains and pauses; J. P. Sousa and L. A. Wolsey, A time indexed
// formulation of non-preemptive single machine scheduling problems (1992), for
// variables that stand for stretches of time; S. P. Fekete and J. Schepers, New
// classes of fast lower bounds for bin packing problems (2001), for the
// functions u. Not in the sources: the program.
package preemptive

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"yardstick/formulate"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// Options direct Build and Solve. The zero value is a good choice.
type Options struct {
	// NonPreemptive asks for class Ns: every job has one bout.
	NonPreemptive bool
	Limits        milp.Limits
}

// Build returns the program, for inspection and for other solvers. Solve does
// more: it begins with schedules of its own.
//
// Errors: sched.ErrNotApplicable for instances without slots, models other than
// preemptive (or gang, if NonPreemptive), objectives that are maximised or divided,
// and programs that are too large.
func Build(in *sched.Instance, obj sched.Objective, opt Options) (*formulate.Program, error) {
	if obj.Sum() != obj {
		return nil, fmt.Errorf("preemptive: instance %q: %w to %v: that is %v divided by the number of jobs", in.Name, sched.ErrNotApplicable, obj, obj.Sum())
	}
	p, err := newProblem(in, obj, opt.NonPreemptive)
	if err != nil {
		return nil, fmt.Errorf("preemptive: instance %q: %w", in.Name, err)
	}
	m, err := p.build(p.deadlines(p.first()))
	if err != nil {
		return nil, fmt.Errorf("preemptive: instance %q: %w", in.Name, err)
	}
	formulate.Shift(m.model, p.objective(new(big.Rat)))
	out := &formulate.Program{Model: m.model, Relation: p.relation()}
	if out.Relation == formulate.Exact {
		out.Decode = func(x []float64) (*sched.Schedule, error) {
			bouts, err := m.bouts(x)
			if err != nil {
				return nil, fmt.Errorf("preemptive: %w", err)
			}
			return p.schedule(bouts)
		}
	}
	return out, nil
}

// Solve solves the program. The bound is on schedules of class Ps, or Ns, on the
// instance's slots, and none in continuous time. Where weighted costs are no float64s
// it misses the optimum by their rounding. A relaxation gives no schedule.
//
// Errors: as for Build, but that the mean may be asked for; the solver cannot run.
func Solve(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.Solver, opt Options) (*exact.Result, error) {
	out, err := solve(ctx, in, obj, solver, opt)
	if err != nil {
		return nil, fmt.Errorf("preemptive: instance %q: %w", in.Name, err)
	}
	return out, nil
}

func solve(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.Solver, opt Options) (*exact.Result, error) {
	p, err := newProblem(in, obj, opt.NonPreemptive)
	if err != nil {
		return nil, err
	}
	best := p.first()
	m, err := p.build(p.deadlines(best))
	if err != nil {
		return nil, err
	}
	r, err := solver.Solve(ctx, m.model, milp.Start{X: m.point(best), Round: m.listed}, opt.Limits)
	if err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	program := formulate.Program{Model: m.model, Relation: p.relation()}
	out := &exact.Result{Class: p.class, Termination: r.Termination, Nodes: r.Stats.Nodes, Programs: []exact.Program{{Relation: program.Relation.String(), Solver: solver.Name(),
		Rows: len(m.model.Rows), Cols: len(m.model.Vars), Nonzeros: m.model.Nonzeros(), Integers: m.model.Integers(), Result: r}}}
	lower := p.trivial()
	if bound, evidence := program.DualBound(r); !math.IsInf(bound, 0) { // +Inf could only be a mistake: the program has a point
		b := new(big.Rat).SetFloat64(bound)
		if evidence == milp.Claimed {
			out.Claimed = p.objective(b)
		} else if b.Cmp(lower) > 0 {
			lower = b
		}
	}
	out.Bound = p.objective(lower)
	if program.Relation != formulate.Exact {
		return out, nil
	}
	if found, err := m.bouts(r.X); err == nil {
		best = p.better(best, found)
	}
	out.Cost = p.objective(p.cost(best))
	if out.Schedule, err = p.schedule(best); err != nil {
		return nil, err
	}
	if err := out.Schedule.CheckEnd(); err != nil {
		return nil, fmt.Errorf("%w: the best schedule found is too long: %w", sched.ErrNotApplicable, err)
	}
	return out, nil
}
