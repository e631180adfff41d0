package branch

import (
	"context"
	"io"
	"math"
	"slices"

	"yardstick/solvers/milp"
)

// relaxation is the linear program of the current box, warm-started from its
// last basis.
type relaxation struct {
	box       *milp.Model
	lp        milp.LP
	lower     []float64 // the bounds that lp has at present
	upper     []float64
	costScale float64 // a power of two; the costs of lp are those of box times it

	y          []float64 // duals of the last program solved, or a Farkas vector, in units of box
	iterations int       // of the last call
}

// state says what a linear program taught.
type state int

const (
	solved     state = iota // x and y are there
	infeasible              // y may prove it
	failed                  // nothing
	aborted                 // stopped by a limit
)

// openRelaxation opens the linear program of the root.
func (t *tree) openRelaxation(lp milp.LPSolver) error {
	low, high := costRange(t.root, t.groups)
	t.floor, t.ceiling = low, high
	r := &relaxation{box: t.box, costScale: 1}
	largest := 0.0
	for _, v := range t.root.Vars {
		largest = max(largest, math.Abs(v.Cost))
	}
	if largest > 0 { // bring the largest cost near 1000: the solver's tolerances are absolute
		_, exp := math.Frexp(largest)
		r.costScale = math.Ldexp(1, 10-exp)
	}
	m := t.root.Relaxation()
	m.Rows = slices.Clone(m.Rows)
	for j := range m.Vars {
		v := &m.Vars[j]
		v.Cost *= r.costScale
		r.lower, r.upper = append(r.lower, v.Lower), append(r.upper, v.Upper)
	}
	for _, g := range t.groups {
		dearest := t.root.Vars[g.cols[len(g.cols)-1]].Cost // what the elastic column stands in for
		addElastic(&m.Rows[g.row], m.AddVar(milp.Variable{Name: "elastic", Upper: 1, Cost: 1 + (dearest+10*(high-low))*r.costScale}))
	}
	var err error
	r.lp, err = lp.Open(m)
	if err != nil {
		return err
	}
	t.relax = r
	return nil
}

// addElastic lets column j make up for the columns of an assignment row that
// are fixed to zero.
func addElastic(row *milp.Row, j int) {
	row.Cols = append(slices.Clip(row.Cols), j)
	row.Vals = append(slices.Clip(row.Vals), 1)
}

// free releases what the linear program holds outside Go's heap.
func (t *tree) free() {
	if t.relax == nil {
		return
	}
	if c, ok := t.relax.lp.(io.Closer); ok {
		_ = c.Close() // nothing depends on it
	}
}

// solve solves the program of the current box; l.Time is what is left. If
// solved, it returns the point, without elastic columns, and sets r.y.
func (r *relaxation) solve(ctx context.Context, l milp.Limits) ([]float64, state) {
	for j := range r.box.Vars {
		v := &r.box.Vars[j]
		if v.Lower != r.lower[j] || v.Upper != r.upper[j] {
			r.lp.SetBounds(j, v.Lower, v.Upper)
			r.lower[j], r.upper[j] = v.Lower, v.Upper
		}
	}
	res, err := r.lp.Solve(ctx, l)
	r.y, r.iterations = nil, 0
	switch {
	case ctx.Err() != nil:
		return nil, aborted
	case err != nil:
		return nil, failed
	}
	r.iterations = res.Stats.Iterations
	switch res.Termination {
	case milp.TimeLimit, milp.Interrupted:
		return nil, aborted
	case milp.Infeasible:
		r.y = res.RowDuals
		return nil, infeasible
	}
	if res.RowDuals == nil {
		return nil, failed
	}
	// Duals bound the node even if the point is missing.
	r.y = slices.Clone(res.RowDuals)
	for i := range r.y {
		r.y[i] /= r.costScale
	}
	if len(res.X) < len(r.box.Vars) || slices.ContainsFunc(res.X, notANumber) {
		return nil, solved
	}
	return res.X[:len(r.box.Vars)], solved
}
