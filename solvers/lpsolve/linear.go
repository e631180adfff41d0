//go:build cgo

package lpsolve

import (
	"fmt"
	"math"

	"yardstick/solvers/milp"
)

// linear is an open linear program: milp.LP.
type linear struct {
	h      handle
	m      *milp.Model // what h holds; normal, without integers
	bound  *milp.BoundEvaluator
	method simplex // tried first
	cold   bool    // h has not been solved
	broken bool    // h was stopped within a solve
	phase1 bool    // this is the measure of another program's infeasibility
}

func open(m *milp.Model) (milp.LP, error) { return openLinear(m) }

func openLinear(m *milp.Model) (*linear, error) {
	c, err := normal(m.Relaxation())
	if err != nil {
		return nil, err
	}
	h, err := load(c)
	if err != nil {
		return nil, err
	}
	return &linear{h: h, m: c, bound: milp.NewBoundEvaluator(c), cold: true}, nil
}

// rebuild loads the program anew. lp_solve may crash when it goes on from
// where it was stopped or has failed.
func (p *linear) rebuild() error {
	h, err := load(p.m)
	if err != nil {
		return err
	}
	p.h.free()
	p.h, p.cold, p.broken = h, true, false
	return nil
}

// Close implements io.Closer: it frees the memory that lp_solve holds. The
// program must not be used again. The error is nil.
func (p *linear) Close() error {
	p.h.free()
	return nil
}

// SetBounds implements milp.LP. Crossed bounds make the program infeasible; it
// panics if col or a bound is out of range.
func (p *linear) SetBounds(col int, lower, upper float64) {
	if !(math.Abs(lower) < milp.Infinity && math.Abs(upper) < milp.Infinity) {
		panic(fmt.Sprintf("lpsolve: bounds [%v, %v] of variable %d are not finite", lower, upper, col))
	}
	v := &p.m.Vars[col]
	if v.Lower == lower && v.Upper == upper {
		return
	}
	v.Lower, v.Upper = lower, upper
	if lower <= upper {
		p.h.setBounds(col, lower, upper)
	}
}

// AddColumn implements milp.LP.
func (p *linear) AddColumn(v milp.Variable, rows []int, vals []float64) error {
	// A column is valid if it is, as a row of the transposed matrix.
	transposed := milp.Model{Vars: make([]milp.Variable, len(p.m.Rows)), Rows: []milp.Row{{Name: v.Name, Cols: rows, Vals: vals}}}
	alone := milp.Model{Vars: []milp.Variable{v}}
	err := alone.Validate()
	if err == nil {
		err = transposed.Validate()
	}
	if err != nil {
		return fmt.Errorf("lpsolve: adding column %d: %w", len(p.m.Vars), err)
	}
	col := normalRow(&transposed.Rows[0])
	if err := p.h.addColumn(v.Cost, col.Cols, col.Vals); err != nil {
		return err
	}
	v.Integer = false
	j := p.m.AddVar(v)
	p.h.setBounds(j, v.Lower, v.Upper)
	for k, i := range col.Cols {
		r := &p.m.Rows[i]
		r.Cols, r.Vals = append(r.Cols, j), append(r.Vals, col.Vals[k])
	}
	return nil
}

// AddRow implements milp.LP.
func (p *linear) AddRow(r milp.Row) error {
	one := milp.Model{Vars: make([]milp.Variable, len(p.m.Vars)), Rows: []milp.Row{r}}
	if err := one.Validate(); err != nil {
		return fmt.Errorf("lpsolve: adding row %d: %w", len(p.m.Rows), err)
	}
	r = normalRow(&r)
	if err := p.h.addRow(&r); err != nil {
		return err
	}
	p.m.AddRow(r)
	return nil
}
