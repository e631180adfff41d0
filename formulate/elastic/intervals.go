package elastic

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"

	"yardstick/bounds"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Intervals is a linear program over the intervals (τ_{k−1}, τ_k] of the grid
// τ_0 = 0, τ_k = ⌈ratio^(k−1)⌉ slots, and what comes after its end:
//
//	y[j,c,k] ≥ 0: job j completes in interval k, in configuration c
//	min Σ w_j max(τ_{k−1} + 1, a_j + d_c) y[j,c,k]
//	Σ_{c,k} y[j,c,k] = 1                                              each job j
//	Σ_{j,c,k' ≤ k} V_c^r y[j,c,k'] ≤ τ_k C^r                          each k and resource r
//
// where y[j,c,k] exists if a_j + d_c ≤ τ_k, and V_c = d_c (N e + z): the work of jobs
// done by τ_k is done in [0, τ_k]. In class F(min) volumes are not rounded and
// durations are d_j^min, since work may be split over configurations; without
// slots the + 1 is dropped. Classes are those of Alone. The value is what the duals
// prove in exact arithmetic, or Alone if that is more, as it is where a limit ends the
// solver.
//
// Errors: as for Conf, and a ratio of less than 1.01.
//
// Source: L. A. Hall, A. S. Schulz, D. B. Shmoys, J. Wein, Scheduling to minimize
// average completion time, Math. Oper. Res. 22 (1997), with ratio 2.
func Intervals(ctx context.Context, in *sched.Instance, obj sched.Objective, class sched.Class, ratio float64, solver milp.LPSolver, limits milp.Limits) (bounds.Bound, milp.Termination, error) {
	best, err := Alone(in, obj, class)
	if err != nil {
		return best, "", err
	}
	best.Name = "elastic-intervals"
	if !(ratio >= 1.01) {
		return best, "", fmt.Errorf("elastic: the ratio of the grid is %v: at least 1.01 is needed", ratio)
	}
	w, err := workFor(in, obj, class)
	if err != nil {
		return best, "", err
	}
	within, cancel := limited(ctx, limits)
	defer cancel()
	grid, err := w.grid(within, ratio)
	if err != nil {
		return best, "", err
	}
	model := w.intervals(grid)
	duals, termination, err := duals(within, model, solver, milp.Limits{Nodes: limits.Nodes})
	termination = ended(ctx, termination)
	if err != nil || duals == nil {
		return best, termination, err
	}
	if b := w.bound(best.Name, milp.ExactBound(model, duals)); b.Value.Cmp(best.Value) > 0 {
		best = b
		best.Proof = w.gridProof("elastic-grid", grid[1:], duals)
	}
	return best, termination, nil
}

// grid returns τ in ticks, all of them whole slots, up to where a list schedule ends.
func (w *work) grid(ctx context.Context, ratio float64) ([]int64, error) {
	_, _, makespan, err := w.p.greedy(ctx)
	if err != nil {
		return nil, err
	}
	slot := w.slot()
	out := []int64{0}
	for at := 1.0; out[len(out)-1] < makespan*slot; at *= ratio {
		if next := int64(math.Ceil(at)) * slot; next > out[len(out)-1] {
			out = append(out, next)
		}
	}
	return out, nil
}

// intervals states the program. Costs and volumes are rounded down, which makes
// it weaker only.
func (w *work) intervals(grid []int64) *milp.Model {
	m := &milp.Model{Name: "intervals"}
	resources := len(w.capacity)
	for k := 1; k < len(grid); k++ {
		for r, c := range w.capacity {
			limit := new(big.Rat).SetInt(new(big.Int).Mul(c, big.NewInt(grid[k])))
			m.AddRow(milp.Row{Name: fmt.Sprintf("until%d_%d", grid[k], r), Sense: milp.LE, RHS: -down(limit.Neg(limit))})
		}
	}
	later := int64(0)
	if w.class.Slotted { // after the grid point means a slot later
		later = w.slot()
	}
	for id, weight := range w.p.weight {
		one := milp.Row{Name: fmt.Sprintf("job%d", id), Sense: milp.EQ, RHS: 1}
		for _, d := range w.demands[id] {
			first := w.complete(w.release[id] + d.duration)
			for k := 1; k <= len(grid); k++ {
				if k < len(grid) && first > grid[k] {
					continue
				}
				cost := weighted(weight, new(big.Rat).SetInt64(max(grid[k-1]+later, first)))
				j := m.AddVar(milp.Variable{Name: "y", Upper: 1, Cost: down(cost)})
				one.Cols, one.Vals = append(one.Cols, j), append(one.Vals, 1)
				for i := k; i < len(grid); i++ {
					for r, v := range d.volume {
						if v.Sign() > 0 {
							row := &m.Rows[(i-1)*resources+r]
							row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, down(new(big.Rat).SetInt(v)))
						}
					}
				}
			}
		}
		m.AddRow(one)
	}
	return m
}

// duals returns those of the rows of an optimum, or nil, and why the solver
// stopped. The solver sees costs and rows scaled by powers of two, its tolerances
// being absolute.
func duals(ctx context.Context, m *milp.Model, solver milp.LPSolver, limits milp.Limits) ([]float64, milp.Termination, error) {
	scaled := *m
	scaled.Vars, scaled.Rows = append([]milp.Variable(nil), m.Vars...), append([]milp.Row(nil), m.Rows...)
	largest := 0.0
	for _, v := range m.Vars {
		largest = max(largest, math.Abs(v.Cost))
	}
	cost := exponent(largest) - 10
	for j := range scaled.Vars {
		scaled.Vars[j].Cost = math.Ldexp(scaled.Vars[j].Cost, -cost)
	}
	shift := make([]int, len(m.Rows))
	for i := range scaled.Rows {
		r := &scaled.Rows[i]
		if r.Sense == milp.EQ {
			continue
		}
		shift[i] = exponent(r.RHS)
		r.RHS = math.Ldexp(r.RHS, -shift[i])
		r.Vals = append([]float64(nil), r.Vals...)
		for k := range r.Vals {
			r.Vals[k] = math.Ldexp(r.Vals[k], -shift[i])
		}
	}
	lp, err := solver.Open(&scaled)
	if err != nil {
		return nil, "", err
	}
	if c, ok := lp.(io.Closer); ok {
		defer c.Close()
	}
	r, err := lp.Solve(ctx, limits)
	if err != nil {
		return nil, "", err
	}
	if r.Termination != milp.Optimal || r.RowDuals == nil {
		return nil, r.Termination, nil
	}
	out := make([]float64, len(r.RowDuals))
	for i, y := range r.RowDuals {
		out[i] = math.Ldexp(y, cost-shift[i])
	}
	return out, milp.Optimal, nil
}

// exponent returns e with 2^(e−1) ≤ v < 2^e, 0 for 0.
func exponent(v float64) int {
	_, e := math.Frexp(v)
	return e
}

// down returns the largest float64 that is at most v.
func down(v *big.Rat) float64 {
	f, exact := v.Float64()
	if !exact && new(big.Rat).SetFloat64(f).Cmp(v) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}
