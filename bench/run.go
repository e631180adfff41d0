package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"yardstick/bench/suite"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

// Options say how to run a plan; they do not influence any value.
type Options struct {
	Workers  int // cells at a time; 0 for one per core
	Progress *Progress
	Debug    bool // keep the stack of a method that panics

	// Execute runs a cell elsewhere than in this process, by several goroutines
	// at once. Nil runs it here.
	Execute func(context.Context, Cell) CellResult
	// Store keeps what is finished and has what was finished before. Nil
	// keeps all of it in memory.
	Store *Store
	// Shard is the part of the cells to run; the zero value is all of them.
	Shard Shard
}

// Shard is the part Index, from 0, of Count equal parts of a plan: the cells
// whose index is Index modulo Count, which spreads methods and instances.
type Shard struct{ Index, Count int }

// Has reports whether the cell of that index belongs to the shard.
func (s Shard) Has(cell int) bool { return s.Count <= 1 || cell%s.Count == s.Index }

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

	stored *Store // has the outcomes, if they are not here
}

// Run runs every cell of the plan and verifies every schedule. After ctx is
// cancelled no new cell starts, running ones are told to stop, and the result
// holds what was finished. Results are in plan order whatever the number of
// workers. With a store, they hold no outcomes: Rows reads them from there. If it
// cannot be written to, the run ends as if ctx were cancelled: see Store.Err.
func Run(ctx context.Context, plan *Plan, o Options) []CellResult {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	if o.Execute == nil {
		o.Execute = func(ctx context.Context, c Cell) CellResult { return RunCell(ctx, c, plan.Suite.Limits, o.Debug) }
	}
	results := Collect(plan, o.Store)
	var todo []Cell
	for i, c := range plan.Cells {
		if results[i].Skipped && o.Shard.Has(i) {
			todo = append(todo, c)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	next := make(chan Cell)
	var workers sync.WaitGroup
	o.Progress.begin(todo, len(plan.Cells), o.Workers)
	defer o.Progress.end()
	for range o.Workers {
		workers.Go(func() {
			for c := range next {
				o.Progress.started(c)
				r := o.Execute(ctx, c)
				o.Progress.ended(c, r.Wall, r.Err != nil)
				if !o.Store.put(&r) {
					stop()
				}
				results[c.Index] = r
			}
		})
	}
	for _, c := range todo {
		select {
		case next <- c:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	return results
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

// RunCell runs one cell in this process, on a thread of its own, so that its
// processor time can be told from the other cells'. The method's context ends with
// the cell's time limit. Certificates are made and checked after its time has been
// taken.
func RunCell(ctx context.Context, cell Cell, limits suite.Limits, debugging bool) (r CellResult) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r.Cell = cell
	start, cpu := time.Now(), milp.ThreadTime()
	defer func() {
		if p := recover(); p != nil {
			r.Outcomes, r.Verified = nil, nil
			r.Err = crash(cell.Method, p, debugging)
		}
		if r.Wall == 0 {
			r.Wall, r.CPU = time.Since(start), milp.ThreadTime()-cpu
		}
		if ctx.Err() != nil && (r.Err != nil || slices.ContainsFunc(r.Outcomes, Outcome.cutShort)) {
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
			out, err = nil, crash(m, p, debugging)
		}
	}()
	return m.Run(ctx, problem)
}

// crash is the error of a method that panicked, with the stack if debugging.
func crash(m Method, p any, debugging bool) error {
	err := fmt.Errorf("%s %w: %v; this is a bug in yardstick: run again with --debug and report it", m.Ref(), ErrPanicked, p)
	if debugging {
		err = fmt.Errorf("%w\n%s", err, debug.Stack())
	}
	return err
}

// ErrPanicked is the error of a method that panicked.
var ErrPanicked = errors.New("panicked")

// ErrInvalidSchedule is the error of a method whose schedule breaks a rule.
var ErrInvalidSchedule = errors.New("the schedule is not valid")

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
