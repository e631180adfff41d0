// Package elastic minimises weighted completion times of elastic jobs: problem
// (2) of the primal-dual paper, for parameter servers and (15) for rings. It gives
// optima of class Es by branch and price, integer programs, and lower bounds.
//
// A schedule gives each job a configuration, a placement and a start slot, which
// it keeps. Slots count from 0: a job that starts in slot t completes at t + d_j.
// The paper counts from 1, so that its objective is greater by Σ w_j.
//
// # Lower bounds
//
// From strong to weak, on random instances (docs/elastic.md has the numbers):
//
//   - [Conf], the linear program over all schedules of each job;
//   - [Aggregate], the same with all servers merged into one;
//   - [MeanBusyTime], jobs as work for one machine, in closed form;
//   - [Deadlines], from upper bounds on the weight done by each slot;
//   - [Intervals], a linear program over a geometric grid;
//   - [Alone], each job without the others.
//
// [Weight] is the counterpart of Intervals for the weight done by a deadline.
//
// Those of class Es hold for jobs that keep what they have. For jobs that are
// stopped or resized (class EP, or malleable ones, M) rounding the slots of a
// configuration up would be wrong, as work may be split over configurations:
// Alone, MeanBusyTime and Intervals have versions of class F(min), with volumes
// and durations that are not rounded, and of F(min)s, where jobs start and
// complete with slots all the same. Every value is proven in exact arithmetic.
package elastic

import (
	"context"
	"fmt"
	"math/big"

	"yardstick/bounds"
	"yardstick/formulate"
	"yardstick/formulate/maxweight/columns"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// maxSlots bounds the horizon.
const maxSlots = 1 << 20

// problem is an instance with an objective, in slots: Σ w_j C_j. Each job has a
// configuration.
type problem struct {
	in     *sched.Instance
	obj    sched.Objective
	model  *pricing.Model
	weight []float64
}

func newProblem(in *sched.Instance, obj sched.Objective) (*problem, error) {
	p := &problem{in: in, obj: obj}
	switch {
	case in.Model != sched.ModelElastic:
		return nil, fmt.Errorf("elastic: instance %q: %w to the %s model", in.Name, sched.ErrNotApplicable, in.Model)
	case !obj.IsTotal():
		return nil, fmt.Errorf("elastic: instance %q: %w to %v", in.Name, sched.ErrNotApplicable, obj)
	}
	p.model = pricing.New(in)
	for id, list := range p.model.Configs {
		if len(list) == 0 {
			return nil, fmt.Errorf("elastic: instance %q: job %d runs nowhere", in.Name, id)
		}
		w := 1.0
		if obj.Weighted() {
			w = in.Jobs[id].Weight
		}
		p.weight = append(p.weight, w)
	}
	return p, nil
}

// integral reports whether Σ w_j C_j is always a whole number of slots.
func (p *problem) integral() bool {
	return p.obj.Base().Integral(p.in)
}

// objective turns Σ w_j C_j in slots into the objective's value.
func (p *problem) objective(slots *big.Rat) *big.Rat {
	return p.obj.FromBase(p.in, new(big.Rat).Mul(slots, new(big.Rat).SetInt64(int64(p.in.Slot))))
}

// bound states a lower bound on Σ w_j C_j in slots, of class Es.
func (p *problem) bound(name string, slots *big.Rat) bounds.Bound {
	if p.integral() {
		slots = number.Ceil(slots)
	}
	return bounds.Bound{Name: name, Class: sched.Class{Kind: sched.E, Slotted: true}, Objective: p.obj, Value: p.objective(slots)}
}

// shortest returns d_j^min, the slots of the fastest configuration.
func (p *problem) shortest(id sched.JobID) int64 {
	least := p.model.Configs[id][0].Slots
	for _, c := range p.model.Configs[id] {
		least = min(least, c.Slots)
	}
	return least
}

// alone returns w_j (a_j + d_j^min).
func (p *problem) alone(id sched.JobID) *big.Rat {
	v := new(big.Rat).SetFloat64(p.weight[id])
	return v.Mul(v, new(big.Rat).SetInt64(p.in.FirstSlot(id)+p.shortest(id)))
}

// columns states the problem with the given number of slots, and jobs that must
// complete by latest; nil for any time.
func (p *problem) columns(slots int64, latest []int64) *columns.Problem {
	out := &columns.Problem{Model: p.model, Slots: int(slots)}
	for id, w := range p.weight {
		t := columns.Terms{Time: w, Latest: pricing.NoLimit}
		if latest != nil {
			t.Latest = latest[id]
		}
		out.Terms = append(out.Terms, t)
	}
	return out
}

// limited is a context that ends with the limit in time, if there is one.
func limited(ctx context.Context, limits milp.Limits) (context.Context, context.CancelFunc) {
	if limits.Time > 0 {
		return context.WithTimeout(ctx, limits.Time)
	}
	return ctx, func() {}
}

// ended tells a limit in time from an interruption: ctx is the context without it.
func ended(ctx context.Context, t milp.Termination) milp.Termination {
	if t == milp.Interrupted && ctx.Err() == nil {
		return milp.TimeLimit
	}
	return t
}

// serial runs the jobs one after the other, each as fast as it can be.
func (p *problem) serial() []*pricing.Choice {
	market := p.model.Market(pricing.Round(p.in, 0, nil, 0), nil)
	var out []*pricing.Choice
	end := int64(0)
	for id := range p.in.Jobs {
		c, ok := market.Cheapest(pricing.Query{Job: sched.JobID(id), Earliest: end, Latest: pricing.NoLimit, TimeCost: 1})
		if !ok {
			panic("elastic: a job that runs somewhere does not run alone")
		}
		out, end = append(out, &c), c.End()
	}
	return out
}

// greedy returns a good choice, as the best of list schedules, with its cost in
// slots and makespan. Once the context has ended it makes no more of them; without
// any, jobs run one after the other.
func (p *problem) greedy(ctx context.Context) (choice []*pricing.Choice, cost *big.Rat, makespan int64, err error) {
	horizon := int64(0)
	for id := range p.in.Jobs {
		horizon = max(horizon, p.in.FirstSlot(sched.JobID(id)))
	}
	for id := range p.in.Jobs {
		if horizon += p.shortest(sched.JobID(id)); horizon > maxSlots {
			return nil, nil, 0, fmt.Errorf("elastic: instance %q: %w: a list schedule may need more than %d slots", p.in.Name, sched.ErrNotApplicable, maxSlots)
		}
	}
	q := p.columns(horizon, nil)
	for _, order := range p.orders() {
		// No list schedule ends later: each job could follow all before it.
		c, ok := q.Greedy(ctx, order)
		if !ok && ctx.Err() != nil {
			break
		}
		if !ok {
			panic("elastic: a list schedule does not end")
		}
		if v := q.Cost(c); cost == nil || v.Cmp(cost) < 0 {
			choice, cost = c, v
		}
	}
	if choice == nil {
		choice = p.serial()
		cost = q.Cost(choice)
	}
	for _, c := range choice {
		makespan = max(makespan, c.End())
	}
	return choice, cost, makespan, nil
}

// exact returns the problem with as few slots as lose no optimum that costs at most
// as much as a schedule that is known.
//
// With V that cost, no schedule that costs at most V completes job j
// later than (V − Σ_{i≠j} w_i (a_i + d_i^min))/w_j.
func (p *problem) exact(cost *big.Rat) (*columns.Problem, error) {
	left := new(big.Rat).Set(cost)
	for id := range p.in.Jobs {
		left.Sub(left, p.alone(sched.JobID(id)))
	}
	latest, slots := make([]int64, len(p.in.Jobs)), int64(0)
	for id := range latest {
		v := new(big.Rat).Add(left, p.alone(sched.JobID(id)))
		v.Quo(v, new(big.Rat).SetFloat64(p.weight[id]))
		last := new(big.Int).Quo(v.Num(), v.Denom())
		if !last.IsInt64() || last.Int64() > maxSlots {
			return nil, fmt.Errorf("elastic: instance %q: %w: job %d may complete as late as slot %v", p.in.Name, sched.ErrNotApplicable, id, last)
		}
		latest[id] = last.Int64()
		slots = max(slots, latest[id])
	}
	return p.columns(slots, latest), nil
}

// Solve finds an optimum of class Es by branch and price. It applies to sums of
// completion times. Reaching a limit leaves Bound below Cost; it is not an error.
// The limit in time is that of everything, the list schedules that come first too;
// the limit in nodes is that of the tree, whose root is the linear relaxation.
//
// Errors: sched.ErrNotApplicable; a job that runs nowhere; those of
// the solver.
func Solve(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.LPSolver, limits milp.Limits) (*exact.Result, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, err
	}
	within, cancel := limited(ctx, limits)
	defer cancel()
	choice, cost, _, err := p.greedy(within)
	if err != nil {
		return nil, err
	}
	r := &columns.Optimum{Termination: milp.Interrupted}
	if within.Err() == nil {
		q, err := p.exact(cost)
		if err != nil {
			return nil, err
		}
		if r, err = q.Solve(within, solver, milp.Limits{Nodes: limits.Nodes}); err != nil {
			return nil, err
		}
	}
	r.Termination = ended(ctx, r.Termination)
	lower := new(big.Rat)
	for id := range in.Jobs {
		lower.Add(lower, p.alone(sched.JobID(id)))
	}
	if r.Bound != nil && r.Bound.Cmp(lower) > 0 {
		lower = r.Bound
	}
	if r.Cost != nil && r.Cost.Cmp(cost) < 0 {
		choice, cost = r.Choice, r.Cost
	}
	schedule := p.columns(0, nil).Schedule(choice)
	if err := schedule.CheckEnd(); err != nil {
		return nil, fmt.Errorf("elastic: instance %q: %w: the best schedule found is too long: %w", in.Name, sched.ErrNotApplicable, err)
	}
	return &exact.Result{Class: schedule.Class, Schedule: schedule, Cost: p.objective(cost), Bound: p.objective(lower), Termination: r.Termination, Nodes: r.Nodes}, nil
}

// Listed returns the integer program with a variable for every schedule of every
// job that an optimum may use: package columns has the formulation. Costs are
// those of the objective.
//
// Errors: as for Solve; the mean JCT, which is the total divided by the number of
// jobs; sched.ErrNotApplicable.
func Listed(in *sched.Instance, obj sched.Objective) (*formulate.Program, error) {
	return program(in, obj, (*columns.Problem).Listed)
}

// Compact returns the integer program with variables for the numbers of workers
// and parameter servers on each server, for each configuration and start. Costs
// are those of the objective.
//
// Errors: as for Listed.
func Compact(in *sched.Instance, obj sched.Objective) (*formulate.Program, error) {
	return program(in, obj, (*columns.Problem).Compact)
}

func program(in *sched.Instance, obj sched.Objective, write func(*columns.Problem, int64, float64) (*formulate.Program, error)) (*formulate.Program, error) {
	if obj.Sum() != obj {
		return nil, fmt.Errorf("elastic: instance %q: %v is %v divided by the number of jobs: build that", in.Name, obj, obj.Sum())
	}
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, err
	}
	_, cost, _, err := p.greedy(context.Background())
	if err != nil {
		return nil, err
	}
	q, err := p.exact(cost)
	if err != nil {
		return nil, err
	}
	constant, exact := p.obj.FromBase(p.in, new(big.Rat)).Float64()
	if !exact {
		return nil, fmt.Errorf("elastic: instance %q: %w: the weighted sum of the releases has no float64", in.Name, sched.ErrNotApplicable)
	}
	return write(q, int64(in.Slot), constant)
}
