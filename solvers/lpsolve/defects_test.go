//go:build cgo

package lpsolve

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/draffensperger/golp"

	"yardstick/internal/tier"
	"yardstick/solvers/milp"
	"yardstick/solvers/solvertest"
)

// The tests of this file show defects of lp_solve and golp as they are, and
// that this package is not affected. Where one of the first halves fails after
// an upgrade, a protection may have become unnecessary.

// rawGolp solves m with golp alone, all defaults.
func rawGolp(m *milp.Model) (golp.SolutionType, float64) {
	lp := golp.NewLP(0, len(m.Vars))
	defer runtime.KeepAlive(lp)
	loadGolp(lp, m)
	status := lp.Solve()
	return status, lp.Objective()
}

func loadGolp(lp *golp.LP, m *milp.Model) {
	lp.SetVerboseLevel(golp.CRITICAL)
	for i := range m.Rows {
		var e []golp.Entry
		for k, j := range m.Rows[i].Cols {
			e = append(e, golp.Entry{Col: j, Val: m.Rows[i].Vals[k]})
		}
		if e == nil {
			continue // golp panics
		}
		_ = lp.AddConstraintSparse(e, relation(m.Rows[i].Sense), m.Rows[i].RHS) // always nil
	}
	cost := make([]float64, len(m.Vars))
	for j, v := range m.Vars {
		cost[j] = v.Cost
	}
	lp.SetObjFn(cost)
	for j, v := range m.Vars {
		lp.SetBounds(j, v.Lower, v.Upper)
		lp.SetInt(j, v.Integer)
	}
	runtime.KeepAlive(lp)
}

func mustSolve(t *testing.T, m *milp.Model) *milp.Result {
	t.Helper()
	res, err := MIP{}.Solve(context.Background(), m, milp.Start{}, milp.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Validate(); err != nil {
		t.Fatal(err)
	}
	return res
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// Four vertices, edges 01:0.1, 02:0.2, 03:0.1, 12:0.1, two on each side: the
// minimum is 0.3. lp_solve concludes from the costs that an improvement must
// be large and stops at 0.4, OPTIMAL.
func TestSmallestWrongOptimum(t *testing.T) {
	weight := []float64{0.1, 0.2, 0.1, 0.1, 0, 0}
	m := solvertest.Bisection(4, weight)
	if status, value := rawGolp(m); status != golp.OPTIMAL || !near(value, 0.4) {
		t.Errorf("plain golp: %v %v; it used to be OPTIMAL 0.4", status, value)
	}
	res := mustSolve(t, m)
	if optimum := solvertest.BisectionOptimum(4, weight); res.Termination != milp.Optimal || res.Primal != milp.Proven ||
		res.Dual != milp.Claimed || optimum.Cmp(m.ExactObjective(res.X)) != 0 {
		t.Errorf("result %+v, want the optimum %s", res, optimum.FloatString(5))
	}
}

// wrong counts the models for which a solver's value is not the optimum.
type wrong struct{ plain, ours, total int }

func (w *wrong) count(t *testing.T, seed uint64, m *milp.Model, exact *big.Rat) {
	t.Helper()
	if exact == nil {
		t.Fatalf("seed %d: the model is infeasible", seed)
	}
	optimum, _ := exact.Float64()
	w.total++
	if status, value := rawGolp(m); status != golp.OPTIMAL || !near(value, optimum) {
		w.plain++
	}
	if res := mustSolve(t, m); res.Termination != milp.Optimal || !near(res.PrimalBound, optimum) {
		w.ours++
		t.Errorf("seed %d: %s %v, optimum %v", seed, res.Termination, res.PrimalBound, optimum)
	}
}

func (w *wrong) report(t *testing.T, atLeast int) {
	t.Helper()
	t.Logf("%d models: plain golp wrong on %d, this package on %d", w.total, w.plain, w.ours)
	if w.plain < atLeast {
		t.Errorf("plain golp is wrong on %d models only: the test no longer shows what it should", w.plain)
	}
}

func TestBalancedCuts(t *testing.T) {
	var w wrong
	for seed := range uint64(tier.Draws(100, 300)) {
		r := rand.New(rand.NewPCG(seed, 30))
		n := 4 + 2*r.IntN(3)
		weight := make([]float64, n*(n-1)/2)
		for k := range weight {
			weight[k] = float64(r.IntN(101)) / 100
		}
		w.count(t, seed, solvertest.Bisection(n, weight), solvertest.BisectionOptimum(n, weight))
	}
	w.report(t, 50)
}

// Jobs on two machines, to minimise the makespan T, which carries a scale
// factor in the rows.
func TestMinMaxWithScaledMakespan(t *testing.T) {
	var w wrong
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 31))
		jobs := make([]float64, 4+r.IntN(4))
		for j := range jobs {
			jobs[j] = float64(1 + r.IntN(30))
		}
		m := solvertest.Makespan(jobs, []float64{1, 2, 5, 10, 0.5, 0.1}[r.IntN(6)])
		w.count(t, seed, m, solvertest.Optimum(m))
	}
	w.report(t, 5)
}

// Binary covering with the costs 6 and 10 only: the least difference is 4, but
// 12 = 6 + 6 improves to 10 by 2.
func TestTwoCosts(t *testing.T) {
	var w wrong
	for seed := range uint64(tier.Draws(330, 1000)) {
		r := rand.New(rand.NewPCG(seed, 32))
		m := &milp.Model{}
		for range 6 + r.IntN(6) {
			m.AddVar(milp.Variable{Upper: 1, Integer: true, Cost: float64(6 + 4*r.IntN(2))})
		}
		for range 2 + r.IntN(4) {
			row := milp.Row{Sense: milp.GE}
			sum := 0
			for _, j := range r.Perm(len(m.Vars))[:2+r.IntN(len(m.Vars)-1)] {
				v := 1 + r.IntN(9)
				row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, float64(v))
				sum += v
			}
			row.RHS = float64(1 + r.IntN(sum))
			m.AddRow(row)
		}
		w.count(t, seed, m, solvertest.Optimum(m))
	}
	w.report(t, 1)
}

// Input that plain golp takes for something else.
func TestBadInput(t *testing.T) {
	lp := golp.NewLP(0, 2)
	_ = lp.AddConstraintSparse([]golp.Entry{{Col: 0, Val: 1}, {Col: 0, Val: 1}, {Col: 1, Val: 1}}, golp.LE, 4)
	lp.SetObjFn([]float64{-1, -1})
	if text := lp.WriteToString(); !strings.Contains(text, "0 C1") {
		t.Errorf("plain golp made of a row with a repeated column:\n%s", text)
	}
	runtime.KeepAlive(lp)

	one := []milp.Variable{{Upper: 1, Cost: -1, Integer: true}}
	inf, nan := math.Inf(1), math.NaN()
	if status, _ := rawGolp(&milp.Model{Vars: one, Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{1}, Sense: milp.LE, RHS: inf}}}); status != golp.INFEASIBLE {
		t.Errorf("plain golp: %v for a row x ≤ +Inf; it used to be INFEASIBLE", status)
	}
	for name, row := range map[string]milp.Row{
		"repeated column": {Cols: []int{0, 0}, Vals: []float64{1, 1}, RHS: 1},
		"out of range":    {Cols: []int{1}, Vals: []float64{1}, RHS: 1},
		"NaN":             {Cols: []int{0}, Vals: []float64{nan}, RHS: 1},
		"NaN rhs":         {Cols: []int{0}, Vals: []float64{1}, RHS: nan},
		"infinite rhs":    {Cols: []int{0}, Vals: []float64{1}, RHS: inf},
		"1e31 rhs":        {Cols: []int{0}, Vals: []float64{1}, RHS: 1e31},
		"short row":       {Cols: []int{0}, RHS: 1},
	} {
		m := &milp.Model{Vars: one, Rows: []milp.Row{row}}
		if _, err := (LP{}).Open(m); err == nil || !strings.HasPrefix(err.Error(), "lpsolve: ") {
			t.Errorf("%s: Open gives %v", name, err)
		}
		if _, err := (MIP{}).Solve(context.Background(), m, milp.Start{}, milp.Limits{}); err == nil {
			t.Errorf("%s: Solve accepts it", name)
		}
		p, err := LP{}.Open(&milp.Model{Vars: one})
		if err != nil {
			t.Fatal(err)
		}
		if p.AddRow(row) == nil {
			t.Errorf("%s: AddRow accepts it", name)
		}
	}
	for _, v := range []milp.Variable{{Upper: inf}, {Lower: nan}, {Cost: nan}, {Lower: 1}, {Upper: 1e30}} {
		if _, err := (LP{}).Open(&milp.Model{Vars: []milp.Variable{v}}); err == nil {
			t.Errorf("Open accepts %+v", v)
		}
	}
}

// Jobs of a week and of a minute share eight GPUs in slots of 100 minutes: the
// share of each job's work in each slot, work in microseconds. With scaling by
// powers of two lp_solve finds the program infeasible, and in the other method it
// ends in an error or crashes.
func TestWorkInMicroseconds(t *testing.T) {
	const slots, slot, gpus = 220, 6_018_547_799, 8
	m := &milp.Model{Name: "week"}
	rows := make([]milp.Row, slots)
	for j, seconds := range []float64{1004, 1152, 932, 648_851, 48, 27_233, 654} {
		gang := 8.0
		if j == 4 {
			gang = 1
		}
		all := milp.Row{Sense: milp.EQ, RHS: 1}
		for k := range slots + 1 {
			v := milp.Variable{Cost: float64(k) * slot / 1e9, Upper: 1}
			if k < slots {
				v.Upper = min(1, slot/(seconds*1e6))
			}
			c := m.AddVar(v)
			all.Cols, all.Vals = append(all.Cols, c), append(all.Vals, 1)
			if k < slots {
				rows[k].Cols, rows[k].Vals = append(rows[k].Cols, c), append(rows[k].Vals, gang*seconds*1e6)
			}
		}
		m.AddRow(all)
	}
	for k := range rows {
		rows[k].Sense, rows[k].RHS = milp.LE, gpus*slot
		m.AddRow(rows[k])
	}
	c, err := normal(m)
	if err != nil {
		t.Fatal(err)
	}
	h, err := load(c)
	if err != nil {
		t.Fatal(err)
	}
	defer h.free()
	if out := h.solve(context.Background(), milp.Limits{}, 0); out.status == golp.OPTIMAL {
		t.Error("lp_solve solves it with scaling by powers of two; it used to fail")
	}

	value := func() float64 {
		lp, err := LP{}.Open(m)
		if err != nil {
			t.Fatal(err)
		}
		res, err := lp.Solve(context.Background(), milp.Limits{})
		if err != nil || res.Termination != milp.Optimal {
			t.Fatalf("%+v, %v", res, err)
		}
		return res.PrimalBound
	}
	long := value()
	for i := range m.Rows[7:] { // in units of a slot nothing goes wrong
		r := &m.Rows[7+i]
		r.RHS /= slot
		for k := range r.Vals {
			r.Vals[k] /= slot
		}
	}
	if short := value(); !near(long, short) {
		t.Errorf("%v in microseconds, %v in slots", long, short)
	}
}
