package certify_test

import (
	"context"
	"errors"
	"testing"

	"yardstick/bounds"
	"yardstick/formulate/preemptive"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// TestPairs: the dual values of the program over pairs of jobs.
func TestPairs(t *testing.T) {
	for seed := range uint64(24) {
		r := schedtest.Rand(seed)
		s := shape(r, seed)
		s.Jobs = 1 + r.IntN(4)
		if seed%2 == 0 {
			s.Slot = sched.Second
		}
		in := schedtest.Sharing(r, s)
		if seed%3 == 2 { // interference by accumulation
			in = schedtest.Rowed(r, in, 3, 4)
		}
		for _, obj := range minimised[:3] {
			for _, slotted := range []bool{false, true} {
				b, err := bounds.PairLP(context.Background(), in, obj, lpsolve.LP{}, milp.Limits{}, bounds.PairOptions{Slotted: slotted, Slot: 3 * sched.Second})
				if errors.Is(err, sched.ErrNotApplicable) {
					continue
				}
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if s := agree(t, in, &b.Bound); s.Proven.Cmp(b.Value) != 0 && obj != sched.WeightedCompletion {
					t.Errorf("seed %d: %v is %v, proven %v", seed, obj, b.Value.RatString(), s.Proven.RatString())
				}
			}
		}
	}
}

// TestGrids: those of the program over the slots of a grid.
func TestGrids(t *testing.T) {
	for seed := range uint64(24) {
		r := schedtest.Rand(seed)
		s := shape(r, seed)
		s.Slices, s.Graph = 0, false
		if seed%2 == 0 {
			s.Slot = sched.Second
		}
		in := schedtest.Preemptive(r, s)
		for _, obj := range minimised[:4] {
			for _, f := range []func(context.Context, *sched.Instance, sched.Objective, milp.LPSolver, preemptive.GridOptions) (*preemptive.GridResult, error){
				preemptive.ContinuousGrid, preemptive.SlottedGrid} {
				b, err := f(context.Background(), in, obj, lpsolve.LP{}, preemptive.GridOptions{Slot: sched.Second / 2 * sched.Time(1+seed%4)})
				if errors.Is(err, sched.ErrNotApplicable) {
					continue
				}
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if s := agree(t, in, &b.Bound); s.Proven.Cmp(b.Value) != 0 && obj != sched.WeightedCompletion {
					t.Errorf("seed %d: %s of %v is %v, proven %v", seed, b.Proof.Kind, obj, b.Value.RatString(), s.Proven.RatString())
				}
			}
		}
	}
}
