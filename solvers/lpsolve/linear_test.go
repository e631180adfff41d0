//go:build cgo

package lpsolve

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/internal/tier"
	"yardstick/solvers/milp"
)

func solveOpen(t *testing.T, p milp.LP) *milp.Result {
	t.Helper()
	res, err := p.Solve(context.Background(), milp.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Validate(); err != nil {
		t.Fatal(err)
	}
	return res
}

// certify checks a result by weak duality in rational arithmetic: the duals
// alone prove a bound, the point alone an objective, and they meet. It returns
// the relative gap.
func certify(t *testing.T, seed uint64, m *milp.Model, res *milp.Result) float64 {
	t.Helper()
	switch res.Termination {
	case milp.Infeasible:
		if res.Dual != milp.Proven {
			t.Errorf("seed %d: infeasible is %s", seed, res.Dual)
			return 0
		}
		zero := *m // L(y) with zero costs, at a feasible point 0 ≥ L(y)
		zero.Constant = 0
		zero.Vars = append([]milp.Variable(nil), m.Vars...)
		for j := range zero.Vars {
			zero.Vars[j].Cost = 0
		}
		if res.RowDuals == nil || milp.ExactBound(&zero, res.RowDuals).Sign() <= 0 {
			t.Errorf("seed %d: infeasible without proof: %v", seed, res.RowDuals)
		}
		return 0
	case milp.Optimal:
		bound := milp.ExactBound(m, res.RowDuals)
		if res.Dual != milp.Proven || new(big.Rat).SetFloat64(res.DualBound).Cmp(bound) > 0 {
			t.Errorf("seed %d: dual bound %v, %s, of L(y) = %s", seed, res.DualBound, res.Dual, bound.FloatString(20))
		}
		if err := milp.CheckWithin(m.Relaxation(), res.X, Tolerance); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if err := milp.Check(m.Relaxation(), res.X); (err == nil) != (res.Primal == milp.Proven) {
			t.Errorf("seed %d: point is %s, and %v", seed, res.Primal, err)
		}
		return (res.PrimalBound - res.DualBound) / max(1, math.Abs(res.PrimalBound))
	default:
		t.Errorf("seed %d: %s", seed, res.Termination)
		return 0
	}
}

// Thousands of random programs, each re-solved after changes of bounds, rows
// and columns; every answer certified, and equal to that of a fresh program.
func TestEveryAnswerIsCertified(t *testing.T) {
	seen := map[milp.Termination]int{}
	worst := 0.0
	for seed := range uint64(tier.Draws(230, 700)) {
		r := rand.New(rand.NewPCG(seed, 40))
		m := randomLP(r)
		p, err := LP{}.Open(m)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			res := solveOpen(t, p)
			worst = max(worst, certify(t, seed, m, res))
			seen[res.Termination]++
			fresh, err := LP{}.Open(m)
			if err != nil {
				t.Fatal(err)
			}
			if again := solveOpen(t, fresh); again.Termination != res.Termination || again.X != nil && math.Abs(again.DualBound-res.DualBound) > 1e-9*max(1, math.Abs(res.DualBound)) {
				t.Fatalf("seed %d: %s %v warm, %s %v from scratch", seed, res.Termination, res.DualBound, again.Termination, again.DualBound)
			}
			change(t, r, m, p)
		}
	}
	t.Logf("%v, worst relative gap %.2g", seen, worst)
	if worst > 1e-9 || seen[milp.Optimal] < tier.Draws(300, 1000) || seen[milp.Infeasible] < tier.Draws(100, 300) {
		t.Errorf("%v, worst relative gap %v", seen, worst)
	}
}

// randomLP returns a program of one of four kinds: small integers, tenths,
// real numbers, and real numbers over several orders of magnitude.
func randomLP(r *rand.Rand) *milp.Model {
	kind := r.IntN(4)
	value := func() float64 {
		switch v := r.NormFloat64(); kind {
		case 0:
			return math.Round(5 * v)
		case 1:
			return math.Round(30*v) / 10
		case 2:
			return v
		default:
			return v * math.Exp(2*r.NormFloat64())
		}
	}
	m := &milp.Model{Constant: value()}
	for range 1 + r.IntN(15) {
		lower := -2 * math.Abs(value())
		m.AddVar(milp.Variable{Lower: lower, Upper: lower + 5*math.Abs(value()), Cost: value()})
	}
	for range r.IntN(10) {
		m.AddRow(randomRow(r, m, value))
	}
	return m
}

// randomRow returns a row that cuts near a random point of the box.
func randomRow(r *rand.Rand, m *milp.Model, value func() float64) milp.Row {
	row := milp.Row{Sense: milp.Sense(r.IntN(3) - 1)}
	for j, v := range m.Vars {
		if r.IntN(2) == 0 {
			a := value()
			row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, a)
			row.RHS += a * (v.Lower + (v.Upper-v.Lower)*r.Float64())
		}
	}
	if r.IntN(3) > 0 && row.Sense != milp.EQ {
		row.RHS -= float64(row.Sense) * r.Float64()
	}
	return row
}

// change makes the same random change to the model and the open program.
func change(t *testing.T, r *rand.Rand, m *milp.Model, p milp.LP) {
	t.Helper()
	value := func() float64 { return math.Round(4 * r.NormFloat64()) }
	switch r.IntN(4) {
	case 0, 1:
		v := &m.Vars[r.IntN(len(m.Vars))]
		v.Lower = math.Round(v.Lower + value()/2)
		v.Upper = max(v.Lower, math.Round(v.Upper+value()/2))
		for j := range m.Vars {
			p.SetBounds(j, m.Vars[j].Lower, m.Vars[j].Upper)
		}
	case 2:
		row := randomRow(r, m, value)
		m.AddRow(row)
		if err := p.AddRow(row); err != nil {
			t.Fatal(err)
		}
	case 3:
		v := milp.Variable{Lower: -1, Upper: 5, Cost: value()}
		var rows []int
		var vals []float64
		j := m.AddVar(v)
		for _, i := range r.Perm(len(m.Rows)) { // in any order
			if r.IntN(2) == 0 {
				a := value()
				rows, vals = append(rows, i), append(vals, a)
				m.Rows[i].Cols, m.Rows[i].Vals = append(m.Rows[i].Cols, j), append(m.Rows[i].Vals, a)
			}
		}
		if err := p.AddColumn(v, rows, vals); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDualSigns(t *testing.T) {
	// min 2x + 3y, x + y ≥ 4, x ≤ 3: y_1 = 3, y_2 = -1.
	m := &milp.Model{Vars: []milp.Variable{{Upper: 10, Cost: 2}, {Upper: 10, Cost: 3}}, Rows: []milp.Row{
		{Cols: []int{1, 0}, Vals: []float64{1, 1}, Sense: milp.GE, RHS: 4},
		{Cols: []int{0}, Vals: []float64{1}, Sense: milp.LE, RHS: 3}}}
	p, err := LP{}.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	res := solveOpen(t, p)
	if len(res.RowDuals) != 2 || res.RowDuals[0] != 3 || res.RowDuals[1] != -1 || res.DualBound != 9 || res.PrimalBound != 9 || res.Primal != milp.Proven {
		t.Errorf("%+v", res)
	}
}

// Rows without entries are judged, and may gain entries.
func TestEmptyRows(t *testing.T) {
	for _, c := range []struct {
		sense    milp.Sense
		rhs      float64
		feasible bool
	}{{milp.LE, 0, true}, {milp.LE, 1, true}, {milp.LE, -1, false}, {milp.GE, 0, true}, {milp.GE, -1, true}, {milp.GE, 1, false},
		{milp.EQ, 0, true}, {milp.EQ, 1, false}, {milp.EQ, -1, false}} {
		row := milp.Row{Sense: c.sense, RHS: c.rhs}
		if c.rhs == 1 {
			row.Cols, row.Vals = []int{0}, []float64{0} // an entry of zero is none
		}
		m := &milp.Model{Vars: []milp.Variable{{Upper: 3, Cost: -1}}, Rows: []milp.Row{row, {Cols: []int{0}, Vals: []float64{1}, Sense: milp.LE, RHS: 2}}}
		want := milp.Infeasible
		if c.feasible {
			want = milp.Optimal
		}
		for _, integer := range []bool{false, true} {
			m.Vars[0].Integer = integer
			if res := mustSolve(t, m); res.Termination != want || res.Dual == milp.None || c.feasible && res.X[0] != 2 {
				t.Errorf("0 %v %v, integer %v: %+v", c.sense, c.rhs, integer, res)
			}
		}
		p, err := LP{}.Open(m)
		if err != nil {
			t.Fatal(err)
		}
		certify(t, 0, m, solveOpen(t, p))
		if err := p.AddColumn(milp.Variable{Lower: -5, Upper: 5}, []int{0}, []float64{1}); err != nil {
			t.Fatal(err)
		}
		if res := solveOpen(t, p); res.Termination != milp.Optimal || len(res.X) != 2 {
			t.Errorf("0 %v %v and a column that repairs it: %+v", c.sense, c.rhs, res)
		}
	}
}

func TestModelsWithoutRowsOrColumns(t *testing.T) {
	empty := &milp.Model{Constant: 7}
	if res := mustSolve(t, empty); res.Termination != milp.Optimal || res.PrimalBound != 7 || res.DualBound != 7 {
		t.Errorf("no variables: %+v", res)
	}
	p, err := LP{}.Open(empty)
	if err != nil {
		t.Fatal(err)
	}
	solveOpen(t, p)
	if err := p.AddColumn(milp.Variable{Lower: -2, Upper: 5, Cost: 3}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if res := solveOpen(t, p); res.PrimalBound != 1 || res.DualBound != 1 || res.X[0] != -2 {
		t.Errorf("one variable: %+v", res)
	}
	if err := p.AddRow(milp.Row{Cols: []int{0}, Vals: []float64{2}, Sense: milp.GE, RHS: 5}); err != nil {
		t.Fatal(err)
	}
	if res := solveOpen(t, p); res.PrimalBound != 14.5 || res.X[0] != 2.5 {
		t.Errorf("one variable and one row: %+v", res)
	}
}

func TestCrossedBounds(t *testing.T) {
	p, err := LP{}.Open(&milp.Model{Vars: []milp.Variable{{Upper: 3, Cost: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	p.SetBounds(0, 2, 1)
	if res := solveOpen(t, p); res.Termination != milp.Infeasible || res.Dual != milp.Proven {
		t.Errorf("%+v", res)
	}
	p.SetBounds(0, 2, 2)
	if res := solveOpen(t, p); res.PrimalBound != 2 {
		t.Errorf("%+v", res)
	}
	if res := mustSolve(t, &milp.Model{Vars: []milp.Variable{{Lower: 0.2, Upper: 0.8, Integer: true}}}); res.Termination != milp.Infeasible || res.Dual != milp.Proven {
		t.Errorf("no integer between the bounds: %+v", res)
	}
	for _, bad := range [][2]float64{{math.NaN(), 1}, {0, math.Inf(1)}, {-1e30, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("bounds %v accepted", bad)
				}
			}()
			p.SetBounds(0, bad[0], bad[1])
		}()
	}
}

// The model that was opened is not the program's: later changes do not show.
func TestOpenCopies(t *testing.T) {
	m := &milp.Model{Vars: []milp.Variable{{Upper: 3, Cost: -1, Integer: true}}, Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{2}, Sense: milp.LE, RHS: 5}}}
	p, err := LP{}.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	m.Vars[0].Cost, m.Rows[0].Vals[0], m.Rows[0].RHS = 100, 0, -1
	if res := solveOpen(t, p); res.PrimalBound != -2.5 || res.DualBound != -2.5 {
		t.Errorf("%+v", res)
	}
}
