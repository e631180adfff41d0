package milp

import "math"

// Certify turns a solver's answer into a point that is feasible in exact
// arithmetic, if it can: integers are rounded to the nearest, values are moved
// into their bounds, and the continuous ones are then pushed, a few ulps at a
// time, until every row holds. It returns the point, and nil or the first
// *Violation that is left.
//
// With integral x and rows over integer variables only, the first two steps
// decide. Rows such as T ≥ Σ w_j x_j, whose slack belongs to a continuous
// variable, are what the third is for: the T of a solver is often the float64
// just below the sum. An equation over continuous variables may have no
// solution in float64 at all, nor may a chain of them be repaired row by row;
// such points stay claims. The objective may get worse by the push: evaluate
// it afterwards.
//
// Shape: x has one entry per variable and is not changed.
func Certify(m *Model, x []float64) ([]float64, error) {
	p := append([]float64(nil), x...)
	for j := range m.Vars {
		v := &m.Vars[j]
		if v.Integer {
			p[j] = math.Round(p[j])
		}
		p[j] = min(max(p[j], v.Lower), v.Upper) + 0
	}
	const sweeps = 3
	for range sweeps {
		for i := range m.Rows {
			m.push(i, p)
		}
	}
	return p, Check(m, p)
}

// push moves the continuous variable with the largest coefficient of row i
// as far as the row misses its right-hand side, rounded to the safe side, if
// that is little and the bounds allow it.
func (m *Model) push(i int, x []float64) {
	row := &m.Rows[i]
	lo, hi := m.residual(i, x)
	var miss float64 // what must be added to the activity
	switch {
	case row.Sense != GE && hi > 0:
		miss = -hi
	case row.Sense != LE && lo < 0:
		miss = -lo
	default:
		return
	}
	const little = 1e-5
	if !(math.Abs(miss) <= little*max(1, math.Abs(row.RHS))) {
		return
	}
	best := -1
	for k, j := range row.Cols {
		if !m.Vars[j].Integer && row.Vals[k] != 0 && (best < 0 || math.Abs(row.Vals[k]) > math.Abs(row.Vals[best])) {
			best = k
		}
	}
	if best < 0 {
		return
	}
	j := row.Cols[best]
	step := miss / row.Vals[best]
	to := x[j] + step
	if row.Sense != EQ {
		to = math.Nextafter(to, math.Copysign(math.Inf(1), step))
	}
	x[j] = min(max(to, m.Vars[j].Lower), m.Vars[j].Upper)
}
