//go:build cgo

package lpsolve

import (
	"context"
	"math"
	"regexp"
	"testing"
	"time"

	"yardstick/solvers/milp"
	"yardstick/solvers/solvertest"
)

// late bounds how long after its time a solve may end. The machine may be
// busy: one of many attempts must keep it.
const late = 50 * time.Millisecond

func bestOf(t *testing.T, what string, f func() time.Duration) {
	t.Helper()
	best := time.Duration(math.MaxInt64)
	for begin := time.Now(); time.Since(begin) < 2*time.Minute; {
		if best = min(best, f()); best <= late {
			return
		}
	}
	t.Errorf("%s came %v late at best, for two minutes", what, best)
}

func checkStopped(t *testing.T, res *milp.Result, err error, want milp.Termination) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Validate(); err != nil {
		t.Error(err)
	}
	if res.Termination != want {
		t.Errorf("%s, want %s", res.Termination, want)
	}
	if math.Abs(res.PrimalBound) >= 1e29 && !math.IsInf(res.PrimalBound, 0) || math.Abs(res.DualBound) >= 1e29 && !math.IsInf(res.DualBound, 0) {
		t.Errorf("lp_solve's infinity escapes: %v, %v", res.PrimalBound, res.DualBound)
	}
}

// At a time limit lp_solve offers the values of an infeasible point and calls
// them variables: they must not be seen. The program can be solved again.
func TestLinearTimeLimit(t *testing.T) {
	m := solvertest.Packing(600, 1200, 1)
	p, err := LP{}.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Solve(context.Background(), milp.Limits{Time: 20 * time.Millisecond})
	checkStopped(t, res, err, milp.TimeLimit)
	if res.X != nil || res.RowDuals != nil || res.Primal != milp.None || res.Dual != milp.None {
		t.Errorf("values of an unfinished program: %+v", res)
	}
	certify(t, 1, m, solveOpen(t, p))

	bestOf(t, "deadline", func() time.Duration {
		p, err := LP{}.Open(m)
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.Solve(context.Background(), milp.Limits{Time: 20 * time.Millisecond})
		checkStopped(t, res, err, milp.TimeLimit)
		return res.Stats.Wall - 20*time.Millisecond
	})
}

func TestIntegerTimeLimit(t *testing.T) {
	res, err := MIP{}.Solve(context.Background(), solvertest.MarketSplit(4, 30, 1), milp.Start{}, milp.Limits{Time: 30 * time.Millisecond})
	checkStopped(t, res, err, milp.TimeLimit)
	if res.Primal != milp.None || res.Dual != milp.None {
		t.Errorf("no point was to be found: %+v", res)
	}

	m := solvertest.Integral(solvertest.Packing(30, 100, 3))
	limit := 200 * time.Millisecond
	for res.Primal == milp.None && limit < time.Minute { // until there is an incumbent: the machine may be busy
		res, err = MIP{}.Solve(context.Background(), m, milp.Start{}, milp.Limits{Time: limit})
		checkStopped(t, res, err, milp.TimeLimit)
		limit *= 2
	}
	if res.Primal != milp.Proven || res.Dual != milp.None || milp.Check(m, res.X) != nil {
		t.Errorf("incumbent at the limit: %+v", res)
	}
}

func TestNodeLimit(t *testing.T) {
	m := solvertest.MarketSplit(4, 30, 1)
	res, err := MIP{}.Solve(context.Background(), m, milp.Start{}, milp.Limits{Nodes: 500})
	checkStopped(t, res, err, milp.NodeLimit)
	if res.Stats.Nodes < 500 || res.Stats.Nodes > 510 || res.Stats.Iterations == 0 {
		t.Errorf("%+v", res.Stats)
	}
	again, err := MIP{}.Solve(context.Background(), m, milp.Start{}, milp.Limits{Nodes: 500})
	checkStopped(t, again, err, milp.NodeLimit)
	if again.Stats.Nodes != res.Stats.Nodes || again.Stats.Iterations != res.Stats.Iterations {
		t.Errorf("a node limit does not reproduce: %+v, then %+v", res.Stats, again.Stats)
	}
}

func TestCancel(t *testing.T) {
	linear, integer := solvertest.Packing(600, 1200, 1), solvertest.MarketSplit(4, 30, 1)
	for name, solve := range map[string]func(context.Context) (*milp.Result, error){
		"linear": func(ctx context.Context) (*milp.Result, error) {
			p, err := LP{}.Open(linear)
			if err != nil {
				return nil, err
			}
			return p.Solve(ctx, milp.Limits{})
		},
		"integer": func(ctx context.Context) (*milp.Result, error) {
			return MIP{}.Solve(ctx, integer, milp.Start{}, milp.Limits{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bestOf(t, "cancellation", func() time.Duration {
				ctx, cancel := context.WithCancel(context.Background())
				var at time.Time
				timer := time.AfterFunc(30*time.Millisecond, func() { at = time.Now(); cancel() })
				defer timer.Stop()
				res, err := solve(ctx)
				checkStopped(t, res, err, milp.Interrupted)
				return time.Since(at)
			})
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			res, err := solve(ctx)
			checkStopped(t, res, err, milp.Interrupted)
		})
	}
}

func TestVersion(t *testing.T) {
	if v := Version(); !regexp.MustCompile(`^5\.5\.\d+\.\d+$`).MatchString(v) {
		t.Errorf("version %q", v)
	}
}
