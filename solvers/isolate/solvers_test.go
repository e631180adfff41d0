//go:build cgo

package isolate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/draffensperger/golp"

	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func TestMain(m *testing.M) {
	Main(lookup)
	os.Setenv("GORACE", "atexit_sleep_ms=0") // a program built with -race would sleep a second as it exits
	parentOfHanging()
	os.Exit(m.Run())
}

// lookup knows lp_solve, our search, which uses what it is given to start from,
// and solvers that misbehave.
func lookup(name string) (milp.Solver, error) {
	switch name {
	case "lpsolve-mip":
		return lpsolve.MIP{}, nil
	case "branch":
		return branch.New(lpsolve.LP{}), nil
	}
	if f := misbehaviours[name]; f != nil {
		return solverFunc(f), nil
	}
	return nil, fmt.Errorf("there is no solver %q", name)
}

// startedFile is the variable that names the file in which a solver says that it
// has started.
const startedFile = "YARDSTICK_TEST_STARTED"

func sayStarted() {
	if path := os.Getenv(startedFile); path != "" {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			panic(err)
		}
	}
}

type solverFunc func(context.Context, *milp.Model, milp.Limits) (*milp.Result, error)

func (solverFunc) Name() string { return "test" }

func (f solverFunc) Solve(ctx context.Context, m *milp.Model, _ milp.Start, l milp.Limits) (*milp.Result, error) {
	return f(ctx, m, l)
}

var misbehaviours = map[string]solverFunc{
	"segfault": func(context.Context, *milp.Model, milp.Limits) (*milp.Result, error) {
		new(golp.LP).NumRows() // lp_solve reads through a null pointer
		return nil, nil
	},
	"panic": func(context.Context, *milp.Model, milp.Limits) (*milp.Result, error) { panic("out of luck") },
	"exit":  func(context.Context, *milp.Model, milp.Limits) (*milp.Result, error) { os.Exit(3); return nil, nil },
	"error": func(context.Context, *milp.Model, milp.Limits) (*milp.Result, error) {
		return nil, errors.New("no licence")
	},
	"hang": func(context.Context, *milp.Model, milp.Limits) (*milp.Result, error) {
		sayStarted()
		time.Sleep(time.Hour)
		return nil, nil
	},
	"patient": func(ctx context.Context, m *milp.Model, _ milp.Limits) (*milp.Result, error) {
		sayStarted()
		<-ctx.Done()
		r := milp.NoResult(milp.Interrupted)
		r.X, r.Primal, r.PrimalBound = []float64{1}, milp.Proven, 1
		return r, nil
	},
	"glutton": func(context.Context, *milp.Model, milp.Limits) (*milp.Result, error) {
		var all [][]byte
		for len(all) < 75 { // a half above the limit of the test: a busy machine looks late
			block := make([]byte, 4<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			all = append(all, block)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Minute) // it is killed before
		return nil, fmt.Errorf("%d blocks fit", len(all))
	},
	"chatty": func(ctx context.Context, m *milp.Model, l milp.Limits) (*milp.Result, error) {
		fmt.Println("to standard output")
		fmt.Fprintln(os.Stderr, "to standard error")
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil { // as from a terminal
			return nil, err
		}
		time.Sleep(10 * time.Millisecond)
		return lpsolve.MIP{}.Solve(ctx, m, milp.Start{}, l)
	},
	"nested": func(ctx context.Context, m *milp.Model, l milp.Limits) (*milp.Result, error) {
		return Solver{Solver: "lpsolve-mip"}.Solve(ctx, m, milp.Start{}, l)
	},
	"liar": func(context.Context, *milp.Model, milp.Limits) (*milp.Result, error) {
		r := milp.NoResult(milp.Optimal)
		r.X, r.Primal, r.PrimalBound, r.Dual, r.DualBound = []float64{0.5}, milp.Proven, 0.5, milp.Claimed, 0.5
		return r, nil
	},
	"contradiction": func(context.Context, *milp.Model, milp.Limits) (*milp.Result, error) {
		return milp.NoResult(milp.Optimal), nil
	},
	"short": func(context.Context, *milp.Model, milp.Limits) (*milp.Result, error) {
		r := milp.NoResult(milp.TimeLimit)
		r.X, r.Primal, r.PrimalBound = []float64{}, milp.Claimed, 0.5
		return r, nil
	},
}
