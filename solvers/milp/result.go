package milp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// Termination says why a solve stopped. Whether there is a point and whether
// there is a bound are separate questions: see Result.
type Termination string

// The reasons to stop, named as in MathOptInterface.
const (
	Optimal        Termination = "OPTIMAL"
	Infeasible     Termination = "INFEASIBLE"
	Unbounded      Termination = "DUAL_INFEASIBLE"
	TimeLimit      Termination = "TIME_LIMIT"
	NodeLimit      Termination = "NODE_LIMIT"
	IterationLimit Termination = "ITERATION_LIMIT"
	MemoryLimit    Termination = "MEMORY_LIMIT"
	Numerical      Termination = "NUMERICAL_ERROR"
	Interrupted    Termination = "INTERRUPTED"
	Crashed        Termination = "CRASHED"
	Skipped        Termination = "SKIPPED"
	OtherError     Termination = "OTHER_ERROR"
)

// Evidence says how far a claim of a solver has been checked.
type Evidence string

// The degrees of evidence.
const (
	None    Evidence = ""        // nothing is claimed
	Claimed Evidence = "claimed" // the solver says so in floating point; nobody checked
	Proven  Evidence = "proven"  // checked: a feasible point, or a bound evaluated in exact arithmetic
)

// Result is what is known after a solve.
type Result struct {
	Termination Termination
	Primal      Evidence  // of X and PrimalBound
	Dual        Evidence  // of DualBound
	X           []float64 // the incumbent; nil if Primal is None
	PrimalBound float64   // objective of X; +Inf if Primal is None
	DualBound   float64   // no feasible point is below it; -Inf if Dual is None, +Inf if infeasible
	// RowDuals is a vector y with y ≥ 0 on ≥ rows and y ≤ 0 on ≤ rows, nil
	// unless the solve was of a linear program. If that is optimal, L(y) is
	// DualBound; if it is infeasible and Dual is Proven, y is either nil, as a
	// variable has crossed bounds, or proves it: see BoundEvaluator.Farkas.
	RowDuals []float64
	Message  string // one line for people, where Termination needs a reason
	Stats    Stats
}

// Stats are counts and times of a solve.
type Stats struct {
	Nodes      int
	Iterations int
	Wall       time.Duration
	CPU        time.Duration // of the process, or the thread, that solved; or 0: not measured
	PeakRSS    int64         // of the process that solved, in bytes, or 0: not measured
	Steps      []Step        // how bound and incumbent went, in order of time; nil of a solver that does not say
}

// Validate returns an error if the result contradicts itself.
func (r *Result) Validate() error {
	switch {
	case math.IsNaN(r.PrimalBound) || math.IsNaN(r.DualBound):
		return fmt.Errorf("milp: result with bounds %v and %v", r.PrimalBound, r.DualBound)
	case (r.Primal == None) != (r.X == nil) || (r.Primal == None) != math.IsInf(r.PrimalBound, 1):
		return fmt.Errorf("milp: result claims point %q with %d values and primal bound %v", r.Primal, len(r.X), r.PrimalBound)
	case (r.Dual == None) != math.IsInf(r.DualBound, -1):
		return fmt.Errorf("milp: result claims bound %q with dual bound %v", r.Dual, r.DualBound)
	case slices.ContainsFunc(r.X, func(v float64) bool { return !finite(v) }):
		return fmt.Errorf("milp: result with a value that is not finite")
	case r.Termination == Infeasible && (r.Primal != None || !math.IsInf(r.DualBound, 1)):
		return fmt.Errorf("milp: infeasible result with point %q and dual bound %v", r.Primal, r.DualBound)
	case r.Termination == Optimal && (r.Primal == None || r.Dual == None):
		return fmt.Errorf("milp: optimal result without point or bound")
	case r.Primal == Proven && r.Dual == Proven && r.DualBound > r.PrimalBound:
		return fmt.Errorf("milp: proven dual bound %v exceeds proven primal bound %v", r.DualBound, r.PrimalBound)
	}
	return nil
}

// NoResult returns the result of a solve that learnt nothing.
func NoResult(t Termination) *Result {
	return &Result{Termination: t, PrimalBound: math.Inf(1), DualBound: math.Inf(-1)}
}

// Limits bound a solve. The zero value sets no limit.
type Limits struct {
	Time  time.Duration // wall clock; such a limit makes results irreproducible
	Nodes int           // branch-and-bound nodes
}

// Start is what the caller knows about good points. It directs a search and
// proves nothing: a solver checks what it offers, and one that cannot use a part
// of it ignores that. The zero value knows nothing.
type Start struct {
	X []float64 // a point to begin with, or nil; used only if it is feasible
	// Round makes of the point of a linear program, one value per variable, a
	// candidate for the incumbent, or nil. It may be called at every node, and has
	// to be quick. It runs in the process that searches and nowhere else.
	Round func(x []float64) []float64
}

// Solver solves a model. Hitting a limit or proving infeasibility is a
// result; an error means that the solve could not run. What wraps a solver
// passes the start on.
type Solver interface {
	Name() string
	Solve(context.Context, *Model, Start, Limits) (*Result, error)
}

// LP is a linear program that is solved again and again after small changes,
// starting from the last basis. Integrality is ignored. Programs that hold
// memory outside Go's heap implement io.Closer.
type LP interface {
	// SetBounds changes the bounds of a variable. Crossed bounds make the
	// program infeasible.
	SetBounds(col int, lower, upper float64)
	// AddColumn appends a variable with entries in the given rows.
	AddColumn(v Variable, rows []int, vals []float64) error
	// AddRow appends a row.
	AddRow(r Row) error
	// Solve returns a Result whose RowDuals are set if it is optimal.
	Solve(context.Context, Limits) (*Result, error)
}

// LPSolver opens linear programs.
type LPSolver interface {
	Name() string
	Open(*Model) (LP, error)
}
