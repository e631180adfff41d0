// Package colgen solves linear programs with too many columns to write down,
// and integer programs over such columns. The columns come from a pricer, which
// also says what the duals prove; the package knows no problem and no solver.
//
// As in package branch, floating point guides the search and decides nothing:
// every bound is one that a pricer has vouched for, whatever duals it was asked
// about.
package colgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"yardstick/solvers/milp"
)

// Column is a variable with its entries in the rows of the master program.
// Rows are distinct. Its upper bound must be too large to bind: what bounds a
// column is a row, whose dual the pricer sees.
type Column struct {
	Var  milp.Variable
	Rows []int
	Vals []float64
	Tag  any // what the column stands for; the package does not look at it
}

// Pricing is what a pricer finds for one vector of duals.
type Pricing struct {
	// Columns have negative reduced costs. None means that no column has.
	Columns []Column
	// Bound is a number that the objective of no point of the full program,
	// all columns included, is below: usually
	//
	//	Constant + y'b + Σ_blocks min(0, least reduced cost of the block).
	//
	// It must be valid for every y, of the right signs or not.
	Bound float64
}

// Pricer finds columns. y has one entry per row of the master program, in the
// signs of milp.Result.RowDuals.
type Pricer interface {
	Price(ctx context.Context, y []float64) (Pricing, error)
}

// Result is what is known after column generation.
type Result struct {
	Termination milp.Termination // Optimal if no column is left that would improve the point
	Objective   float64          // of X over Columns; claimed by the solver of the master program
	X           []float64        // one value per column; nil if no program was solved
	Columns     []Column         // those that Generate was given, then those generated
	DualBound   float64          // no point of the full program is below it
	Duals       []float64        // the duals that DualBound was found with: its certificate
	Rounds      int              // master programs solved
	Iterations  int              // simplex iterations of all
}

// Generate solves min Constant + c'x over the given rows, the given columns and
// all those that the pricer can find. The rows have no entries of their own;
// the columns given must make the program feasible.
//
// Of the limits, Nodes counts rounds. After a limit the bound is the best one
// found so far.
//
// Errors: a row or column that is not valid, an infeasible master program, and
// those of the solver and the pricer.
func Generate(ctx context.Context, solver milp.LPSolver, rows []milp.Row, constant float64, columns []Column, pricer Pricer, limits milp.Limits) (*Result, error) {
	m, err := newMaster(solver, rows, constant, columns)
	if err != nil {
		return nil, err
	}
	defer m.close()
	limited := ctx
	if limits.Time > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, limits.Time)
		defer cancel()
	}
	for {
		if limits.Nodes > 0 && m.result.Rounds == limits.Nodes {
			return m.stop(milp.IterationLimit), nil
		}
		t, err := m.round(limited, pricer)
		switch {
		case limited.Err() != nil && ctx.Err() == nil:
			return m.stop(milp.TimeLimit), nil
		case limited.Err() != nil:
			return m.stop(milp.Interrupted), nil
		case err != nil:
			return nil, err
		case t != "":
			return m.stop(t), nil
		}
	}
}

// master is a master program under way.
type master struct {
	lp     milp.LP
	known  map[string]bool // columns, by content
	result Result
}

func newMaster(solver milp.LPSolver, rows []milp.Row, constant float64, columns []Column) (*master, error) {
	model := &milp.Model{Name: "master", Constant: constant}
	for _, r := range rows {
		if len(r.Cols) > 0 {
			return nil, fmt.Errorf("colgen: row %q has entries of its own: they belong to the columns", r.Name)
		}
		model.AddRow(r)
	}
	for _, c := range columns {
		j := model.AddVar(c.Var)
		for k, i := range c.Rows {
			if i < 0 || i >= len(rows) || k >= len(c.Vals) {
				return nil, fmt.Errorf("colgen: column %q has an entry in row %d of %d", c.Var.Name, i, len(rows))
			}
			model.Rows[i].Cols, model.Rows[i].Vals = append(model.Rows[i].Cols, j), append(model.Rows[i].Vals, c.Vals[k])
		}
	}
	if err := model.Validate(); err != nil {
		return nil, fmt.Errorf("colgen: %w", err)
	}
	lp, err := solver.Open(model)
	if err != nil {
		return nil, err
	}
	m := &master{lp: lp, known: map[string]bool{}, result: Result{Columns: append([]Column(nil), columns...), DualBound: math.Inf(-1)}}
	for _, c := range columns {
		m.known[c.key()] = true
	}
	return m, nil
}

func (m *master) close() {
	if c, ok := m.lp.(io.Closer); ok {
		c.Close()
	}
}

// stop ends the generation. Columns that came too late for the last program
// are 0 in its point.
func (m *master) stop(t milp.Termination) *Result {
	r := &m.result
	r.Termination = t
	if r.X != nil {
		r.X = append(r.X, make([]float64, len(r.Columns)-len(r.X))...)
	}
	return r
}

// ErrInfeasible is the error of a master program whose first columns do not
// make it feasible.
var ErrInfeasible = errors.New("colgen: the master program is infeasible")

// round solves the master program once, prices, and adds what was found. It
// returns why to stop, or "".
func (m *master) round(ctx context.Context, pricer Pricer) (milp.Termination, error) {
	r, err := m.lp.Solve(ctx, milp.Limits{})
	if err != nil {
		return "", err
	}
	m.result.Rounds++
	m.result.Iterations += r.Stats.Iterations
	switch r.Termination {
	case milp.Optimal:
	case milp.Infeasible:
		return "", ErrInfeasible
	default:
		return r.Termination, nil
	}
	m.result.Objective, m.result.X = r.PrimalBound, r.X
	p, err := pricer.Price(ctx, r.RowDuals)
	if err != nil {
		return "", err
	}
	if p.Bound > m.result.DualBound {
		m.result.DualBound, m.result.Duals = p.Bound, r.RowDuals
	}
	added := false
	for _, c := range p.Columns {
		if key := c.key(); !m.known[key] {
			m.known[key], added = true, true
			if err := m.lp.AddColumn(c.Var, c.Rows, c.Vals); err != nil {
				return "", err
			}
			m.result.Columns = append(m.result.Columns, c)
		}
	}
	switch {
	case added:
		return "", nil
	case len(p.Columns) == 0 || r.PrimalBound-p.Bound <= 1e-9*math.Abs(r.PrimalBound):
		return milp.Optimal, nil
	}
	return milp.Numerical, nil // the pricer insists on columns that the program has
}

// key tells columns apart.
func (c *Column) key() string {
	return fmt.Sprint(c.Var.Cost, c.Var.Lower, c.Var.Upper, c.Rows, c.Vals)
}
