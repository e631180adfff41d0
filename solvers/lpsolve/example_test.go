package lpsolve_test

import (
	"context"
	"fmt"

	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// knapsack returns the integer program of the most valuable of four items that weigh
// at most 10, as a minimisation.
func knapsack() *milp.Model {
	m := &milp.Model{Name: "knapsack", IntegralCost: true}
	row := milp.Row{Sense: milp.LE, RHS: 10}
	for _, item := range []struct{ value, weight float64 }{{10, 5}, {40, 4}, {30, 6}, {50, 3}} {
		row.Cols = append(row.Cols, m.AddVar(milp.Variable{Upper: 1, Cost: -item.value, Integer: true}))
		row.Vals = append(row.Vals, item.weight)
	}
	m.AddRow(row)
	return m
}

// LP solves linear programs, again and again after small changes. Its duals give a
// bound in exact arithmetic, whatever went wrong in floating point on the way.
func ExampleLP() {
	m := knapsack()
	lp, err := lpsolve.LP{}.Open(m) // without integrality
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		r, err := lp.Solve(context.Background(), milp.Limits{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Termination, r.DualBound, r.Dual, milp.ExactBound(m, r.RowDuals).RatString())
		lp.SetBounds(3, 0, 0) // the fourth item is gone
		m.Vars[3].Upper = 0
	}
	// Output:
	// OPTIMAL -105 proven -105
	// OPTIMAL -70 proven -70
}

// MIP is lp_solve's own branch and bound, whose optimum is a claim. Package branch
// makes a proof of the same linear programs, and takes a start.
func ExampleMIP() {
	m := knapsack()
	for _, solver := range []milp.Solver{lpsolve.MIP{}, branch.New(lpsolve.LP{})} {
		r, err := solver.Solve(context.Background(), m, milp.Start{X: []float64{1, 1, 0, 0}}, milp.Limits{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(solver.Name(), r.X, r.PrimalBound, r.Primal, r.DualBound, r.Dual)
	}
	// Output:
	// lpsolve-mip [0 1 0 1] -90 proven -90 claimed
	// branch [0 1 0 1] -90 proven -90 proven
}
