package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"yardstick/bench/suite"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

// CellResult is what became of one cell.
type CellResult struct {
	Cell     Cell
	Outcomes []Outcome          // one per objective; nil if Err is set
	Verified []*verify.Verified // beside Outcomes; nil where there is no schedule
	Err      error              // the method could not run, panicked, or returned an invalid schedule
	Skipped  bool               // another shard's, or the run was interrupted before or while the cell ran
	Reused   bool               // finished by an earlier run
	Wall     time.Duration
	CPU      time.Duration
	PeakRSS  int64 // of the process that ran it, in bytes; 0 if not measured

	stored func() (CellResult, error) // reads the outcomes, if they are not here
}

// Limited reports whether a limit in wall-clock time or memory shaped the
// outcome.
func (o *Outcome) Limited() bool {
	limited := func(t milp.Termination) bool {
		return t == milp.TimeLimit || t == milp.MemoryLimit || t == milp.Interrupted
	}
	return limited(o.Termination) || slices.ContainsFunc(o.Solves, func(s Solve) bool { return limited(s.Result.Termination) })
}

// Limited reports whether a limit in time or memory shaped the cell's values.
func (r *CellResult) Limited() bool {
	if t := TerminationOf(r.Err); r.Err != nil {
		return t == milp.TimeLimit || t == milp.MemoryLimit
	}
	for i := range r.Outcomes {
		if r.Outcomes[i].Limited() {
			return true
		}
	}
	return false
}

// cutShort reports whether an interruption, rather than a limit or the end of
// the search, ended the method.
func (o Outcome) cutShort() bool {
	interrupted := func(t milp.Termination) bool { return t == milp.Interrupted || t == milp.Crashed }
	return interrupted(o.Termination) || slices.ContainsFunc(o.Solves, func(s Solve) bool { return interrupted(s.Result.Termination) })
}

// stopped makes a method that was interrupted because the cell's time had come one
// that reached its time limit: what it has proven until then counts.
func (r *CellResult) stopped(limit time.Duration) {
	if errors.Is(r.Err, context.DeadlineExceeded) || errors.Is(r.Err, context.Canceled) {
		r.Err = Killed(milp.TimeLimit, fmt.Sprintf("stopped after %v with nothing proven", limit))
	}
	end := func(t *milp.Termination) {
		if *t == milp.Interrupted {
			*t = milp.TimeLimit
		}
	}
	for i := range r.Outcomes {
		end(&r.Outcomes[i].Termination)
		for k := range r.Outcomes[i].Solves {
			end(&r.Outcomes[i].Solves[k].Result.Termination)
		}
	}
}

// ErrEnough is the cause of the end of a context that asks the method of a cell for what
// it has by then. Other ends leave the cell without a result.
var ErrEnough = errors.New("what there is so far is enough")

// RunCell runs one cell in this process, on a thread of its own, so that its
// processor time can be told from the other cells'. The method's context ends with
// the cell's time limit. Certificates and proofs are made and checked after its time has
// been taken.
func RunCell(ctx context.Context, cell Cell, limits suite.Limits, debugging bool) (r CellResult) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r.Cell = cell
	start, cpu := time.Now(), milp.ThreadTime()
	defer func() {
		if p := recover(); p != nil {
			r.Outcomes, r.Verified = nil, nil
			r.Err = Panicked(cell.Method.Ref().String(), p, debugging)
		}
		if r.Wall == 0 {
			r.Wall, r.CPU = time.Since(start), milp.ThreadTime()-cpu
		}
		if ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrEnough) && (r.Err != nil || slices.ContainsFunc(r.Outcomes, Outcome.cutShort)) {
			r.Skipped, r.Err, r.Outcomes, r.Verified = true, nil, nil, nil
		}
	}()
	problem := Problem{Instance: cell.Instance.Instance, Objectives: cell.Objectives, Limits: limits, Seed: cell.Instance.Seed}
	limit := limits.CellTime(len(cell.Objectives))
	inner, cancel := within(ctx, limit)
	defer cancel()
	r.Outcomes, r.Err = cell.Method.Run(inner, problem)
	if ctx.Err() == nil && inner.Err() != nil {
		r.stopped(limit)
	}
	if r.Err == nil && len(r.Outcomes) != len(cell.Objectives) {
		r.Err = fmt.Errorf("%s returned %d outcomes for %d objectives", cell.Method.Ref(), len(r.Outcomes), len(cell.Objectives))
	}
	if r.Err == nil {
		r.Verified, r.Err = verifyAll(cell, r.Outcomes)
	}
	r.Wall, r.CPU = time.Since(start), milp.ThreadTime()-cpu
	if r.Err == nil {
		r.Err = Certify(cell.Instance.Instance, cell.Instance.SHA256, r.Outcomes)
	}
	if r.Err == nil && cell.Prove {
		r.Err = proveAll(ctx, cell.Instance.Instance, cell.Objectives, r.Outcomes, r.Verified)
	}
	if r.Err != nil {
		r.Outcomes, r.Verified = nil, nil
	}
	return r
}

// within returns a context that ends after the limit; 0 is none.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return context.WithCancel(ctx)
}

// Attempt runs a method and makes a panic an error that wraps ErrPanicked, for
// callers that run it in their own process.
func Attempt(ctx context.Context, m Method, problem Problem, debugging bool) (out []Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, Panicked(m.Ref().String(), p, debugging)
		}
	}()
	return m.Run(ctx, problem)
}

// Panicked is the error of a method that panicked, with the stack if debugging.
func Panicked(method string, p any, debugging bool) error {
	err := fmt.Errorf("%s %w: %v; this is a bug in yardstick: run again with --debug and report it", method, ErrPanicked, p)
	if debugging {
		err = fmt.Errorf("%w\n%s", err, debug.Stack())
	}
	return err
}

func verifyAll(cell Cell, outcomes []Outcome) ([]*verify.Verified, error) {
	verified := make([]*verify.Verified, len(outcomes))
	for i, o := range outcomes {
		switch {
		case o.Schedule == nil:
			continue
		case i > 0 && o.Schedule == outcomes[i-1].Schedule: // one schedule for several objectives
			verified[i] = verified[i-1]
			continue
		}
		v, err := verify.Check(cell.Instance.Instance, o.Schedule)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w: %w", cell.Method.Ref(), cell.Instance.Name, ErrInvalidSchedule, err)
		}
		verified[i] = v
	}
	return verified, nil
}

// Verify checks every schedule of a result that comes from elsewhere.
func (r CellResult) Verify() CellResult {
	if r.Err != nil || r.Skipped {
		return r
	}
	var v []*verify.Verified
	if v, r.Err = verifyAll(r.Cell, r.Outcomes); r.Err != nil {
		r.Outcomes = nil
		return r
	}
	r.Verified = v
	return r
}

// Open returns the result with its outcomes and verifies every schedule, which
// a file or another process may have changed.
func (r *CellResult) Open() CellResult {
	if r.stored == nil || r.Skipped {
		return *r
	}
	full, err := r.stored()
	if err != nil {
		r.Err = Killed(milp.OtherError, err.Error()+": run again")
		return CellResult{Cell: r.Cell, Err: r.Err}
	}
	full.Reused = r.Reused
	full = full.Verify()
	if full.Err != nil && r.Err == nil { // it was verified before it was stored
		full.Err = fmt.Errorf("%w; the journal was changed since: run again with --force", full.Err)
	}
	r.Err = full.Err
	return full
}
