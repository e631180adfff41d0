// Package interval bounds gang scheduling with exclusive GPUs (class N) from
// below by linear programs over intervals of time.
//
// Time is cut into slots by a grid; after its end GPUs are not counted, so that
// any horizon is valid. Three programs of rising strength and size say what jobs
// may do:
//
//   - [PTI] lets a job's work be anywhere after its release, at most g_j GPUs at
//     a time, and charges the mean time of the work;
//   - [NPTI] lets a job start anywhere and then run without interruption at
//     its least duration;
//   - [CONF] makes it also choose a pattern of parts on servers, with that
//     pattern's duration, and asks that the parts in each slot be packed into
//     servers.
//
// All count GPUs by the mean over a slot, not at every instant: whatever holds at
// every instant holds in the mean. So nothing is rounded to slots, releases and
// durations need not fit the grid, and a finer grid is never worse. If all data
// are multiples of the slot length, the programs are the textbook's, with a
// row per slot.
//
// Sources: M. E. Dyer and L. A. Wolsey, Formulating the single machine
// sequencing problem with release dates as a mixed integer program (1990), for
// PTI; J. P. Sousa and L. A. Wolsey, A time indexed formulation of
// non-preemptive single machine scheduling problems (1992), for NPTI; P. C.
// Gilmore and R. E. Gomory, A linear programming approach to the cutting-stock
// problem (1961), for the configurations of CONF. Not in the sources: starts
// that are not grid points, and means over slots.
package interval

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"

	"yardstick/bounds"
	"yardstick/formulate"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Relaxation is one of the programs.
type Relaxation uint8

// The programs.
const (
	PTI Relaxation = iota + 1
	NPTI
	CONF
)

// String returns the name of the bound.
func (x Relaxation) String() string { return [...]string{"", "pti", "npti", "conf"}[x] }

// Options choose the grid. The zero value is a good choice.
type Options struct {
	// Slot is the length of a slot. 0 means the greatest common divisor of all
	// releases and durations if that keeps the program small, and otherwise the
	// shortest length that does.
	Slot sched.Time
	// Horizon is the end of the last slot, rounded up. 0 means when all GPUs
	// together could have done all work, and the longest duration after that.
	Horizon sched.Time
}

// Build returns the linear program for Σ w_j C_j or Σ (C_j − r_j), in
// microseconds times weight. Its points are not schedules.
//
// Errors: sched.ErrNotApplicable if the objective is another one, the jobs
// are not gangs on exclusive GPUs, or the program is too large.
func (x Relaxation) Build(in *sched.Instance, obj sched.Objective, opt Options) (*formulate.Program, error) {
	p, err := newProblem(in, obj, opt)
	if err == nil && obj.Sum() != obj {
		err = fmt.Errorf("%w to %v: that is %v divided by the number of jobs", sched.ErrNotApplicable, obj, obj.Sum())
	}
	if err != nil {
		return nil, fmt.Errorf("interval: instance %q: %w", in.Name, err)
	}
	m, err := p.build(context.Background(), x)
	if err != nil {
		return nil, fmt.Errorf("interval: instance %q: %w", in.Name, err)
	}
	m.model.Constant = down(obj.FromBase(in, p.alone()))
	return &formulate.Program{Model: m.model, Relation: formulate.Relaxation}, nil
}

// Result is a lower bound with what it came from.
type Result struct {
	// Bound is the better of the program's and LB0, which it falls back to
	// where no program was solved.
	bounds.Bound
	// Prices prove the bound of NPTI: those of its rows, rounded, and the bound
	// is what they prove. Nil for the other programs.
	Prices               *bounds.Prices
	Slot                 sched.Time
	Rows, Cols, Nonzeros int
	LP                   *milp.Result // in units scaled for the solver
}

// Bound builds and solves a program, and evaluates the bound that its dual
// solution proves in exact arithmetic. It applies to every minimised objective
// but the makespan. Reaching a limit is not an error.
//
// Errors: as for Build; the solver cannot run.
func (x Relaxation) Bound(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.LPSolver, limits milp.Limits, opt Options) (*Result, error) {
	out, err := x.bound(ctx, in, obj, solver, limits, opt)
	if err != nil {
		return nil, fmt.Errorf("interval: instance %q: %w", in.Name, err)
	}
	return out, nil
}

func (x Relaxation) bound(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.LPSolver, limits milp.Limits, opt Options) (*Result, error) {
	p, err := newProblem(in, obj, opt)
	if err != nil {
		return nil, err
	}
	best, err := bounds.LB0(in, obj)
	if err != nil {
		return nil, err
	}
	best.Name, best.Class = x.String(), sched.Class{Kind: sched.N}
	out := &Result{Bound: best, Slot: p.grid[1]}
	m, err := p.build(ctx, x)
	if err != nil && ctx.Err() != nil {
		out.LP = milp.NoResult(milp.Interrupted)
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.Rows, out.Cols, out.Nonzeros = len(m.model.Rows), len(m.model.Vars), m.model.Nonzeros()
	duals, err := out.solve(ctx, m.model, solver, limits)
	if err != nil || duals == nil {
		return out, err
	}
	value, proof := obj.FromBase(in, new(big.Rat).Add(p.alone(), milp.ExactBound(m.model, duals))), m.proof(x, duals)
	if x == NPTI {
		out.Prices = m.prices(duals)
		exact, err := out.Prices.Bound(in, obj)
		if err != nil {
			return nil, err
		}
		value, proof = exact.Value, exact.Proof
	}
	if obj.Integral(in) {
		value = number.Ceil(value)
	}
	if value.Cmp(out.Value) > 0 {
		out.Value, out.Proof = value, proof
	}
	return out, nil
}

// solve returns the duals of the rows, or nil.
func (r *Result) solve(ctx context.Context, m *milp.Model, solver milp.LPSolver, limits milp.Limits) ([]float64, error) {
	largest := 0.0
	for _, v := range m.Vars {
		largest = max(largest, math.Abs(v.Cost))
	}
	_, exponent := math.Frexp(largest)
	scale := 10 - exponent // the tolerances of solvers are absolute: bring the largest cost near 1000
	scaled := *m
	scaled.Vars = slices.Clone(m.Vars)
	for j := range scaled.Vars {
		scaled.Vars[j].Cost = math.Ldexp(scaled.Vars[j].Cost, scale)
	}
	// Rows count in microseconds: bring what is on the right near 1.
	scaled.Rows = slices.Clone(m.Rows)
	rows := make([]int, len(m.Rows))
	for i := range scaled.Rows {
		r := &scaled.Rows[i]
		if r.RHS == 0 {
			continue
		}
		_, exponent := math.Frexp(r.RHS)
		rows[i] = -exponent
		r.RHS = math.Ldexp(r.RHS, rows[i])
		r.Vals = slices.Clone(r.Vals)
		for k := range r.Vals {
			r.Vals[k] = math.Ldexp(r.Vals[k], rows[i])
		}
	}
	lp, err := solver.Open(&scaled)
	if err != nil {
		return nil, err
	}
	if c, ok := lp.(io.Closer); ok {
		defer c.Close()
	}
	if r.LP, err = lp.Solve(ctx, limits); err != nil || r.LP.RowDuals == nil || r.LP.Termination != milp.Optimal {
		return nil, err
	}
	duals := make([]float64, len(r.LP.RowDuals))
	for i, v := range r.LP.RowDuals {
		duals[i] = math.Ldexp(v, rows[i]-scale)
	}
	return duals, nil
}

// down returns the largest finite float64 that is at most v, or -Inf; up the
// smallest that is at least v, or +Inf.
func down(v *big.Rat) float64 {
	f, exact := v.Float64()
	if math.IsInf(f, 0) {
		return min(f, math.MaxFloat64)
	}
	if !exact && new(big.Rat).SetFloat64(f).Cmp(v) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

func up(v *big.Rat) float64 { return -down(new(big.Rat).Neg(v)) }
