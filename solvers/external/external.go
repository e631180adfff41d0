// Package external solves models with programs that are found on PATH: glpsol
// of GLPK, cbc of COIN-OR, and highs. Each solve writes the model as an MPS file
// into a folder of its own, runs the program once and reads its solution file.
//
// What the programs say is believed only as far as it was checked. A point is
// Proven if it is feasible in exact arithmetic after rounding the integers,
// Claimed if it is feasible to within Tolerance, and dropped otherwise. Dual
// bounds and infeasibility are Claimed, always.
//
// The programs are asked for a gap of zero and run on one thread. Their option
// files and environment apart, a solve without a time limit depends on nothing
// but the model.
package external

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"time"

	"yardstick/internal/output"
	"yardstick/solvers/milp"
)

// ErrAbsent reports a program that is not on PATH.
var ErrAbsent = errors.New("not found on PATH")

// Tolerance is how far a Claimed point may miss bounds and rows, in the sense
// of milp.CheckWithin.
const Tolerance = 1e-6

// Grace is how long a program may outlive its time limit before it is killed,
// and its incumbent with it.
const Grace = 2 * time.Second

// Solver runs one program. It implements milp.Solver and may be used from
// several goroutines at once.
type Solver struct {
	path    string
	program program
}

// program is what differs between the programs.
type program interface {
	name() string
	install() string // where to get it, for people
	// args returns the command line that solves model.mps in the working
	// directory, and the files to write there beside it.
	args(m *milp.Model, l milp.Limits) (args []string, files map[string]string)
	// round returns the time limit that is in force when limit is asked for.
	round(limit time.Duration) time.Duration
	// read interprets the files in folder and the program's output.
	read(folder, output string, m *milp.Model) (answer, error)
	versionArgs() []string
}

// answer is what a program says.
type answer struct {
	termination       milp.Termination
	x                 []float64 // nil if there is no point
	objective         float64   // of x, as printed
	bound             float64   // -Inf if none
	nodes, iterations int
	message           string
}

// GLPSOL returns GLPK's glpsol. It keeps time limits in whole seconds, rounded
// up, and no node limit.
//
// Errors: ErrAbsent.
func GLPSOL() (*Solver, error) { return find(glpsol{}) }

// CBC returns COIN-OR's cbc.
//
// Errors: ErrAbsent.
func CBC() (*Solver, error) { return find(cbc{}) }

// HiGHS returns highs.
//
// Errors: ErrAbsent.
func HiGHS() (*Solver, error) { return find(highs{}) }

// Found returns the programs that are on PATH, in the order glpsol, cbc, highs.
func Found() []*Solver {
	var out []*Solver
	for _, p := range []program{glpsol{}, cbc{}, highs{}} {
		if s, err := find(p); err == nil {
			out = append(out, s)
		}
	}
	return out
}

func find(p program) (*Solver, error) {
	path, err := exec.LookPath(p.name())
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, fmt.Errorf("external: %s: %w: %s", p.name(), ErrAbsent, p.install())
	}
	return &Solver{path, p}, nil
}

// Name implements milp.Solver: "glpsol", "cbc" or "highs".
func (s *Solver) Name() string { return s.program.name() }

// Solve implements milp.Solver. A program that has not ended Grace after the
// time limit is killed; then there is neither point nor bound. The start is not
// used: no way to give one is common to the programs.
//
// Errors: the model is not valid, or files cannot be written. A program that
// cannot be started, fails or writes nothing that can be read gives Crashed or
// OtherError, with a Message.
func (s *Solver) Solve(ctx context.Context, m *milp.Model, _ milp.Start, l milp.Limits) (*milp.Result, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("external: %w", err)
	}
	begin := time.Now()
	whole, crossed := wholeBounds(m)
	switch {
	case ctx.Err() != nil:
		return milp.NoResult(milp.Interrupted), nil
	case crossed:
		return infeasible(), nil
	case len(m.Vars) == 0: // the programs disagree about files without columns
		return constant(m), nil
	}
	folder, remove, err := output.TemporaryFolder(s.Name())
	if err != nil {
		return nil, fmt.Errorf("external: %w", err)
	}
	defer remove()
	args, files := s.program.args(whole, l)
	if err := writeFiles(folder, whole, files); err != nil {
		return nil, fmt.Errorf("external: %w", err)
	}
	r := s.run(ctx, folder, args, l.Time)
	if output.Full(r.err) { // it was not even started
		return nil, fmt.Errorf("external: starting %s: %w", s.Name(), r.err)
	}
	var res *milp.Result
	switch {
	case r.stopped != "":
		res = milp.NoResult(r.stopped)
	default:
		// HiGHS ends with a failure where it merely warned, after writing.
		a, err := s.program.read(folder, r.output, m)
		switch {
		case err != nil && r.err != nil:
			res = milp.NoResult(milp.Crashed)
			res.Message = fmt.Sprintf("%s: %v%s", s.Name(), r.err, lastLine(r.output))
		case err != nil:
			res = milp.NoResult(milp.OtherError)
			res.Message = fmt.Sprintf("%s: %v%s", s.Name(), err, lastLine(r.output))
		default:
			res = s.judge(m, a)
		}
	}
	res.Stats.CPU = r.cpu
	res.Stats.Wall = time.Since(begin)
	return res, nil
}

// wholeBounds returns the model with the bounds of its integers moved to
// integers, which GLPK insists on, and whether that empties a range.
func wholeBounds(m *milp.Model) (*milp.Model, bool) {
	out := *m
	out.Vars = append([]milp.Variable(nil), m.Vars...)
	crossed := false
	for j := range out.Vars {
		v := &out.Vars[j]
		if v.Integer {
			v.Lower, v.Upper = math.Ceil(v.Lower)+0, math.Floor(v.Upper)+0 // no -0
			crossed = crossed || v.Lower > v.Upper
		}
	}
	return &out, crossed
}

func infeasible() *milp.Result {
	res := milp.NoResult(milp.Infeasible)
	res.Dual, res.DualBound = milp.Claimed, math.Inf(1)
	return res
}

// constant solves a model without variables.
func constant(m *milp.Model) *milp.Result {
	x := []float64{}
	if milp.Check(m, x) != nil {
		return infeasible()
	}
	return &milp.Result{Termination: milp.Optimal, X: x, Primal: milp.Proven, PrimalBound: m.Constant, Dual: milp.Claimed, DualBound: m.Constant}
}

// judge checks what the program says against the model.
func (s *Solver) judge(m *milp.Model, a answer) *milp.Result {
	if a.termination == milp.Infeasible {
		res := infeasible()
		res.Stats = milp.Stats{Nodes: a.nodes, Iterations: a.iterations}
		return res
	}
	res := milp.NoResult(a.termination)
	res.Message = a.message
	res.Stats = milp.Stats{Nodes: a.nodes, Iterations: a.iterations}
	if !math.IsInf(a.bound, 0) && !math.IsNaN(a.bound) {
		res.Dual, res.DualBound = milp.Claimed, a.bound
	}
	if a.x != nil {
		point, err := milp.Certify(m, a.x)
		switch {
		case err == nil:
			res.X, res.Primal = point, milp.Proven
		case milp.CheckWithin(m, a.x, Tolerance) == nil:
			res.X, res.Primal = a.x, milp.Claimed
		default:
			res.Message = fmt.Sprintf("%s's point is not feasible: %v", s.Name(), err)
		}
	}
	if res.X != nil {
		res.PrimalBound = m.Objective(res.X)
	}
	if a.termination != milp.Optimal {
		return res
	}
	switch {
	case res.X == nil:
		res.Termination = milp.Numerical
		if res.Message == "" {
			res.Message = s.Name() + " claims an optimum without a point"
		}
	case math.Abs(res.PrimalBound-a.objective) > Tolerance*max(1, math.Abs(a.objective)):
		// The optimum may still be what it says, but not at this point.
		res.Termination = milp.Numerical
		res.Message = fmt.Sprintf("%s claims the optimum %v for a point of objective %v", s.Name(), a.objective, res.PrimalBound)
	default:
		res.Dual, res.DualBound = milp.Claimed, res.PrimalBound
	}
	return res
}
