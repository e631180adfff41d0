package columns

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Relaxation is what is known about the linear relaxation.
type Relaxation struct {
	Termination milp.Termination
	// Bound is proven: no choice costs less. Prices are its certificate:
	// Problem.Bound of them is Bound.
	Bound  *big.Rat
	Prices *pricing.Prices
	// Value is the relaxation's, as the solver claims it: what Bound falls short
	// of it is due to rounding. It is NaN if the end was not reached.
	Value float64
	// Columns are those generated, with their values in the last point.
	Columns    []Part
	Rows       int // capacities and jobs
	Rounds     int // linear programs solved
	Iterations int // simplex iterations of all
}

// Part is how much of a job runs by a schedule.
type Part struct {
	Job    sched.JobID
	Choice *pricing.Choice
	Value  float64
}

// Relax solves the linear relaxation by column generation. What is solved in each
// round is the dual of the master program,
//
//	min  Σ C δ + Σ_j u_j
//	u_j + Σ f(l) δ ≥ −(cost of l)         each column l of job j known so far
//	δ ≥ 0;  u_j ≥ 0 if the job may be left out,
//
// and new columns are new rows: lp_solve often cycles in the primal program, where
// most points are degenerate, and hardly ever here. The duals of the rows are the
// values of the columns. Prices come from the program half way to the best known,
// which makes for fewer rounds; the first are found by subgradient steps.
//
// Servers of equal capacities share their prices: spreading a schedule evenly
// over all permutations of them keeps its cost, so that the value is the same.
//
// Reaching a limit is not an error; Nodes counts rounds.
//
// Errors: sched.ErrNotApplicable if there are too many capacities; a job that may not be
// left out has no schedule; those of the solver.
//
// Source: J. E. Kelley, The cutting-plane method for solving convex programs,
// J. SIAM 8 (1960); P. Wentges, Weighted Dantzig–Wolfe decomposition for linear
// mixed-integer programming, Int. Trans. Oper. Res. 4 (1997), for the smoothing.
func (p *Problem) Relax(ctx context.Context, solver milp.LPSolver, limits milp.Limits) (*Relaxation, error) {
	if err := p.fits(); err != nil {
		return nil, err
	}
	c := &cutting{m: p.master(true), known: map[string]bool{}, out: Relaxation{Value: math.NaN()}}
	for id := range p.Terms {
		if c.m.alone[id] == nil && !p.Terms[id].Optional {
			return nil, fmt.Errorf("columns: job %d of instance %q has no schedule by slot %d", id, p.Model.In.Name, p.Terms[id].Latest)
		}
	}
	limited := ctx
	if limits.Time > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, limits.Time)
		defer cancel()
	}
	c.dual = c.m.dual(limited)
	c.out.Rows = c.m.capacities() + len(p.Terms)
	c.begin(limited)
	lp, err := solver.Open(c.model)
	if err != nil {
		return nil, err
	}
	if x, ok := lp.(io.Closer); ok {
		defer x.Close()
	}
	for c.out.Termination == "" {
		if limits.Nodes > 0 && c.out.Rounds == limits.Nodes {
			c.out.Termination = milp.IterationLimit
			break
		}
		err := c.round(limited, lp)
		switch {
		case limited.Err() != nil && ctx.Err() == nil:
			c.out.Termination = milp.TimeLimit
		case limited.Err() != nil:
			c.out.Termination = milp.Interrupted
		case err != nil:
			return nil, err
		}
	}
	c.out.Bound, c.out.Prices = c.dual.bound, c.dual.prices
	return &c.out, nil
}

// cutting is the dual program under way.
type cutting struct {
	m     *master
	dual  *dual
	model *milp.Model // as opened; later columns are only in the program
	known map[string]bool
	out   Relaxation
}

// Subgradient steps come first: one for some rows, as small programs need none.
// late is the share of a full step from which on their columns are kept.
const (
	maxSteps    = 400
	rowsPerStep = 5
	late        = 0.1
)

// begin states the program over prices and what each job gains, with the columns
// of the late subgradient steps.
func (c *cutting) begin(ctx context.Context) {
	p := c.m.p
	c.model = &milp.Model{Name: "dual"}
	for k := range c.m.groups {
		for r := range p.Model.In.Elastic.Resources {
			capacity := float64(max(1, c.m.capacity(k, r)))
			for range p.Slots {
				c.model.AddVar(milp.Variable{Name: "price", Cost: capacity, Upper: tooDear * c.m.worst / capacity})
			}
		}
	}
	for id := range p.Terms {
		v := milp.Variable{Name: fmt.Sprintf("gain%d", id), Cost: 1, Lower: -tooDear * c.m.worst, Upper: p.Terms[id].Reward}
		if p.Terms[id].Optional {
			v.Lower = 0
		}
		c.model.AddVar(v)
	}
	for id := range c.m.alone {
		if c.m.alone[id] != nil {
			c.model.AddRow(c.cut(column{sched.JobID(id), c.m.alone[id]}))
		}
	}
	c.dual.descend(ctx, min(maxSteps, c.out.Rows/rowsPerStep), func(share float64, col column) {
		if share < late && !c.known[col.key()] {
			c.model.AddRow(c.cut(col))
		}
	})
}

// cut returns the row of a column, which is known from now on.
func (c *cutting) cut(col column) milp.Row {
	c.known[col.key()] = true
	c.out.Columns = append(c.out.Columns, Part{Job: col.job, Choice: col.Choice})
	row := milp.Row{Name: "column", Sense: milp.GE, RHS: -c.m.cost(col), Cols: []int{c.m.capacities() + int(col.job)}, Vals: []float64{1}}
	c.m.use(col.Choice, func(i int, amount int64) {
		row.Cols, row.Vals = append(row.Cols, i), append(row.Vals, float64(amount))
	})
	return row
}

// round solves the program and adds the columns that it lacks.
func (c *cutting) round(ctx context.Context, lp milp.LP) error {
	r, err := lp.Solve(ctx, milp.Limits{})
	if err != nil {
		return err
	}
	c.out.Rounds++
	c.out.Iterations += r.Stats.Iterations
	if r.Termination != milp.Optimal {
		c.out.Termination = r.Termination
		return nil
	}
	for i := range c.out.Columns {
		c.out.Columns[i].Value = r.RowDuals[i]
	}
	const keep = 0.6 // of the best prices
	at := make([]float64, c.m.capacities())
	for i := range at {
		at[i] = keep*c.dual.best[i] + (1-keep)*r.X[i]
	}
	missing, err := c.missing(ctx, lp, at, r.X)
	if err == nil && !missing { // not there; but where the program's own prices are?
		missing, err = c.missing(ctx, lp, r.X[:len(at)], r.X)
	}
	if err == nil && !missing {
		c.out.Termination, c.out.Value = milp.Optimal, -r.PrimalBound
	}
	return err
}

// missing prices columns and adds those that the program's point x violates.
func (c *cutting) missing(ctx context.Context, lp milp.LP, at, x []float64) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	_, columns, _, err := c.dual.price(ctx, at)
	if err != nil {
		return false, err
	}
	added := false
	for _, col := range columns {
		cost := c.m.cost(col)
		pays := 0.0
		c.m.use(col.Choice, func(row int, amount int64) { pays += float64(amount) * x[row] })
		if short := -cost - pays - x[c.m.capacities()+int(col.job)]; short <= 1e-9*(math.Abs(cost)+pays) || c.known[col.key()] {
			continue
		}
		if err := lp.AddRow(c.cut(col)); err != nil {
			return false, err
		}
		added = true
	}
	return added, nil
}
