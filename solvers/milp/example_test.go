package milp_test

import (
	"context"
	"fmt"
	"math"
	"os"

	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// cover returns the integer program
//
//	minimise 5a + 4b + 3c  subject to  2a + 3b + c ≥ 5,  4a + b + 2c ≥ 11,  a, b, c ∈ {0, …, 10}.
func cover() *milp.Model {
	m := &milp.Model{Name: "cover", IntegralCost: true} // every point has an integral objective: bounds may be rounded up
	a := m.AddVar(milp.Variable{Name: "a", Upper: 10, Cost: 5, Integer: true})
	b := m.AddVar(milp.Variable{Name: "b", Upper: 10, Cost: 4, Integer: true})
	c := m.AddVar(milp.Variable{Name: "c", Upper: 10, Cost: 3, Integer: true})
	m.AddRow(milp.Row{Name: "first", Cols: []int{a, b, c}, Vals: []float64{2, 3, 1}, Sense: milp.GE, RHS: 5})
	m.AddRow(milp.Row{Name: "second", Cols: []int{a, b, c}, Vals: []float64{4, 1, 2}, Sense: milp.GE, RHS: 11})
	return m
}

// A model is a plain struct. What is said about it is checked in exact arithmetic:
// a point by Check, a bound by the duals that it comes from.
func ExampleModel() {
	m := cover()
	if err := m.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(milp.Check(m, []float64{1, 1, 1}))
	x := []float64{3, 0, 0}
	fmt.Println(milp.Check(m, x), m.ExactObjective(x).RatString())
	// By weak duality any y ≥ 0 gives a bound: here half of the first row plus one of the second.
	lower := milp.ExactBound(m, []float64{0.5, 1})
	fmt.Println("no point costs less than", lower.RatString())
	// Output:
	// milp: row 1 "second" breaks its row by 4
	// <nil> 15
	// no point costs less than 27/2
}

// Models are written for other solvers.
func ExampleWriteLP() {
	if err := milp.WriteLP(os.Stdout, cover()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// /* cover */
	// min: +5 a +4 b +3 c;
	// first: +2 a +3 b +1 c >= 5;
	// second: +4 a +1 b +2 c >= 11;
	// 0 <= a <= 10;
	// 0 <= b <= 10;
	// 0 <= c <= 10;
	// int a,b,c;
}

// A start is what a caller knows about good points: one to begin with, and a way to
// make one of the point of a linear program. A solver checks what it is offered and
// ignores what it cannot use. After one node the point is the start's, if any; the
// bound is the solver's own.
func ExampleStart() {
	m, solver := cover(), branch.New(lpsolve.LP{})
	up := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for j := range x {
			out[j] = math.Ceil(x[j])
		}
		return out
	}
	for _, start := range []milp.Start{
		{}, // nothing is known
		{X: []float64{10, 10, 10}},
		{X: []float64{0, 0, 0}}, // breaks both rows: not used
		{Round: up},
	} {
		r, err := solver.Solve(context.Background(), m, start, milp.Limits{Nodes: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Termination, "point", r.X, "costs", r.PrimalBound, "and none less than", r.DualBound)
	}
	// Output:
	// NODE_LIMIT point [] costs +Inf and none less than 14
	// NODE_LIMIT point [10 10 10] costs 120 and none less than 14
	// NODE_LIMIT point [] costs +Inf and none less than 14
	// NODE_LIMIT point [3 0 0] costs 15 and none less than 14
}
