// Package maxweight schedules elastic jobs for the greatest weight of those that
// complete by a deadline: problem (7), or (8), of the primal-dual paper, the
// objective scheduled-weight. Jobs may be left out. It gives optima, upper bounds
// with certificates, and integer programs.
//
// The deadline is the instance's, τ slots ([sched.Instance.DeadlineSlots]). Slots
// count from 0, so that a job that starts in slot t completes in time iff
// t + d_j ≤ τ and all τ slots are usable. No job starts before its release.
//
// Weak duality. Let δ ≥ 0 be prices of resources and c_j the cost of the cheapest
// schedule of job j by the deadline, in the empty cluster (package pricing). Then
// no schedule has more weight than
//
//	Σ_{h,r,t} C_h^r δ_h^r(t) + Σ_j max(0, w_j − c_j),
//
// the dual objective (9) with u_j as in (10), jobs without any schedule left out:
// see [Certify] for any prices, [Relax] for the best ones, those of the linear
// relaxation. Note that c_j is priced in the empty cluster. In what a primal-dual
// algorithm has left, c_j is larger, and the sum proves nothing.
//
// Sources: sections 5.1 and 5.2 of the primal-dual paper. Not in the source:
// columns are restricted to undominated ones; (2d), (2e), (2g) and, for the job
// alone, (2h), which the paper's list for Gamma_j omits, are kept.
package maxweight

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"yardstick/formulate"
	"yardstick/formulate/maxweight/columns"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// Bound is a proven upper bound on the weight of every schedule of class Es.
type Bound struct {
	Value *big.Rat // no schedule has more weight
	// Prices are the certificate: multiplied by Theta, they prove Value, which
	// was then rounded down if all weights are whole numbers.
	Prices *pricing.Prices
	Theta  *big.Rat
}

// problem states the objective for columns: minus the weight is minimised.
func problem(m *pricing.Model) *columns.Problem {
	p := &columns.Problem{Model: m, Slots: int(m.In.DeadlineSlots())}
	for id := range m.In.Jobs {
		p.Terms = append(p.Terms, columns.Terms{Reward: m.In.Jobs[id].Weight, Optional: true, Latest: m.In.DeadlineSlots()})
	}
	return p
}

// MaxSlots bounds the number of slots, which the size of everything is
// proportional to.
const MaxSlots = 1 << 20

// Check returns sched.ErrNotApplicable unless the instance has a maximum weighted
// schedule problem: it is elastic, with a deadline of at most MaxSlots slots.
func Check(in *sched.Instance) error {
	switch {
	case in.Model != sched.ModelElastic:
		return fmt.Errorf("maxweight: instance %q: %w to the %s model", in.Name, sched.ErrNotApplicable, in.Model)
	case in.Deadline == 0:
		return fmt.Errorf("maxweight: instance %q: %w without a deadline", in.Name, sched.ErrNotApplicable)
	case in.DeadlineSlots() > MaxSlots:
		return fmt.Errorf("maxweight: instance %q: %w to %d slots before a deadline, at most to %d", in.Name, sched.ErrNotApplicable, in.DeadlineSlots(), MaxSlots)
	}
	return nil
}

// total returns the weight of the jobs that some schedule completes by the
// deadline.
func total(m *pricing.Model) *big.Rat {
	sum := new(big.Rat)
	for id := range m.In.Jobs {
		for i := range m.Configs[id] {
			if m.In.FirstSlot(sched.JobID(id))+m.Configs[id][i].Slots <= m.In.DeadlineSlots() {
				sum.Add(sum, new(big.Rat).SetFloat64(m.In.Jobs[id].Weight))
				break
			}
		}
	}
	return sum
}

// round rounds a bound down to a weight that schedules can have.
func round(in *sched.Instance, v *big.Rat) *big.Rat {
	if !sched.ScheduledWeight.Integral(in) {
		return v
	}
	return new(big.Rat).SetInt(new(big.Int).Div(v.Num(), v.Denom())) // Euclidean, and not negative
}

// Relaxation is the linear relaxation of ILP (8).
type Relaxation struct {
	Bound
	// LP is its value, claimed by the solver: Bound before rounding, but for
	// what the rounding of prices costs. It is NaN after a limit.
	LP     float64
	Master *columns.Relaxation // minimises minus the weight
}

// Relax solves the linear relaxation by column generation and returns its bound.
// Reaching a limit is not an error: the bound is then a weaker one.
//
// Errors: sched.ErrNotApplicable, if the model is not elastic or there is no
// deadline; those of the solver.
func Relax(ctx context.Context, in *sched.Instance, solver milp.LPSolver, limits milp.Limits) (*Relaxation, error) {
	if err := Check(in); err != nil {
		return nil, err
	}
	m := pricing.New(in)
	r, err := problem(m).Relax(ctx, solver, limits)
	if err != nil {
		return nil, err
	}
	out := &Relaxation{LP: -r.Value, Master: r}
	out.Value, out.Theta, out.Prices = round(in, total(m)), new(big.Rat), pricing.Round(in, 0, nil, 0)
	if r.Bound == nil {
		return out, nil
	}
	out.Theta, out.Prices = big.NewRat(1, 1), r.Prices
	if v := round(in, new(big.Rat).Neg(r.Bound)); v.Cmp(out.Value) < 0 {
		out.Value = v
	}
	return out, nil
}

// Solve finds an optimum of class Es by branch and price. The cost is the weight, and
// no schedule has more than the bound.
//
// Errors: as for Relax.
func Solve(ctx context.Context, in *sched.Instance, solver milp.LPSolver, limits milp.Limits) (*exact.Result, error) {
	if err := Check(in); err != nil {
		return nil, err
	}
	m := pricing.New(in)
	p := problem(m)
	r, err := p.Solve(ctx, solver, limits)
	if err != nil {
		return nil, err
	}
	out := &exact.Result{Bound: round(in, total(m)), Cost: new(big.Rat), Schedule: p.Schedule(nil), Termination: r.Termination, Nodes: r.Nodes}
	if r.Choice != nil {
		out.Cost, out.Schedule = new(big.Rat).Neg(r.Cost), p.Schedule(r.Choice)
	}
	if r.Bound != nil {
		if v := round(in, new(big.Rat).Neg(r.Bound)); v.Cmp(out.Bound) < 0 {
			out.Bound = v
		}
	}
	out.Class = out.Schedule.Class
	if out.Bound.Cmp(out.Cost) < 0 {
		return nil, errors.New("maxweight: a schedule has more weight than is possible")
	}
	return out, nil
}

// Listed returns the integer program with a variable for every schedule of every
// job, ILP (8) without the dominated ones. It is minimised: its objective is minus
// the weight, and so are its bounds.
//
// Errors: as for Relax; sched.ErrNotApplicable.
func Listed(in *sched.Instance) (*formulate.Program, error) {
	if err := Check(in); err != nil {
		return nil, err
	}
	return problem(pricing.New(in)).Listed(1, 0)
}

// Compact returns the integer program with variables for the numbers of workers
// and parameter servers on each server, for each configuration and start. It is
// minimised, as that of Listed.
//
// Errors: as for Listed.
func Compact(in *sched.Instance) (*formulate.Program, error) {
	if err := Check(in); err != nil {
		return nil, err
	}
	return problem(pricing.New(in)).Compact(1, 0)
}
