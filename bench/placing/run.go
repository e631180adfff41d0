package placing

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bench"
	"yardstick/internal/output"
	"yardstick/solvers/isolate"
	"yardstick/solvers/milp"
)

// Options say how to run methods. The zero value sets no limit and shows
// nothing.
type Options struct {
	Limits   milp.Limits
	Progress func(done, total int, next string) // called before every run; nil for no call
	Debug    bool                               // keep the stack of a method that panics
}

// Result is what became of one method on one case.
type Result struct {
	Case   *Case
	Method Method
	Answer
	Alpha, Cut *big.Rat // of the placement, verified; nil if there is none
	Err        error    // the method could not run, panicked, or returned an invalid placement
	Skipped    bool     // interrupted before or while it ran
}

// Run runs every method on every case, one at a time, so that times can be
// compared, and checks every placement. After ctx is cancelled no further
// method starts and the running one is told to stop; the others are Skipped. So are
// they after the first that the machine cannot run, whose error is bench.ErrMachine.
func Run(ctx context.Context, cases []*Case, methods []Method, o Options) []Result {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var results []Result
	for _, c := range cases {
		for _, m := range methods {
			r := Result{Case: c, Method: m}
			if ctx.Err() != nil {
				r.Skipped = true
				results = append(results, r)
				continue
			}
			if o.Progress != nil {
				o.Progress(len(results), len(cases)*len(methods), m.Name()+" on "+c.Name())
			}
			if r = runOne(ctx, r, o); errors.Is(r.Err, isolate.ErrStart) || output.Full(r.Err) {
				r.Err = fmt.Errorf("%w: %w", bench.ErrMachine, r.Err)
				stop()
			}
			results = append(results, r)
		}
	}
	return results
}

func runOne(ctx context.Context, r Result, o Options) (out Result) {
	defer func() {
		if p := recover(); p != nil {
			out = r
			out.Err = bench.Panicked(r.Method.Name(), p, o.Debug)
		}
	}()
	out = r
	if out.Answer, out.Err = r.Method.Run(ctx, r.Case, o.Limits); out.Err != nil {
		return out
	}
	if ctx.Err() != nil && (out.Termination == milp.Interrupted || out.Termination == milp.Crashed) {
		r.Skipped = true
		return r
	}
	if out.Placement == nil {
		return out
	}
	if out.Alpha, out.Cut, out.Err = r.Case.evaluate(out.Placement); out.Err != nil {
		out.Err = fmt.Errorf("%s on %s: %w", r.Method.Name(), r.Case.Name(), out.Err)
		return out
	}
	if r.Method.Minimises == Alpha && out.Evidence == milp.Proven {
		out.Lower = r.Case.raise(out.Lower, out.Alpha)
	}
	if r.Method.Minimises != None && out.Program == nil { // a search: it ends at the optimum, or at its limit
		if out.Termination = milp.NodeLimit; out.proven() {
			out.Termination = milp.Optimal
		}
	}
	return out
}

// value returns what the method minimises, as it reached it; nil if it reached
// nothing or minimises nothing.
func (r *Result) value() *big.Rat {
	switch r.Method.Minimises {
	case Alpha:
		return r.Alpha
	case Cut:
		return r.Cut
	}
	return nil
}

// proven reports whether the method's own bound proves its placement optimal.
func (r *Result) proven() bool {
	v := r.value()
	return v != nil && r.Evidence == milp.Proven && r.Lower.Cmp(v) == 0
}

// Failures lists why methods failed, and counts what was not run.
func Failures(results []Result) (failed []error, skipped int) {
	for i := range results {
		switch r := &results[i]; {
		case r.Skipped:
			skipped++
		case r.Err != nil:
			failed = append(failed, r.Err)
		}
	}
	return failed, skipped
}
