package milp

import (
	"fmt"
	"math"
	"math/big"
)

// The safe dual bound. For any vector y with y_i ≥ 0 on ≥ rows and y_i ≤ 0 on
// ≤ rows, weak duality gives for every x that satisfies rows and bounds
//
//	Constant + c'x  ≥  L(y) = Constant + b'y + Σ_j min(d_j l_j, d_j u_j),  d = c - A'y.
//
// No property of y but its signs is used: whatever a solver returns as duals,
// L(y) bounds the optimum, provided it is not rounded up. Finite bounds make
// it finite.
//
// Source: A. Neumaier and O. Shcherbina, "Safe bounds in linear and
// mixed-integer linear programming", Math. Program. 99 (2004), section 3.

// CleanDuals sets to zero every entry of y that is not finite or that has the
// wrong sign for its row.
//
// Shape: y has one entry per row.
func (m *Model) CleanDuals(y []float64) {
	if len(y) != len(m.Rows) {
		panic(fmt.Sprintf("milp: %d duals for %d rows", len(y), len(m.Rows)))
	}
	for i, v := range y {
		y[i] = m.cleanDual(i, v)
	}
}

func (m *Model) cleanDual(i int, v float64) float64 {
	s := m.Rows[i].Sense
	if math.IsNaN(v) || math.IsInf(v, 0) || s == LE && v > 0 || s == GE && v < 0 {
		return 0
	}
	return v
}

// ExactBound returns L(y) for the clean part of y.
//
// Shape: y has one entry per row. Valid when: m.Validate() is nil.
// Cost: one rational operation per entry; BoundEvaluator is a hundred times
// faster.
func ExactBound(m *Model, y []float64) *big.Rat {
	if len(y) != len(m.Rows) {
		panic(fmt.Sprintf("milp: %d duals for %d rows", len(y), len(m.Rows)))
	}
	bound := rat(m.Constant)
	d := make([]*big.Rat, len(m.Vars))
	for j := range m.Vars {
		d[j] = rat(m.Vars[j].Cost)
	}
	var t big.Rat
	for i := range m.Rows {
		row := &m.Rows[i]
		yi := rat(m.cleanDual(i, y[i]))
		if yi.Sign() == 0 {
			continue
		}
		bound.Add(bound, t.Mul(rat(row.RHS), yi))
		for k, j := range row.Cols {
			d[j].Sub(d[j], t.Mul(rat(row.Vals[k]), yi))
		}
	}
	for j, v := range m.Vars {
		at := v.Upper
		if d[j].Sign() > 0 {
			at = v.Lower
		}
		bound.Add(bound, t.Mul(d[j], rat(at)))
	}
	return bound
}

// BoundEvaluator evaluates L(y) in floating point, rounded down. It reads the
// model at each call, so that changes of bounds, rows and columns show.
type BoundEvaluator struct {
	m    *Model
	d    []accumulator // d_j = c_j - Σ_i a_ij y_i
	rows int           // rows with y_i ≠ 0 in the last call
	lost bool          // an operation of the last call underflowed
}

// NewBoundEvaluator returns an evaluator for m, which must be valid.
func NewBoundEvaluator(m *Model) *BoundEvaluator { return &BoundEvaluator{m: m} }

// Bound returns a float64 that is at most L(y) for the clean part of y: the
// largest such number where no intermediate result needs more than 53 bits,
// and otherwise less by a relative error of about 2^-53 of the result plus
// n^2 2^-106 of its largest terms. It is not rounded up to an integer; see
// Model.RoundBound. -Inf means that L(y) is below every float64.
//
// Cost: O(nonzeros), about 5 ns each.
func (e *BoundEvaluator) Bound(y []float64) float64 {
	m := e.m
	if len(y) != len(m.Rows) {
		panic(fmt.Sprintf("milp: %d duals for %d rows", len(y), len(m.Rows)))
	}
	bound := e.evaluate(y, 1)
	if e.lost || math.IsNaN(bound) || math.IsInf(bound, 0) {
		return ratDown(ExactBound(m, y))
	}
	return bound
}

// Farkas returns a float64 that is at most L(y) with all costs and the
// constant taken as zero. If it is positive, no point satisfies rows and
// bounds: at a feasible point zero would be at least L(y). Zero is returned
// where floating point cannot tell.
func (e *BoundEvaluator) Farkas(y []float64) float64 {
	if len(y) != len(e.m.Rows) {
		panic(fmt.Sprintf("milp: %d duals for %d rows", len(y), len(e.m.Rows)))
	}
	bound := e.evaluate(y, 0)
	if e.lost || math.IsNaN(bound) || math.IsInf(bound, 0) {
		return 0
	}
	return bound
}

// evaluate returns a float64 at most L(y) with costs and constant multiplied
// by scale, 0 or 1, unless e.lost is set or it is not finite.
func (e *BoundEvaluator) evaluate(y []float64, scale float64) float64 {
	m := e.m
	total := e.reduce(y, scale)

	// The d_j are known only to within r. As min(dl, du) changes by at most
	// max(|l|, |u|) times the change of d, r costs that much slack.
	slack := 0.0
	for j := range m.Vars {
		v := &m.Vars[j]
		h, l, r := e.d[j].value(e.rows)
		at := v.Upper
		if h > 0 {
			at = v.Lower
		}
		e.lost = !total.add(h, at) || !total.add(l, at) || e.lost
		if r != 0 {
			slack += r*max(math.Abs(v.Lower), math.Abs(v.Upper)) + minNormal
		}
	}
	slack *= 1 + 4*unit*float64(len(m.Vars)+1) // its own rounding: 2 operations per column

	h, l, r := total.value(e.rows + 2*len(m.Vars))
	if slack != 0 {
		r = up(r + slack)
	}
	return below(h, l, r)
}

// reduce computes d = scale·c - A'y and returns scale·Constant + b'y.
func (e *BoundEvaluator) reduce(y []float64, scale float64) accumulator {
	m := e.m
	e.rows, e.lost = 0, false
	e.d = e.d[:0]
	for j := range m.Vars {
		e.d = append(e.d, accumulator{s: scale * m.Vars[j].Cost})
	}
	total := accumulator{s: scale * m.Constant}
	for i := range m.Rows {
		yi := m.cleanDual(i, y[i])
		if yi == 0 {
			continue
		}
		e.rows++
		row := &m.Rows[i]
		ok := total.add(row.RHS, yi)
		for k, j := range row.Cols {
			ok = e.d[j].add(-row.Vals[k], yi) && ok
		}
		e.lost = e.lost || !ok
	}
	return total
}

// ReducedCost returns an interval that holds d_j for the y of the last call
// of Bound; it is (-Inf, +Inf) where that call left the range of float64.
//
// A point with x_j ≥ l_j + 1 costs at least Bound + lo, and one with
// x_j ≤ u_j - 1 at least Bound - hi: sums to round down. An integer column
// whose sum reaches the incumbent's objective may be fixed.
func (e *BoundEvaluator) ReducedCost(j int) (lo, hi float64) {
	h, l, r := e.d[j].value(e.rows)
	lo, hi = below(h, l, r), above(h, l, r)
	if e.lost || math.IsNaN(lo) || math.IsNaN(hi) {
		return math.Inf(-1), math.Inf(1)
	}
	return lo, hi
}

// RoundBound returns the strongest bound that follows from bound: if every
// feasible objective value is integral, the next integer.
//
// Round only what is not already rounded up, that is the result of Bound, and
// only for the integer program: the relaxation has fractional values.
func (m *Model) RoundBound(bound float64) float64 {
	if !m.IntegralCost {
		return bound
	}
	return math.Ceil(bound) + 0 // +0: no negative zero
}

// rat returns v, which must be finite, exactly.
func rat(v float64) *big.Rat {
	r := new(big.Rat).SetFloat64(v)
	if r == nil {
		panic(fmt.Sprintf("milp: %v is not a number", v))
	}
	return r
}

// ratDown returns the largest float64 that is at most r, or -Inf.
func ratDown(r *big.Rat) float64 {
	f, _ := r.Float64() // its second result is true for some that underflow to zero
	switch {
	case math.IsInf(f, -1):
		return f
	case math.IsInf(f, 1):
		return math.MaxFloat64
	}
	if rat(f).Cmp(r) > 0 {
		return down(f)
	}
	return f
}

// ratUp returns the smallest float64 that is at least r, or +Inf.
func ratUp(r *big.Rat) float64 { return -ratDown(new(big.Rat).Neg(r)) }
