package milp

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// checkBound compares the fast evaluation with the rational one.
func checkBound(t *testing.T, seed uint64, m *Model, y []float64) {
	t.Helper()
	e := NewBoundEvaluator(m)
	fast, exact := e.Bound(y), ExactBound(m, y)
	if !math.IsInf(fast, -1) && rat(fast).Cmp(exact) > 0 {
		t.Fatalf("seed %d: bound %v exceeds L(y) = %s", seed, fast, exact.FloatString(20))
	}
	best := ratDown(exact)
	if fast > best {
		t.Fatalf("seed %d: bound %v exceeds %v", seed, fast, best)
	}
	// Size of the terms that cancel, for the loss that is allowed.
	size := math.Abs(m.Constant)
	for i := range m.Rows {
		yi := math.Abs(m.cleanDual(i, y[i]))
		size += yi * math.Abs(m.Rows[i].RHS)
		for k, j := range m.Rows[i].Cols {
			size += yi * math.Abs(m.Rows[i].Vals[k]) * max(math.Abs(m.Vars[j].Lower), math.Abs(m.Vars[j].Upper))
		}
	}
	for _, v := range m.Vars {
		size += math.Abs(v.Cost) * max(math.Abs(v.Lower), math.Abs(v.Upper))
	}
	if loss := best - fast; loss > 0x1p-50*math.Abs(best)+0x1p-85*size+1e-290 {
		t.Fatalf("seed %d: bound %v loses %g of %v, with terms of size %g", seed, fast, loss, best, size)
	}
	d := exactReducedCosts(m, y)
	for j := range m.Vars {
		lo, hi := e.ReducedCost(j)
		if !math.IsInf(lo, 0) && rat(lo).Cmp(d[j]) > 0 || !math.IsInf(hi, 0) && rat(hi).Cmp(d[j]) < 0 {
			t.Fatalf("seed %d: d_%d = %s is not in [%v, %v]", seed, j, d[j].FloatString(20), lo, hi)
		}
	}
}

func exactReducedCosts(m *Model, y []float64) []*big.Rat {
	d := make([]*big.Rat, len(m.Vars))
	for j := range d {
		d[j] = rat(m.Vars[j].Cost)
	}
	for i, r := range m.Rows {
		for k, j := range r.Cols {
			t := rat(r.Vals[k])
			d[j].Sub(d[j], t.Mul(t, rat(m.cleanDual(i, y[i]))))
		}
	}
	return d
}

func TestBoundNeverExceedsTheExactOne(t *testing.T) {
	for seed := range uint64(15_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := nastyModel(r)
		y := make([]float64, len(m.Rows))
		for i := range y {
			switch r.IntN(12) {
			case 0:
				y[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}[r.IntN(5)]
			case 1:
				y[i] = nasty(r, 1023)
			default:
				y[i] = nasty(r, 60)
			}
		}
		checkBound(t, seed, m, y)
	}
}

// Costs that nearly equal A'y: the reduced costs are rounding errors, and
// large bounds magnify them.
func TestBoundUnderCancellation(t *testing.T) {
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		m := &Model{}
		for range 1 + r.IntN(6) {
			m.AddVar(Variable{Lower: -r.Float64() * 1e9, Upper: r.Float64() * 1e9})
		}
		y := make([]float64, 1+r.IntN(6))
		for i := range y {
			m.AddRow(randomRow(r, len(m.Vars), func() float64 { return r.NormFloat64() * 1e3 }))
			y[i] = m.cleanDual(i, r.NormFloat64())
			for k, j := range m.Rows[i].Cols {
				m.Vars[j].Cost += m.Rows[i].Vals[k] * y[i]
			}
		}
		checkBound(t, seed, m, y)
	}
}

// On integral data nothing is rounded, and nothing is lost.
func TestBoundIsExactOnIntegers(t *testing.T) {
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 4))
		m := integerModel(r)
		y := make([]float64, len(m.Rows))
		for i := range y {
			y[i] = float64(r.IntN(4001)-2000) / 64
		}
		if got, want := NewBoundEvaluator(m).Bound(y), ExactBound(m, y); rat(got).Cmp(want) != 0 {
			t.Fatalf("seed %d: bound %v of L(y) = %v", seed, got, want)
		}
	}
}

// Weak duality: no feasible point is below the bound, and no model with a
// feasible point has a positive Farkas value.
func TestWeakDuality(t *testing.T) {
	feasible, refuted := 0, 0
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 5))
		m := integerModel(r)
		e := NewBoundEvaluator(m)
		var bounds, farkas []float64
		for range 10 {
			y := make([]float64, len(m.Rows))
			for i := range y {
				y[i] = r.NormFloat64()
			}
			bounds, farkas = append(bounds, e.Bound(y)), append(farkas, e.Farkas(y))
		}
		some := false
		points(m, func(x []float64) {
			if Check(m, x) != nil {
				return
			}
			some = true
			for k := range bounds {
				if rat(bounds[k]).Cmp(m.ExactObjective(x)) > 0 {
					t.Fatalf("seed %d: bound %v exceeds the objective of %v", seed, bounds[k], x)
				}
				if farkas[k] > 0 {
					t.Fatalf("seed %d: Farkas value %v, but %v is feasible", seed, farkas[k], x)
				}
			}
		})
		if some {
			feasible++
		} else if max(0, farkas[0], farkas[1], farkas[2]) > 0 {
			refuted++
		}
	}
	if feasible < 200 || refuted < 70 {
		t.Errorf("%d feasible and %d refuted models: the test says little", feasible, refuted)
	}
}

func TestCleanDuals(t *testing.T) {
	m := &Model{Rows: []Row{{Sense: LE}, {Sense: LE}, {Sense: GE}, {Sense: GE}, {Sense: EQ}, {Sense: EQ}, {Sense: EQ}}}
	y := []float64{-1, 1, -1, 1, -1, math.NaN(), math.Inf(1)}
	m.CleanDuals(y)
	if fmt.Sprint(y) != "[-1 0 0 1 -1 0 0]" {
		t.Errorf("clean duals are %v", y)
	}
}

func TestRoundBound(t *testing.T) {
	m := &Model{IntegralCost: true}
	for _, c := range [][2]float64{{2, 2}, {2.0000001, 3}, {-0.5, 0}, {-2.5, -2}, {1e17, 1e17}, {math.Inf(-1), math.Inf(-1)}, {math.Inf(1), math.Inf(1)}} {
		if got := m.RoundBound(c[0]); got != c[1] || math.Signbit(got) != math.Signbit(c[1]) {
			t.Errorf("RoundBound(%v) = %v, want %v", c[0], got, c[1])
		}
	}
	if got := new(Model).RoundBound(2.5); got != 2.5 {
		t.Errorf("a bound of a model with fractional values became %v", got)
	}
}

func FuzzBound(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, -1.0, 1.0, 0.5, -0.25)
	f.Add(0.1, 0.2, 0.3, -1e20, 1e20, 1e-300, 5e-324)
	f.Fuzz(func(t *testing.T, a, b, c, l, u, y, z float64) {
		m := &Model{Vars: []Variable{{Lower: l, Upper: u, Cost: c}, {Lower: -u, Upper: -l, Cost: a}},
			Rows: []Row{{Cols: []int{0, 1}, Vals: []float64{a, b}, Sense: LE, RHS: c}, {Cols: []int{1, 0}, Vals: []float64{c, u}, Sense: EQ, RHS: b}}}
		if m.Validate() != nil {
			t.Skip()
		}
		checkBound(t, 0, m, []float64{y, z})
	})
}

func BenchmarkBound(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 6))
	m := &Model{}
	for range 7000 {
		m.AddVar(Variable{Upper: 1, Cost: float64(r.IntN(1000))})
	}
	for range 520 {
		row := Row{Sense: LE, RHS: 8}
		for j := range m.Vars {
			if r.IntN(23) == 0 {
				row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, float64(1+r.IntN(8)))
			}
		}
		m.AddRow(row)
	}
	y := make([]float64, len(m.Rows))
	for i := range y {
		y[i] = -r.ExpFloat64()
	}
	name := fmt.Sprintf("nnz=%d", m.Nonzeros())
	b.Run("fast/"+name, func(b *testing.B) {
		e := NewBoundEvaluator(m)
		for b.Loop() {
			e.Bound(y)
		}
	})
	b.Run("rational/"+name, func(b *testing.B) {
		for b.Loop() {
			ExactBound(m, y)
		}
	})
}
