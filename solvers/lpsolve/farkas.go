//go:build cgo

package lpsolve

import (
	"context"
	"math"

	"yardstick/solvers/milp"
)

// infeasible looks for a proof of lp_solve's claim that the program has no
// solution: the duals y of the least total violation of the rows, for which
//
//	b'y + Σ_j min(-(A'y)_j l_j, -(A'y)_j u_j) > 0.
//
// lp_solve itself gives no such Farkas vector.
func (p *linear) infeasible(ctx context.Context, l milp.Limits) (*milp.Result, bool) {
	res := infeasible(milp.Claimed)
	if p.phase1 { // never infeasible
		return res, false
	}
	v, err := openLinear(violation(p.m))
	if err != nil {
		return res, false
	}
	defer v.Close()
	v.phase1 = true
	v.method = primalFirst // the other one often cycles on such programs
	r, err := v.Solve(ctx, l)
	switch {
	case err != nil:
		return res, false
	case r.Termination == milp.TimeLimit || r.Termination == milp.Interrupted:
		return res, true // it stays a claim
	case r.RowDuals == nil || p.bound.Farkas(r.RowDuals) <= 0:
		return res, false
	}
	res.Dual, res.RowDuals = milp.Proven, r.RowDuals
	return res, true
}

// violation returns the program that minimises the total violation of m's
// rows: the costs are dropped, and each row gets variables that make up for
// what it lacks or exceeds, at cost 1. It is feasible within m's bounds.
func violation(m *milp.Model) *milp.Model {
	v := &milp.Model{Name: m.Name, Vars: append([]milp.Variable(nil), m.Vars...)}
	for j := range v.Vars {
		v.Vars[j].Cost = 0
	}
	for i := range m.Rows {
		r := m.Rows[i]
		most := 1 + math.Abs(r.RHS) // no violation is larger
		for k, j := range r.Cols {
			most += math.Abs(r.Vals[k]) * max(math.Abs(m.Vars[j].Lower), math.Abs(m.Vars[j].Upper))
		}
		most = min(2*most, 1e29)
		r.Cols, r.Vals = append([]int(nil), r.Cols...), append([]float64(nil), r.Vals...)
		if r.Sense != milp.LE {
			r.Cols, r.Vals = append(r.Cols, v.AddVar(milp.Variable{Upper: most, Cost: 1})), append(r.Vals, 1)
		}
		if r.Sense != milp.GE {
			r.Cols, r.Vals = append(r.Cols, v.AddVar(milp.Variable{Upper: most, Cost: 1})), append(r.Vals, -1)
		}
		v.AddRow(r)
	}
	return v
}
