// Package solvertest is the conformance suite of the interfaces milp.Solver
// and milp.LPSolver. The tests of every implementation run it:
//
//	func TestConformance(t *testing.T) { solvertest.Solver(t, mysolver.New()) }
//
// The optima it compares with are found by enumeration in rational arithmetic.
package solvertest

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"yardstick/solvers/milp"
)

// Solver runs the suite on s. A solver that cannot pass a case names it in
// except, with the reason in a comment there; a name that is none is an error.
// A solver that cannot use a part of milp.Start leaves out "start" or "round", and
// is then held to ignoring it altogether.
func Solver(t *testing.T, s milp.Solver, except ...string) {
	t.Helper()
	run(t, slices.Concat(solverCases, startCases), s, except)
}

// Starts runs those cases of Solver that are about milp.Start, for what wraps a
// solver that has run the rest.
func Starts(t *testing.T, s milp.Solver, except ...string) {
	t.Helper()
	run(t, startCases, s, except)
}

// LPSolver runs the suite of warm-started linear programs on s, likewise.
func LPSolver(t *testing.T, s milp.LPSolver, except ...string) {
	t.Helper()
	run(t, linearCases, s, except)
}

type testCase[S any] struct {
	name    string
	run     func(*testing.T, S)
	without func(*testing.T, S) // what holds of those that leave the case out, or nil
}

func run[S any](t *testing.T, cases []testCase[S], s S, except []string) {
	t.Helper()
	for _, name := range except {
		if !slices.ContainsFunc(cases, func(c testCase[S]) bool { return c.name == name }) {
			t.Errorf("there is no case %q to leave out", name)
		}
	}
	for _, c := range cases {
		switch {
		case !slices.Contains(except, c.name):
			t.Run(c.name, func(t *testing.T) { c.run(t, s) })
		case c.without != nil:
			t.Run("without "+c.name, func(t *testing.T) { c.without(t, s) })
		}
	}
}

// tolerance is how far the objective of a point that is only claimed may be
// from the optimum, relative to its size.
const tolerance = 1e-6

// slack is how late a limit may be noticed, on a machine that does other work.
const slack = 5 * time.Second

// solve solves m without limits and checks what holds for every result.
func solve(t *testing.T, s milp.Solver, m *milp.Model) *milp.Result {
	t.Helper()
	res, err := s.Solve(context.Background(), m, milp.Start{}, milp.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	sound(t, m, res)
	return res
}

// sound checks a result against the model alone.
func sound(t *testing.T, m *milp.Model, res *milp.Result) {
	t.Helper()
	if err := res.Validate(); err != nil {
		t.Errorf("%s: %v", m.Name, err)
	}
	if res.X == nil {
		return
	}
	if err := milp.CheckWithin(m, res.X, tolerance); err != nil {
		t.Errorf("%s: %s point: %v", m.Name, res.Primal, err)
		return
	}
	if res.Primal == milp.Proven {
		if err := milp.Check(m, res.X); err != nil {
			t.Errorf("%s: proven point: %v", m.Name, err)
		}
		if rational(res.PrimalBound).Cmp(m.ExactObjective(res.X)) < 0 {
			t.Errorf("%s: proven objective %v of a point with objective %s", m.Name, res.PrimalBound, m.ExactObjective(res.X).FloatString(20))
		}
	}
	if exact, _ := m.ExactObjective(res.X).Float64(); !close(exact, res.PrimalBound) {
		t.Errorf("%s: primal bound %v of a point with objective %v", m.Name, res.PrimalBound, exact)
	}
}

func close(a, b float64) bool {
	return a-b <= tolerance*max(1, b, -b) && b-a <= tolerance*max(1, b, -b)
}

// compare checks a result against the optimum, nil if m is infeasible.
func compare(t *testing.T, m *milp.Model, res *milp.Result, optimum *big.Rat) {
	t.Helper()
	if optimum == nil {
		if res.Termination != milp.Infeasible {
			t.Errorf("%s: %s with objective %v, want INFEASIBLE", m.Name, res.Termination, res.PrimalBound)
		}
		return
	}
	want, _ := optimum.Float64()
	if !optimal(m, res) || !close(res.PrimalBound, want) || !close(res.DualBound, want) {
		t.Errorf("%s: %s with bounds %v, %v; want OPTIMAL %v", m.Name, res.Termination, res.DualBound, res.PrimalBound, want)
	}
	bracket(t, m, res, optimum)
}

// optimal reports whether the solve ended as it should on a feasible model. A
// solver that claims nothing it has not proven cannot close the gap of a model
// with continuous variables to the last bit: it may end with NUMERICAL_ERROR,
// if its proven bounds are within the tolerance of each other.
func optimal(m *milp.Model, res *milp.Result) bool {
	return res.Termination == milp.Optimal ||
		res.Termination == milp.Numerical && m.Integers() < len(m.Vars) &&
			res.Primal == milp.Proven && res.Dual == milp.Proven && close(res.DualBound, res.PrimalBound)
}

// bracket checks that what is proven holds: dual bound ≤ optimum ≤ primal
// bound, exactly.
func bracket(t *testing.T, m *milp.Model, res *milp.Result, optimum *big.Rat) {
	t.Helper()
	if res.Dual == milp.Proven && (res.Termination == milp.Infeasible || rational(res.DualBound).Cmp(optimum) > 0) {
		t.Errorf("%s: proven dual bound %v exceeds the optimum %s", m.Name, res.DualBound, optimum.FloatString(20))
	}
	if res.Primal == milp.Proven && rational(res.PrimalBound).Cmp(optimum) < 0 {
		t.Errorf("%s: proven primal bound %v is below the optimum %s", m.Name, res.PrimalBound, optimum.FloatString(20))
	}
}

// stopped checks a result of a solve that a limit may have ended.
func stopped(t *testing.T, m *milp.Model, res *milp.Result, err error, allowed ...milp.Termination) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	sound(t, m, res)
	if !slices.Contains(allowed, res.Termination) {
		t.Errorf("%s: %s, want one of %v", m.Name, res.Termination, allowed)
	}
}

// elapses runs f and fails if it takes longer than limit and slack.
func elapses(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if wall := time.Since(start); wall > limit+slack {
		t.Errorf("took %v with a limit of %v", wall, limit)
	}
}

// cancelled returns a context that has ended.
func cancelled() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the test ended it"))
	return ctx
}
