//go:build cgo

package lpsolve

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"yardstick/solvers/milp"
)

// normal returns a copy of m that shares nothing with it, its rows sorted by
// column and without zeros, and with integral bounds on integers, or an error
// if m is invalid.
func normal(m *milp.Model) (*milp.Model, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("lpsolve: %w", err)
	}
	c := *m
	c.Vars = slices.Clone(m.Vars)
	for j := range c.Vars {
		if v := &c.Vars[j]; v.Integer {
			v.Lower, v.Upper = math.Ceil(v.Lower), math.Floor(v.Upper) // may cross: no integer between
		}
	}
	c.Rows = make([]milp.Row, len(m.Rows))
	for i := range m.Rows {
		c.Rows[i] = normalRow(&m.Rows[i])
	}
	return &c, nil
}

func normalRow(r *milp.Row) milp.Row {
	c := milp.Row{Name: r.Name, Sense: r.Sense, RHS: r.RHS}
	order := make([]int, 0, len(r.Cols))
	for k, v := range r.Vals {
		if v != 0 {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.Cols[a], r.Cols[b]) })
	for _, k := range order {
		c.Cols, c.Vals = append(c.Cols, r.Cols[k]), append(c.Vals, r.Vals[k])
	}
	return c
}

// load copies a normal model into lp_solve: rows, then the objective, which
// ends golp's row mode (rows added after it cost quadratic time), then bounds
// and integrality.
func load(m *milp.Model) (handle, error) {
	h, err := newHandle(len(m.Vars))
	if err != nil {
		return h, err
	}
	for i := range m.Rows {
		if err := h.addRow(&m.Rows[i]); err != nil {
			return h, fmt.Errorf("row %d %q: %w", i, m.Rows[i].Name, err)
		}
	}
	cost := make([]float64, len(m.Vars))
	for j := range m.Vars {
		cost[j] = m.Vars[j].Cost
	}
	h.lp.SetObjFn(cost)
	for j := range m.Vars {
		v := &m.Vars[j]
		h.setBounds(j, v.Lower, v.Upper)
		if v.Integer {
			h.lp.SetInt(j, true)
		}
	}
	if h.lp.NumRows() != len(m.Rows) || h.lp.NumCols() != len(m.Vars) {
		return h, fmt.Errorf("lpsolve: lp_solve holds %d rows and %d columns of a model with %d and %d",
			h.lp.NumRows(), h.lp.NumCols(), len(m.Rows), len(m.Vars))
	}
	return h, nil
}

// contradiction returns the index of a row without entries that cannot hold,
// such as 0 = 1, or -1. lp_solve is not asked about such rows.
func contradiction(m *milp.Model) int {
	return slices.IndexFunc(m.Rows, func(r milp.Row) bool {
		return len(r.Cols) == 0 && (r.Sense != milp.GE && r.RHS < 0 || r.Sense != milp.LE && r.RHS > 0)
	})
}
