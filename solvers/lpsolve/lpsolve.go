// Package lpsolve solves linear and mixed-integer programs with lp_solve 5.5
// through golp. It is the only package that imports golp, and it trusts
// neither: models are validated before they reach C, where a repeated column
// or a NaN silently changes the problem; points are checked in Go; and the dual
// bound of a linear program is evaluated from the duals in safe arithmetic.
//
// Not in golp, and added here by a small cgo file on the same C model:
// cancellation, deadlines below a second, columns and rows added to a solved
// program, counts of nodes and iterations, and the solution limit that
// switches off an unsound cut-off of lp_solve's branch and bound.
//
// Building needs cgo, lp_solve's headers and its library (Debian:
// liblpsolve55-dev).
package lpsolve

import (
	"context"

	"yardstick/solvers/milp"
)

// LP solves linear programs again and again from the last basis. It
// implements milp.LPSolver.
//
// After a solve that ends Optimal, the point satisfies the model within
// Tolerance (it is Claimed, or Proven if it happens to be exactly feasible),
// RowDuals are lp_solve's duals with the wrong signs removed, and DualBound is
// the safe bound of these duals: Proven. Infeasible is Proven if a Farkas
// vector was found whose bound is positive in exact arithmetic, and Claimed
// otherwise. A program is safe for use by one goroutine at a time; different
// programs may be used at once.
type LP struct{}

// MIP runs lp_solve's own branch and bound. It implements milp.Solver.
//
// Its optima are Claimed: the search drops nodes whose linear program failed
// numerically. Costs are scaled by a power of two on the way, as its
// tolerances are absolute. Its points are Proven if they are feasible in exact arithmetic
// after rounding the integers, and Claimed otherwise. Models without integers
// are solved as by LP.
type MIP struct{}

// Tolerance is how far a point of lp_solve may miss bounds and rows, in the
// sense of milp.CheckWithin. lp_solve works with 1e-9 on the scaled model.
const Tolerance = 1e-6

// Name returns "lpsolve-lp".
func (LP) Name() string { return "lpsolve-lp" }

// Open returns a program that owns a copy of m without its integrality. It
// holds memory outside Go's heap: it implements io.Closer, whose Close frees
// that at once; the garbage collector does so at some time.
func (LP) Open(m *milp.Model) (milp.LP, error) { return open(m) }

// Name returns "lpsolve-mip".
func (MIP) Name() string { return "lpsolve-mip" }

// Solve solves m. Of the limits it keeps both, of the start it uses nothing:
// lp_solve's search takes neither a point nor a rounding.
func (MIP) Solve(ctx context.Context, m *milp.Model, _ milp.Start, l milp.Limits) (*milp.Result, error) {
	return solveMIP(ctx, m, l)
}

// Version returns the version of the lp_solve library in use, such as
// "5.5.2.5".
func Version() string { return version() }
