//go:build cgo

package solvertest

import (
	"context"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// Optima worked out by hand.
func TestOptimum(t *testing.T) {
	for _, c := range []struct {
		name string
		m    milp.Model
		want *big.Rat
	}{
		{"constant", milp.Model{Constant: 3}, big.NewRat(3, 1)},
		{"bounds", milp.Model{Vars: []milp.Variable{{Lower: -1, Upper: 2, Cost: 1}, {Lower: -1, Upper: 2, Cost: -3}}}, big.NewRat(-7, 1)},
		{"a vertex", milp.Model{Vars: []milp.Variable{{Upper: 10, Cost: -1}, {Upper: 10, Cost: -2}}, Rows: []milp.Row{
			{Cols: []int{0, 1}, Vals: []float64{1, 1}, Sense: milp.LE, RHS: 4}, {Cols: []int{0, 1}, Vals: []float64{1, 3}, Sense: milp.LE, RHS: 6}}}, big.NewRat(-5, 1)},
		{"a third", milp.Model{Vars: []milp.Variable{{Upper: 1, Cost: 1}}, Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{3}, RHS: 1}}}, big.NewRat(1, 3)},
		{"integer", milp.Model{Vars: []milp.Variable{{Upper: 9, Cost: 1, Integer: true}}, Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{3}, Sense: milp.GE, RHS: 1}}}, big.NewRat(1, 1)},
		{"mixed", milp.Model{Vars: []milp.Variable{{Upper: 9, Cost: 1, Integer: true}, {Upper: 1, Cost: 1}}, Rows: []milp.Row{
			{Cols: []int{0, 1}, Vals: []float64{2, 1}, Sense: milp.GE, RHS: 2.5}}}, big.NewRat(3, 2)},
		{"infeasible", milp.Model{Vars: []milp.Variable{{Upper: 1}}, Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{1}, Sense: milp.GE, RHS: 2}}}, nil},
		{"parity", milp.Model{Vars: []milp.Variable{{Upper: 5, Integer: true}}, Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{2}, RHS: 3}}}, nil},
		{"empty row", milp.Model{Rows: []milp.Row{{Sense: milp.EQ, RHS: 1}}}, nil},
		{"dependent rows", milp.Model{Vars: []milp.Variable{{Upper: 4, Cost: 1}, {Upper: 4, Cost: 2}}, Rows: []milp.Row{
			{Cols: []int{0, 1}, Vals: []float64{1, 1}, RHS: 5}, {Cols: []int{0, 1}, Vals: []float64{2, 2}, RHS: 10}}}, big.NewRat(6, 1)},
	} {
		got := Optimum(&c.m)
		if (got == nil) != (c.want == nil) || got != nil && got.Cmp(c.want) != 0 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 90))
		w := []float64{r.Float64(), r.Float64(), r.Float64(), r.Float64(), r.Float64(), r.Float64()}
		m := Bisection(4, w)
		m = Integral(m) // the optimum has integral z
		if got, want := Optimum(m), BisectionOptimum(4, w); got.Cmp(want) != 0 {
			t.Errorf("seed %d: bisection %v, want %v", seed, got, want)
		}
	}
}

// faulty changes the results of a right solver.
type faulty struct {
	milp.Solver
	fault func(*milp.Model, *milp.Result)
}

func (f faulty) Solve(ctx context.Context, m *milp.Model, start milp.Start, l milp.Limits) (*milp.Result, error) {
	r, err := f.Solver.Solve(ctx, m, start, l)
	if err == nil {
		f.fault(m, r)
	}
	return r, err
}

var faults = map[string]func(*milp.Model, *milp.Result){
	"random integer": func(_ *milp.Model, r *milp.Result) { // a proven bound above the optimum
		if r.Termination == milp.Optimal {
			r.Primal, r.Dual, r.DualBound = milp.Claimed, milp.Proven, r.DualBound+1e-9
		}
	},
	"fractional costs": func(_ *milp.Model, r *milp.Result) { // a bound that is off by a cent
		r.DualBound -= 0.01
	},
	"makespan": func(m *milp.Model, r *milp.Result) { // a point that misses a row
		r.X[len(r.X)-1] -= 1e-4 * m.Vars[len(m.Vars)-1].Upper
	},
	"infeasible": func(_ *milp.Model, r *milp.Result) { r.Termination = milp.Numerical },
	"time limit": func(_ *milp.Model, r *milp.Result) { r.Termination = milp.Optimal },
	"model unchanged": func(m *milp.Model, _ *milp.Result) {
		m.Vars[0].Cost++
	},
}

// forgetful is a right wrapper of a solver but that it loses a part of the start.
type forgetful struct {
	milp.Solver
	lose func(*milp.Start)
}

func (f forgetful) Solve(ctx context.Context, m *milp.Model, start milp.Start, l milp.Limits) (*milp.Result, error) {
	f.lose(&start)
	return f.Solver.Solve(ctx, m, start, l)
}

// suite runs the suite on the solver with the fault of that name.
func suite(t *testing.T, name string) {
	search := branch.New(lpsolve.LP{})
	switch name {
	case "start":
		Solver(t, forgetful{search, func(s *milp.Start) { s.X = nil }})
	case "round":
		Solver(t, forgetful{search, func(s *milp.Start) { s.Round = nil }})
	case "without start", "without round": // it uses both
		Solver(t, search, "start", "round")
	default:
		Solver(t, faulty{lpsolve.MIP{}, faults[name]}, "start", "round")
	}
}

// The suite fails faulty solvers. Each fault runs in a process of its own, as
// a test that must fail.
func TestSuiteFindsFaults(t *testing.T) {
	if name := os.Getenv("YARDSTICK_TEST_FAULT"); name != "" {
		suite(t, name)
		return
	}
	for _, name := range append(slices.Sorted(maps.Keys(faults)), "start", "round", "without start", "without round") {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSuiteFindsFaults$/^"+strings.ReplaceAll(name, " ", "_")+"$")
		cmd.Env = append(os.Environ(), "YARDSTICK_TEST_FAULT="+name)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "--- FAIL: TestSuiteFindsFaults/"+strings.ReplaceAll(name, " ", "_")) {
			t.Errorf("the fault in %q is not found: %v\n%s", name, err, out)
		}
	}
}

func TestExceptions(t *testing.T) {
	ran := ""
	cases := []testCase[int]{{name: "a", run: func(*testing.T, int) { ran += "a" }, without: func(*testing.T, int) { ran += "-" }}, {name: "b", run: func(*testing.T, int) { ran += "b" }}}
	run(t, cases, 0, []string{"a"})
	if ran != "-b" {
		t.Errorf("ran %q", ran)
	}
}
