package exact

import (
	"context"
	"testing"

	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
	"yardstick/solvers/solvertest"
)

// TestWatched: a watched solver answers as it does alone.
func TestWatched(t *testing.T) {
	var log Log
	solvertest.LPSolver(t, log.Watch(lpsolve.LP{}))
	if len(log.Programs()) == 0 {
		t.Error("nothing was noted")
	}
}

// TestLog: two masters of one name and a program of another, by hand.
func TestLog(t *testing.T) {
	// min x over x ≥ 1, x ≤ 9: one row, one column.
	model := func(name string) *milp.Model {
		m := &milp.Model{Name: name}
		m.AddVar(milp.Variable{Name: "x", Upper: 9, Cost: 1})
		m.AddRow(milp.Row{Name: "least", Sense: milp.GE, RHS: 1, Cols: []int{0}, Vals: []float64{1}})
		return m
	}
	var log Log
	solver := log.Watch(lpsolve.LP{})
	iterations := 0
	solve := func(lp milp.LP, want float64) {
		t.Helper()
		r, err := lp.Solve(context.Background(), milp.Limits{})
		if err != nil || r.PrimalBound != want || r.X == nil || r.RowDuals == nil {
			t.Fatalf("%v, %+v", err, r)
		}
		iterations += r.Stats.Iterations
	}
	open := func(name string) milp.LP {
		lp, err := solver.Open(model(name))
		if err != nil {
			t.Fatal(err)
		}
		return lp
	}
	a := open("master")
	solve(a, 1)
	if err := a.AddColumn(milp.Variable{Name: "y", Upper: 9, Cost: 0.5}, []int{0}, []float64{1}); err != nil {
		t.Fatal(err)
	}
	solve(a, 0.5)
	if err := a.AddRow(milp.Row{Name: "more", Sense: milp.GE, RHS: 2, Cols: []int{0, 1}, Vals: []float64{1, 1}}); err != nil {
		t.Fatal(err)
	}
	solve(a, 1)
	b := open("master")
	solve(b, 1)
	of := iterations
	open("never solved")
	list := log.Programs()
	if len(list) != 2 {
		t.Fatalf("%d entries", len(list))
	}
	got, r := list[0], list[0].Result
	if got.Rows != 2 || got.Cols != 2 || got.Nonzeros != 4 || got.Opened != 2 || got.Solved != 4 || got.Generated != 1 || got.Added != 1 || got.Relation != "relaxation" {
		t.Errorf("masters: %+v", got)
	}
	if r.Termination != milp.Optimal || r.Dual == milp.None || r.DualBound != 1 || r.X != nil || r.RowDuals != nil || r.Stats.Iterations != of {
		t.Errorf("masters: %+v", r)
	}
	if list[1].Solved != 0 || list[1].Result.Termination != milp.OtherError {
		t.Errorf("never solved: %+v", list[1])
	}
	if (*Log)(nil).Watch(lpsolve.LP{}) != (milp.LPSolver(lpsolve.LP{})) || (*Log)(nil).Programs() != nil {
		t.Error("a nil log notes something")
	}
}
