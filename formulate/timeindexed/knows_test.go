package timeindexed_test

import (
	"context"
	"errors"
	"testing"

	"yardstick/formulate"
	"yardstick/formulate/timeindexed"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// On integer data every program closes the interval, on the optimum of exhaustive
// search. The one that chooses servers is exact.
func TestProgramsAgreeWithExhaustive(t *testing.T) {
	r := schedtest.Rand(40)
	for k := range tier.Draws(20, 60) {
		in := whole(r, 3+r.IntN(3), 2+r.IntN(2), 2+r.IntN(2))
		for i := range in.Jobs { // crowd the jobs
			in.Jobs[i].Release = in.Jobs[i].Release / 3 / sched.Second * sched.Second
		}
		obj := objectives[k%len(objectives)]
		want := optimum(t, in, obj)
		for _, x := range []timeindexed.Program{timeindexed.Starts, timeindexed.Configurations, timeindexed.Servers} {
			got := solve(t, in, obj, timeindexed.Options{Slot: sched.Second, Program: x})
			if !got.Optimal() || got.Cost.Cmp(want) != 0 {
				t.Errorf("instance %d, %v, %v: optimum %v, interval [%v, %v]", k, obj, x, want, got.Bound, got.Cost)
			}
			for _, run := range got.Programs {
				if x == timeindexed.Servers && run.Relation != formulate.Exact.String() {
					t.Errorf("instance %d: the program with servers is called %v", k, run.Relation)
				}
			}
		}
	}
}

// On any data and with any slot and limit, the interval of every program holds the
// optimum.
func TestProgramsHoldOptimum(t *testing.T) {
	r := schedtest.Rand(41)
	for k := range tier.Draws(8, 24) {
		in := odd(r, 3+r.IntN(2), 2+r.IntN(2), 2+r.IntN(2))
		obj := objectives[k%len(objectives)]
		want := optimum(t, in, obj)
		for _, x := range []timeindexed.Program{timeindexed.Configurations, timeindexed.Servers} {
			for _, o := range []timeindexed.Options{{Slot: sched.Second, Limits: milp.Limits{Nodes: 20}}, {Slot: 4 * sched.Second, Limits: milp.Limits{Nodes: 100}}, {Slot: sched.Second, Limits: milp.Limits{Nodes: 1}}} {
				o.Program = x
				if got := solve(t, in, obj, o); !within(got, want) {
					t.Errorf("instance %d, %v, %v, %+v: optimum %v, interval [%v, %v]", k, obj, x, o, want, got.Bound, got.Cost)
				}
			}
		}
	}
}

// What lp_solve only claims is no schedule until its servers have been checked.
func TestProgramsOfClaims(t *testing.T) {
	r := schedtest.Rand(42)
	for k := range 12 {
		in := whole(r, 3+r.IntN(2), 2, 3)
		obj := objectives[k%4]
		want := optimum(t, in, obj)
		for _, x := range []timeindexed.Program{timeindexed.Configurations, timeindexed.Servers} {
			if got := solveBy(t, lpsolve.MIP{}, in, obj, timeindexed.Options{Slot: sched.Second, Program: x}); !within(got, want) || got.Cost.Cmp(want) != 0 {
				t.Errorf("instance %d, %v, %v: optimum %v, interval [%v, %v]", k, obj, x, want, got.Bound, got.Cost)
			}
		}
	}
}

// A program that knows of servers is refused where it would be too large.
func TestProgramsTooLarge(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(20, 20), schedtest.Job(0, 30, sched.Second), schedtest.Job(0, 30, sched.Second), schedtest.Job(0, 5, 3*sched.Second))
	in.Cluster.Intra = 1e18
	for i := range 2 {
		in.Jobs[i].Stages[0].Params = 1e9
	}
	for x, slot := range map[timeindexed.Program]sched.Time{timeindexed.Configurations: 0, timeindexed.Servers: sched.Second / 200} {
		_, err := timeindexed.Solve(context.Background(), in, sched.TotalCompletion, branch.New(lpsolve.LP{}), timeindexed.Options{Slot: slot, Program: x})
		if !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%v: %v", x, err)
		}
	}
}
