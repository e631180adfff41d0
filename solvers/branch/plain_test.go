package branch_test

import (
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/draffensperger/golp"

	"yardstick/internal/tier"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// plain runs lp_solve's branch and bound through golp as it comes, with none
// of the guards of package lpsolve, and returns its status and objective.
func plain(m *milp.Model) (golp.SolutionType, float64) {
	lp := golp.NewLP(0, len(m.Vars))
	defer runtime.KeepAlive(lp)
	lp.SetVerboseLevel(golp.CRITICAL)
	for _, r := range m.Rows {
		var entries []golp.Entry
		for k, j := range r.Cols {
			entries = append(entries, golp.Entry{Col: j, Val: r.Vals[k]})
		}
		if len(entries) > 0 {
			sense := map[milp.Sense]golp.ConstraintType{milp.LE: golp.LE, milp.EQ: golp.EQ, milp.GE: golp.GE}[r.Sense]
			if err := lp.AddConstraintSparse(entries, sense, r.RHS); err != nil {
				panic(err)
			}
		}
	}
	cost := make([]float64, len(m.Vars))
	for j, v := range m.Vars {
		cost[j] = v.Cost
	}
	lp.SetObjFn(cost)
	for j, v := range m.Vars {
		lp.SetInt(j, v.Integer)
		lp.SetBounds(j, v.Lower, v.Upper)
	}
	status := lp.Solve()
	return status, lp.Objective() + m.Constant
}

// freeEdges makes the variables of a cut model continuous that say whether an
// edge is cut. It changes neither the optimum nor that some optimum is integral.
func freeEdges(m *milp.Model) {
	for _, r := range m.Rows {
		if r.Sense == milp.GE {
			m.Vars[r.Cols[0]].Integer = false
		}
	}
}

// lp_solve calls points optimal that are not, on models of this project's own
// kind: it asks of a later incumbent an improvement that it derives from
// differences of costs. The proven optimum exposes every one of them.
func TestPlainAnswersAreCaught(t *testing.T) {
	type instance struct {
		model *milp.Model
		want  *big.Rat
	}
	continuousCut := func(r *rand.Rand) instance {
		m := balancedCut(r)
		want := brute(t, m)
		freeEdges(m)
		return instance{m, want}
	}
	for _, f := range []struct {
		name     string
		n, wrong int // how many of n plain lp_solve gets wrong, at least
		next     func(*rand.Rand) instance
	}{
		{"cut", 300, 30, continuousCut},
		{"min-max", 300, 20, func(r *rand.Rand) instance { m, want := minMax(r, 4); return instance{m, want} }},
		{"costs 6 and 10", 400, 1, func(r *rand.Rand) instance { m := covering(r); return instance{m, brute(t, m)} }},
	} {
		r := newRand(3)
		wrong, feasible := 0, 0
		for k := range f.n {
			in := f.next(r)
			if in.want == nil {
				continue
			}
			feasible++
			got := solve(t, branch.New(lpsolve.LP{}), in.model, milp.Limits{})
			if got.Termination != milp.Optimal || in.model.ExactObjective(got.X).Cmp(in.want) != 0 ||
				got.DualBound < got.PrimalBound*(1-1e-9) || rat(got.DualBound).Cmp(in.want) > 0 {
				t.Fatalf("%s, instance %d: got %+v, want %v", f.name, k, got, in.want)
			}
			status, claimed := plain(in.model)
			if status != golp.OPTIMAL || claimed > got.PrimalBound+1e-6 {
				wrong++
			}
			if status == golp.OPTIMAL && claimed < got.DualBound-1e-6 {
				t.Errorf("%s, instance %d: plain lp_solve claims %v below the proven bound %v", f.name, k, claimed, got.DualBound)
			}
		}
		t.Logf("%s: plain lp_solve is wrong on %d of %d feasible instances, caught all", f.name, wrong, feasible)
		if wrong < f.wrong {
			t.Errorf("%s: only %d wrong answers of plain lp_solve: the test has lost its subject", f.name, wrong)
		}
	}
}

// The smallest known example: four vertices, two per side. Plain lp_solve
// cuts 0.4 and calls it optimal; the optimum is 0.3.
func TestSmallestWrongAnswer(t *testing.T) {
	m := &milp.Model{Name: "bisection"}
	half := milp.Row{Sense: milp.EQ, RHS: 2}
	for range 4 {
		half.Cols, half.Vals = append(half.Cols, m.AddVar(milp.Variable{Upper: 1, Integer: true})), append(half.Vals, 1)
	}
	m.AddRow(half)
	for _, e := range []struct {
		u, v   int
		weight float64
	}{{0, 1, 0.1}, {0, 2, 0.2}, {0, 3, 0.1}, {1, 2, 0.1}} {
		y := m.AddVar(milp.Variable{Upper: 1, Cost: e.weight, Integer: true})
		m.AddRow(milp.Row{Cols: []int{y, e.u, e.v}, Vals: []float64{1, -1, 1}, Sense: milp.GE})
		m.AddRow(milp.Row{Cols: []int{y, e.u, e.v}, Vals: []float64{1, 1, -1}, Sense: milp.GE})
	}
	want := brute(t, m)
	freeEdges(m)
	got := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{})
	if m.ExactObjective(got.X).Cmp(want) != 0 || nearest(want) > 0.31 {
		t.Errorf("got %v, want %v", got.PrimalBound, want)
	}
	status, claimed := plain(m)
	if status != golp.OPTIMAL || claimed < 0.39 {
		t.Errorf("plain lp_solve: status %v, %v: it used to claim 0.4", status, claimed)
	}
}

// The guarded lp_solve search and the proven one agree.
func TestAgreesWithLPSolve(t *testing.T) {
	for name, generate := range families {
		r := newRand(4)
		for k := range tier.Draws(70, 200) {
			m := generate(r)
			proven := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{})
			claimed := solve(t, lpsolve.MIP{}, m, milp.Limits{})
			if proven.Termination != claimed.Termination {
				t.Fatalf("%s, instance %d: %+v and %+v", name, k, proven, claimed)
			}
			if proven.X == nil {
				continue
			}
			if d := claimed.PrimalBound - proven.PrimalBound; d < -1e-9 || d > 1e-9 {
				t.Errorf("%s, instance %d: proven %v, claimed %v", name, k, proven.PrimalBound, claimed.PrimalBound)
			}
		}
	}
}
