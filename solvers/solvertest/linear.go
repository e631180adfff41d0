package solvertest

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"yardstick/solvers/milp"
)

// linearCases are the cases of LPSolver, by name.
var linearCases = []testCase[milp.LPSolver]{
	{name: "random", run: randomPrograms},
	{name: "changes", run: changes},
	{name: "duals", run: duals},
	{name: "column generation", run: columnGeneration},
	{name: "infeasible and back", run: infeasibleAndBack},
	{name: "invalid input", run: invalidInput},
	{name: "integrality ignored", run: integralityIgnored},
	{name: "stopped", run: stoppedPrograms},
}

func open(t *testing.T, s milp.LPSolver, m *milp.Model) milp.LP {
	t.Helper()
	p, err := s.Open(m)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	return p
}

// resolve solves p, which stands for m, and checks that its duals prove its
// bound.
func resolve(t *testing.T, p milp.LP, m *milp.Model) *milp.Result {
	t.Helper()
	res, err := p.Solve(context.Background(), milp.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	sound(t, m.Relaxation(), res)
	if res.Termination != milp.Optimal {
		return res
	}
	if len(res.RowDuals) != len(m.Rows) {
		t.Fatalf("%s: %d duals for %d rows", m.Name, len(res.RowDuals), len(m.Rows))
	}
	for i, y := range res.RowDuals {
		if m.Rows[i].Sense == milp.LE && y > 0 || m.Rows[i].Sense == milp.GE && y < 0 || math.IsNaN(y) {
			t.Errorf("%s: dual %v of row %d with sense %d", m.Name, y, i, m.Rows[i].Sense)
		}
	}
	bound := milp.ExactBound(m, res.RowDuals)
	if res.Dual != milp.Proven || rational(res.DualBound).Cmp(bound) > 0 {
		t.Errorf("%s: dual bound %v, %s; its duals prove %s", m.Name, res.DualBound, res.Dual, bound.FloatString(20))
	}
	if !close(res.DualBound, res.PrimalBound) {
		t.Errorf("%s: bounds %v and %v do not meet", m.Name, res.DualBound, res.PrimalBound)
	}
	return res
}

func randomPrograms(t *testing.T, s milp.LPSolver) {
	for seed := range uint64(200) {
		m := Random(rand.New(rand.NewPCG(seed, 80)), 0)
		m.Name = fmt.Sprintf("seed %d", seed)
		compare(t, m, resolve(t, open(t, s, m), m), Optimum(m))
	}
}

// Bounds, rows and columns change, and the program is solved after each.
func changes(t *testing.T, s milp.LPSolver) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 81))
		value := func() float64 { return float64(r.IntN(19) - 9) }
		m := Random(r, 0)
		p := open(t, s, m)
		for step := range 6 {
			m.Name = fmt.Sprintf("seed %d, step %d", seed, step)
			compare(t, m, resolve(t, p, m), Optimum(m))
			switch kind := r.IntN(4); {
			case kind == 0:
				row := RandomRow(r, m, value)
				m.AddRow(row)
				if err := p.AddRow(row); err != nil {
					t.Fatal(err)
				}
			case kind == 1 && len(m.Vars) < 4:
				addColumn(t, m, p, milp.Variable{Lower: -1, Upper: 2, Cost: value()}, r.Perm(len(m.Rows))[:r.IntN(len(m.Rows)+1)], value)
			default:
				j := r.IntN(len(m.Vars))
				v := &m.Vars[j]
				v.Lower = float64(r.IntN(7) - 4)
				v.Upper = v.Lower + float64(r.IntN(4))
				p.SetBounds(j, v.Lower, v.Upper)
			}
		}
	}
}

// addColumn adds the column to the model and to the program.
func addColumn(t *testing.T, m *milp.Model, p milp.LP, v milp.Variable, rows []int, value func() float64) {
	t.Helper()
	j := m.AddVar(v)
	var vals []float64
	for _, i := range rows {
		a := value()
		vals = append(vals, a)
		m.Rows[i].Cols, m.Rows[i].Vals = append(m.Rows[i].Cols, j), append(m.Rows[i].Vals, a)
	}
	if err := p.AddColumn(v, rows, vals); err != nil {
		t.Fatal(err)
	}
}

// Duals are derivatives: min 2x + 3y with x + y ≥ 4, x ≤ 3 and 0 = 0.
func duals(t *testing.T, s milp.LPSolver) {
	m := &milp.Model{Name: "duals", Vars: []milp.Variable{{Upper: 10, Cost: 2}, {Upper: 10, Cost: 3}}, Rows: []milp.Row{
		{Cols: []int{1, 0}, Vals: []float64{1, 1}, Sense: milp.GE, RHS: 4}, {Sense: milp.EQ}, {Cols: []int{0}, Vals: []float64{1}, Sense: milp.LE, RHS: 3}}}
	res := resolve(t, open(t, s, m), m)
	if len(res.RowDuals) != 3 || !close(res.RowDuals[0], 3) || !close(res.RowDuals[2], -1) || !close(res.PrimalBound, 9) {
		t.Errorf("%+v", res)
	}
}

// The cutting stock problem of Gilmore and Gomory (1961): 97 rolls of 45, 610
// of 36, 395 of 31 and 211 of 14 from rolls of 100; the relaxation needs
// 452.25. Patterns are generated from the duals.
func columnGeneration(t *testing.T, s milp.LPSolver) {
	width, demand := []int{45, 36, 31, 14}, []float64{97, 610, 395, 211}
	m := &milp.Model{Name: "cutting stock"}
	for i, d := range demand {
		m.AddRow(milp.Row{Sense: milp.GE, RHS: d})
		m.AddVar(milp.Variable{Upper: 2000, Cost: 1})
		m.Rows[i].Cols, m.Rows[i].Vals = []int{i}, []float64{1}
	}
	p := open(t, s, m)
	for range 50 {
		res := resolve(t, p, m)
		pattern, worth := bestPattern(width, res.RowDuals, 100)
		if worth <= 1+1e-9 {
			if !close(res.PrimalBound, 452.25) {
				t.Errorf("relaxation %v, want 452.25", res.PrimalBound)
			}
			return
		}
		k := -1
		addColumn(t, m, p, milp.Variable{Upper: 2000, Cost: 1}, []int{0, 1, 2, 3}, func() float64 { k++; return float64(pattern[k]) })
	}
	t.Error("column generation does not end")
}

// bestPattern solves the knapsack over the widths by enumeration.
func bestPattern(width []int, worth []float64, room int) ([]int, float64) {
	if len(width) == 0 {
		return nil, 0
	}
	var best []int
	most := math.Inf(-1)
	for n := 0; n*width[0] <= room; n++ {
		rest, v := bestPattern(width[1:], worth[1:], room-n*width[0])
		if v += float64(n) * worth[0]; v > most {
			best, most = append([]int{n}, rest...), v
		}
	}
	return best, most
}

func infeasibleAndBack(t *testing.T, s milp.LPSolver) {
	m := &milp.Model{Name: "there and back", Vars: []milp.Variable{{Upper: 4, Cost: 1}, {Upper: 4, Cost: 2}},
		Rows: []milp.Row{{Cols: []int{0, 1}, Vals: []float64{1, 1}, Sense: milp.GE, RHS: 5}, {Cols: []int{0, 1}, Vals: []float64{1, -1}, Sense: milp.LE, RHS: 2}}}
	p := open(t, s, m)
	for _, u := range [][2]float64{{4, 4}, {4, 0.5}, {3, 4}, {1, 1}, {4, 4}, {0, 4}, {2.5, 2.5}} {
		for j := range m.Vars {
			m.Vars[j].Upper = u[j]
			p.SetBounds(j, 0, u[j])
		}
		compare(t, m, resolve(t, p, m), Optimum(m))
	}
	p.SetBounds(0, 3, 1) // crossed
	compare(t, m, resolve(t, p, m), nil)
	p.SetBounds(0, 0, 2.5)
	compare(t, m, resolve(t, p, m), Optimum(m))
	if err := p.AddRow(milp.Row{Sense: milp.EQ, RHS: 1}); err != nil { // 0 = 1, until a column joins it
		t.Fatal(err)
	}
	m.AddRow(milp.Row{Sense: milp.EQ, RHS: 1})
	compare(t, m, resolve(t, p, m), nil)
	addColumn(t, m, p, milp.Variable{Upper: 3, Cost: 7}, []int{2}, func() float64 { return 2 })
	compare(t, m, resolve(t, p, m), Optimum(m))
}

func invalidInput(t *testing.T, s milp.LPSolver) {
	if _, err := s.Open(&milp.Model{Vars: []milp.Variable{{Upper: math.Inf(1)}}}); err == nil {
		t.Error("a model without finite bounds is opened")
	}
	m := &milp.Model{Name: "kept", Vars: []milp.Variable{{Upper: 4, Cost: 1}}, Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{1}, Sense: milp.GE, RHS: 1}}}
	p := open(t, s, m)
	for _, err := range []error{
		p.AddRow(milp.Row{Cols: []int{1}, Vals: []float64{1}}),
		p.AddRow(milp.Row{Cols: []int{0}, Vals: []float64{math.NaN()}}),
		p.AddRow(milp.Row{Cols: []int{0, 0}, Vals: []float64{1, 1}}),
		p.AddColumn(milp.Variable{Upper: 1}, []int{1}, []float64{1}),
		p.AddColumn(milp.Variable{Upper: 1}, []int{0, 0}, []float64{1, 1}),
		p.AddColumn(milp.Variable{Upper: math.Inf(1)}, []int{0}, []float64{1}),
		p.AddColumn(milp.Variable{Upper: 1}, []int{0}, nil),
	} {
		if err == nil {
			t.Error("invalid input is accepted")
		}
	}
	compare(t, m, resolve(t, p, m), big.NewRat(1, 1)) // nothing of it has been added
}

func integralityIgnored(t *testing.T, s milp.LPSolver) {
	m := &milp.Model{Name: "fractional", IntegralCost: true, Vars: []milp.Variable{{Upper: 4, Cost: -1, Integer: true}},
		Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{2}, Sense: milp.LE, RHS: 5}}}
	compare(t, m.Relaxation(), resolve(t, open(t, s, m), m), big.NewRat(-5, 2))
}

func stoppedPrograms(t *testing.T, s milp.LPSolver) {
	m := Packing(600, 1200, 1)
	p := open(t, s, m)
	res, err := p.Solve(cancelled(), milp.Limits{})
	stopped(t, m, res, err, milp.Interrupted)
	elapses(t, 30*time.Millisecond, func() {
		res, err = p.Solve(context.Background(), milp.Limits{Time: 30 * time.Millisecond})
		stopped(t, m, res, err, milp.TimeLimit)
	})
	if res.X != nil || res.RowDuals != nil {
		t.Error("an unfinished linear program shows values")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	elapses(t, 30*time.Millisecond, func() {
		res, err = p.Solve(ctx, milp.Limits{})
		stopped(t, m, res, err, milp.Interrupted)
	})
	if res := resolve(t, p, m); res.Termination != milp.Optimal {
		t.Errorf("after two stops: %s", res.Termination)
	}
}
