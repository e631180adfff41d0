package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
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
	// Begin is called before the first cell runs, when the store has said which are
	// finished; nil for nothing.
	Begin func()
	// Shard is the part of the cells to run; the zero value is all of them.
	Shard Shard
}

// Shard is the part Index, from 0, of Count equal parts of a plan: the cells
// whose index is Index modulo Count, which spreads methods and instances.
type Shard struct{ Index, Count int }

// Has reports whether the cell of that index belongs to the shard.
func (s Shard) Has(cell int) bool { return s.Count <= 1 || cell%s.Count == s.Index }

// Run runs every cell of the plan and verifies every schedule. After ctx is
// cancelled no new cell starts, running ones are told to stop, and the result
// holds what was finished. Results are in plan order whatever the number of
// workers. With a store, they hold no outcomes: Rows reads them from there. If it
// cannot be written to, the run ends as if ctx were cancelled: see Store.Err. So it does
// at the first cell that the machine cannot run: see Stopped.
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
	results := Collect(context.WithoutCancel(ctx), plan, o.Store, nil)
	var todo []Cell
	for i, c := range plan.Cells {
		if results[i].Skipped && o.Shard.Has(i) {
			todo = append(todo, c)
		}
	}
	if o.Begin != nil {
		o.Begin()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	next := make(chan Cell)
	var workers sync.WaitGroup
	o.Progress.begin(todo, len(plan.Cells), o.Workers)
	defer o.Progress.End()
	for range o.Workers {
		workers.Go(func() {
			for c := range next {
				o.Progress.started(c)
				r := o.Execute(ctx, c)
				o.Progress.ended(c, r.Wall, r.Err != nil)
				if !o.Store.put(&r) || errors.Is(r.Err, ErrMachine) {
					stop()
				}
				results[c.Index] = r
			}
		})
	}
	for _, c := range todo {
		if ctx.Err() != nil { // of two cases that are ready, select takes any
			break
		}
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

// Collect returns what a store holds of a plan; the rest is skipped, and so is what it
// has not come to when ctx ends. watch, if not nil, is told how many cells are done.
func Collect(ctx context.Context, plan *Plan, s *Store, watch func(done int)) []CellResult {
	results := make([]CellResult, len(plan.Cells))
	for i, c := range plan.Cells {
		if watch != nil {
			watch(i)
		}
		results[i] = CellResult{Cell: c, Skipped: true}
		if ctx.Err() != nil {
			continue
		}
		if r, ok := s.find(c); ok {
			results[i] = r
		}
	}
	return results
}

// Stopped returns why the machine could run no more cells, or nil. These cells are not
// finished: the next run has them again.
func Stopped(results []CellResult) error {
	for i := range results {
		if err := results[i].Err; errors.Is(err, ErrMachine) {
			return err
		}
	}
	return nil
}

// Failures counts the cells that failed, and lists why.
func Failures(results []CellResult) (failed []string, skipped int) {
	for i := range results {
		switch r := &results[i]; {
		case r.Skipped:
			skipped++
		case r.Err != nil:
			failed = append(failed, fmt.Sprintf("%s on %s: %v", r.Cell.Method.Ref(), r.Cell.Instance.Name, r.Err))
		}
	}
	return failed, skipped
}
