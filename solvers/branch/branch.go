// Package branch proves optima of mixed-integer programs by best-first branch
// and bound on linear programs that somebody else solves.
//
// Floating point guides the search and decides nothing. A linear program is
// asked only for a point x and a vector of row duals y, and both may be wrong:
//
//   - A point becomes the incumbent after its integer entries were rounded and
//     [milp.Check] accepted it in exact arithmetic.
//   - The bound of a node is L(y) of milp's bound evaluator over the node's own
//     box, rounded down: weak duality, whatever y is. It is then rounded up to
//     the next value that the objective can take, where costs are integral.
//   - A node is dropped only if its bound reaches the incumbent's objective, or
//     exceeds every objective value of the root box, which proves it empty.
//   - A linear program that fails, or calls itself infeasible without proof,
//     teaches nothing: the node keeps its parent's bound and is split.
//
// Hence the dual bound, the least over all nodes not dropped, is proven at
// every moment, and so is the optimum once no node is left.
//
// Empty nodes. The duals of an infeasible program must be made to show it. In
// the linear program every assignment row (Σ x_j = 1, binary) has an elastic
// column whose cost exceeds the range of the objective over the root box. If
// branching has closed too many columns, the program stays feasible and its
// duals have L(y) beyond that range. As L(y) is evaluated on the model without
// elastic columns, their cost is a matter of speed, never of correctness.
// Where other rows are violated, the solver of the linear program is asked for
// a Farkas vector, which [milp.BoundEvaluator.Farkas] checks. Failing that
// too, the node is split; once all variables are fixed, the only point left is
// decided by evaluation.
//
// Continuous variables. The values of an optimal point need not be numbers of
// float64, nor need a bound meet the objective to the last bit. A model with
// continuous variables therefore ends with Optimal when bound and objective
// are within a relative 1e-9; both are still proven, and the interval is what
// the result states. If no point near an optimum is feasible in exact
// arithmetic, one that is feasible to within 1e-6 is returned as Claimed; it
// never drops a node.
package branch

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"yardstick/solvers/milp"
)

// Solver is a milp.Solver whose claims are proven.
type Solver struct {
	lp  milp.LPSolver
	opt Options
}

// Options direct the search. The zero value asks for nothing special.
type Options struct {
	// Progress is called whenever the proven bound or the incumbent's
	// objective has changed.
	Progress func(bound, incumbent float64, nodes int)
}

// New returns a solver that proves what the linear programs of lp suggest.
func New(lp milp.LPSolver) *Solver { return &Solver{lp: lp} }

// With returns a solver with the given options.
func (s *Solver) With(o Options) *Solver { return &Solver{lp: s.lp, opt: o} }

// Name implements milp.Solver: "branch".
func (s *Solver) Name() string { return "branch" }

// Solve implements milp.Solver. With a node limit, and no time limit, the
// result depends on nothing but model and start. An infeasible model has
// Termination Infeasible, Dual Proven and DualBound +Inf.
//
// Of the start both parts are used, Round at every node. Without it, models of
// assignment and packing rows alone get list schedules.
//
// Errors: the model is not valid, or no linear program could be opened.
func (s *Solver) Solve(ctx context.Context, m *milp.Model, start milp.Start, l milp.Limits) (*milp.Result, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("branch: %w", err)
	}
	runtime.LockOSThread() // for its processor time
	defer runtime.UnlockOSThread()
	begin, cpu := time.Now(), milp.ThreadTime()
	t := newTree(m, start.Round, s.opt)
	defer t.free()
	if !t.emptyRoot() {
		if err := t.openRelaxation(s.lp); err != nil {
			return nil, fmt.Errorf("branch: %w", err)
		}
		t.offer(start.X)
		t.search(ctx, begin, l)
	}
	r := t.result()
	r.Stats.Wall, r.Stats.CPU = time.Since(begin), milp.ThreadTime()-cpu
	return r, nil
}

// result states what the tree has proven.
func (t *tree) result() *milp.Result {
	r := milp.NoResult(t.stopped)
	r.Stats = milp.Stats{Nodes: t.nodes, Iterations: t.iterations, Steps: t.steps}
	value := t.cutoff
	switch {
	case t.claim != nil && !within(t.cutoff, t.claimed):
		value = t.claimed
		r.Primal, r.X, r.PrimalBound = milp.Claimed, t.claim, value
	case t.x != nil:
		r.Primal, r.X, r.PrimalBound = milp.Proven, t.x, value
	}
	if bound := t.bound(); !math.IsInf(bound, -1) {
		r.Dual, r.DualBound = milp.Proven, bound
	}
	if t.stopped != "" {
		return r
	}
	switch { // the tree is exhausted
	case t.unsettled < value && !t.near(t.unsettled):
		r.Termination = milp.Numerical
	case r.X == nil:
		r.Termination = milp.Infeasible
	default:
		r.Termination = milp.Optimal
	}
	return r
}
