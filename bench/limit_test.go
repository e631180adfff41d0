package bench

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// slow works until its context ends, and counts what it does after that.
type slow struct {
	ref   suite.MethodRef
	fails bool
	after *int
}

func (m slow) Ref() suite.MethodRef { return m.ref }
func (m slow) Version() string      { return "1" }
func (m slow) Kind() Kind           { return Bound }

func (m slow) Run(ctx context.Context, _ Problem) ([]Outcome, error) {
	<-ctx.Done()
	*m.after++
	if m.fails {
		return nil, ctx.Err()
	}
	b := bounds.Bound{Name: "slow", Class: sched.Class{Kind: sched.N}, Objective: sched.TotalJCT, Value: big.NewRat(1, 1)}
	return []Outcome{{Termination: milp.Interrupted, Bounds: []bounds.Bound{b}}}, nil
}

// TestCellStopsAtItsLimit: a method is told to stop when its cell's time is over;
// what it has proven counts, as found within the limit. A user's interruption leaves
// nothing.
func TestCellStopsAtItsLimit(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 4))
	after := 0
	run := func(ctx context.Context, fails bool) CellResult {
		c := Cell{Instance: &suite.Instance{Instance: in}, Method: slow{suite.MethodRef{Name: "slow"}, fails, &after}, Objectives: []sched.Objective{sched.TotalJCT}}
		return RunCell(ctx, c, suite.Limits{Solve: time.Hour, Cell: time.Millisecond}, false)
	}
	r := run(context.Background(), false)
	if r.Err != nil || r.Skipped || len(r.Outcomes) != 1 || r.Outcomes[0].Termination != milp.TimeLimit || len(r.Outcomes[0].Bounds) != 1 || !r.Limited() {
		t.Errorf("at its limit: %+v", r)
	}
	if r := run(context.Background(), true); TerminationOf(r.Err) != milp.TimeLimit || errors.Is(r.Err, ErrPanicked) || !r.Limited() {
		t.Errorf("with nothing at its limit: %+v", r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, fails := range []bool{false, true} {
		if r := run(ctx, fails); !r.Skipped || r.Err != nil || r.Outcomes != nil {
			t.Errorf("interrupted: %+v", r)
		}
	}
	if after != 4 {
		t.Errorf("ran %d times", after)
	}
}
