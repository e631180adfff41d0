package milp

import (
	"fmt"
	"math"
	"math/big"
)

// Violation is the first condition of a model that a point breaks.
type Violation struct {
	Kind  string  // "bound", "integrality", "row" or "value"
	Index int     // of the variable, or of the row
	Name  string  // its name
	By    float64 // by how much, to about 15 digits; NaN for "value"
}

func (v *Violation) Error() string {
	what := "variable"
	if v.Kind == "row" {
		what = "row"
	}
	return fmt.Sprintf("milp: %s %d %q breaks its %s by %g", what, v.Index, v.Name, v.Kind, v.By)
}

// Relaxation returns the model without integrality. It shares the rows.
func (m *Model) Relaxation() *Model {
	r := *m
	r.Vars = append([]Variable(nil), m.Vars...)
	for j := range r.Vars {
		r.Vars[j].Integer = false
	}
	r.IntegralCost = false
	return &r
}

// Check returns a *Violation if x breaks a bound, a row or integrality, by
// whatever little. It decides in exact arithmetic.
//
// Shape: x has one entry per variable. Valid when: m.Validate() is nil.
func Check(m *Model, x []float64) error { return check(m, x, 0) }

// CheckWithin is Check with a tolerance. Variables may miss their bounds by
// tol·max(1, |bound|), integers by tol, and a row its right-hand side b by
// tol·max(1, |b|, max_k |a_k x_k|).
//
// The last term is what floating point allows: an LP solver that computes
// activities in double precision cannot know a row better than to a fraction
// of its largest term. What passes with tol > 0 is a claim, never a proof.
func CheckWithin(m *Model, x []float64, tol float64) error { return check(m, x, tol) }

func check(m *Model, x []float64, tol float64) error {
	if len(x) != len(m.Vars) {
		return fmt.Errorf("milp: point with %d values for %d variables", len(x), len(m.Vars))
	}
	for j := range m.Vars {
		if err := m.checkValue(j, x[j], tol); err != nil {
			return err
		}
	}
	for i := range m.Rows {
		if err := m.checkRow(i, x, tol); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) checkValue(j int, x, tol float64) error {
	v := &m.Vars[j]
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return &Violation{"value", j, v.Name, math.NaN()}
	}
	// x - bound is rounded, but never to zero and never across it.
	if by := v.Lower - x; by > tol*max(1, math.Abs(v.Lower)) {
		return &Violation{"bound", j, v.Name, by}
	}
	if by := x - v.Upper; by > tol*max(1, math.Abs(v.Upper)) {
		return &Violation{"bound", j, v.Name, by}
	}
	if by := math.Abs(x - math.Round(x)); v.Integer && by > tol {
		return &Violation{"integrality", j, v.Name, by}
	}
	return nil
}

// checkRow looks at a'x - b: above zero is what a ≤ row forbids. Compensated
// summation decides nearly always; what it cannot separate from the limit is
// decided in rational numbers.
func (m *Model) checkRow(i int, x []float64, tol float64) error {
	row := &m.Rows[i]
	allowed := 0.0
	if tol > 0 {
		allowed = max(1, math.Abs(row.RHS))
		for k, j := range row.Cols {
			if term := math.Abs(row.Vals[k] * x[j]); term > allowed {
				allowed = term
			}
		}
		allowed *= tol
	}
	lo, hi := m.residual(i, x)
	over, under := row.Sense != GE, row.Sense != LE // forbidden directions
	if (!over || hi <= allowed) && (!under || -lo <= allowed) {
		return nil
	}
	if !(over && lo > allowed) && !(under && -hi > allowed) {
		exact := m.exactResidual(i, x)
		limit := rat(allowed)
		if (!over || exact.Cmp(limit) <= 0) && (!under || exact.Cmp(limit.Neg(limit)) >= 0) {
			return nil
		}
		lo, _ = exact.Float64()
	}
	return &Violation{"row", i, row.Name, math.Abs(lo)}
}

// residual returns an interval that holds a_i'x - b_i.
func (m *Model) residual(i int, x []float64) (lo, hi float64) {
	row := &m.Rows[i]
	sum := accumulator{s: -row.RHS}
	ok := true
	for k, j := range row.Cols {
		if x[j] != 0 { // points of linear programs are sparse
			ok = sum.add(row.Vals[k], x[j]) && ok
		}
	}
	h, l, r := sum.value(len(row.Cols))
	lo, hi = below(h, l, r), above(h, l, r)
	if !ok || math.IsNaN(lo) || math.IsNaN(hi) {
		return math.Inf(-1), math.Inf(1)
	}
	return lo, hi
}

func (m *Model) exactResidual(i int, x []float64) *big.Rat {
	row := &m.Rows[i]
	sum := rat(-row.RHS)
	for k, j := range row.Cols {
		t := rat(row.Vals[k])
		sum.Add(sum, t.Mul(t, rat(x[j])))
	}
	return sum
}

// ExactObjective returns Constant + c'x. Every x must be finite.
func (m *Model) ExactObjective(x []float64) *big.Rat {
	sum := rat(m.Constant)
	for j := range m.Vars {
		t := rat(m.Vars[j].Cost)
		sum.Add(sum, t.Mul(t, rat(x[j])))
	}
	return sum
}

// Objective returns Constant + c'x, rounded up by at most a few ulps, and not
// at all where nothing needs more than 53 bits: a feasible x proves that the
// optimum is at most that. Every x must be finite.
func (m *Model) Objective(x []float64) float64 {
	sum := accumulator{s: m.Constant}
	ok := true
	for j := range m.Vars {
		ok = sum.add(m.Vars[j].Cost, x[j]) && ok
	}
	h, l, r := sum.value(len(m.Vars))
	if v := above(h, l, r); ok && r <= unit*math.Abs(h) && !math.IsInf(v, 0) {
		return v
	}
	return ratUp(m.ExactObjective(x)) // cancellation, or out of range
}
