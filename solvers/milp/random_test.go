package milp

import (
	"math"
	"math/rand/v2"
)

// integerModel returns a model with small integral data.
func integerModel(r *rand.Rand) *Model {
	m := &Model{Constant: float64(r.IntN(21) - 10)}
	for range 1 + r.IntN(6) {
		lower := float64(r.IntN(9) - 4)
		m.AddVar(Variable{Lower: lower, Upper: lower + float64(r.IntN(4)), Cost: float64(r.IntN(41) - 20), Integer: r.IntN(2) == 0})
	}
	for range r.IntN(6) {
		m.AddRow(randomRow(r, len(m.Vars), func() float64 { return float64(r.IntN(19) - 9) }))
	}
	return m
}

func randomRow(r *rand.Rand, cols int, value func() float64) Row {
	row := Row{Sense: Sense(r.IntN(3) - 1), RHS: value()}
	for _, j := range r.Perm(cols)[:r.IntN(cols+1)] {
		row.Cols = append(row.Cols, j)
		row.Vals = append(row.Vals, value())
	}
	return row
}

// nastyModel returns a model whose data range over most of float64.
func nastyModel(r *rand.Rand) *Model {
	value := func() float64 { return nasty(r, 99) } // below 1e30
	m := &Model{Constant: value()}
	for range 1 + r.IntN(8) {
		a, b := value(), value()
		m.AddVar(Variable{Lower: min(a, b), Upper: max(a, b), Cost: value()})
	}
	for range r.IntN(8) {
		m.AddRow(randomRow(r, len(m.Vars), value))
	}
	return m
}

// nasty returns a number with an exponent up to maxExp: zeros, powers of two,
// short and full mantissas, subnormal numbers.
func nasty(r *rand.Rand, maxExp int) float64 {
	mantissa := []float64{0, 1, float64(1 + r.IntN(9)), 1 + r.Float64(), math.Nextafter(1, 2), math.Nextafter(1, 0)}[r.IntN(6)]
	span := []int{1, 10, 60, 99, 300, 1074}[r.IntN(6)]
	v := math.Ldexp(mantissa, r.IntN(2*span)-span)
	if r.IntN(2) == 0 {
		v = -v
	}
	if limit := math.Ldexp(1, maxExp); math.Abs(v) >= limit {
		return math.Copysign(limit/2, v)
	}
	return v
}

// points calls f on every point with integral values within the bounds.
func points(m *Model, f func(x []float64)) {
	x := make([]float64, len(m.Vars))
	var rec func(j int)
	rec = func(j int) {
		if j == len(x) {
			f(x)
			return
		}
		for v := m.Vars[j].Lower; v <= m.Vars[j].Upper; v++ {
			x[j] = v
			rec(j + 1)
		}
	}
	rec(0)
}
