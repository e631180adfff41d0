package bouts_test

import (
	"context"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/milp"
)

// mustSolve solves an instance to proven optimality and checks the schedule.
func mustSolve(t testing.TB, in *sched.Instance, obj sched.Objective, o bouts.Search) *exact.Result {
	t.Helper()
	r, err := o.Solve(context.Background(), in, obj, exact.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, in, obj, r)
	if r.Termination != milp.Optimal || r.Bound.Cmp(r.Cost) != 0 {
		t.Fatalf("%s: cost %v, lower bound %v", r.Termination, r.Cost, r.Bound)
	}
	return r
}

// check verifies a result's schedule and cost.
func check(t testing.TB, in *sched.Instance, obj sched.Objective, r *exact.Result) {
	t.Helper()
	if r.Schedule.Class != r.Class || !r.Class.Slotted {
		t.Fatalf("a schedule of class %v in a result of class %v", r.Schedule.Class, r.Class)
	}
	v := schedtest.Verify(t, in, r.Schedule)
	if v.Cost(obj).Cmp(r.Cost) != 0 || r.Bound.Cmp(r.Cost) > 0 {
		t.Fatalf("%v: the schedule costs %v, the result says %v, no less than %v\n%+v", obj, v.Cost(obj), r.Cost, r.Bound, r.Schedule)
	}
}

func slots(n int, slot sched.Time) *big.Rat { return new(big.Rat).SetInt64(int64(n) * int64(slot)) }

// TestAgainstPlain compares the optimum with that of the plain search, which
// leaves nothing out, on three jobs: whole slots and parts of slots.
func TestAgainstPlain(t *testing.T) {
	stopped := 0 // instances in which stopping a job pays off
	for seed := range uint64(600) {
		r := schedtest.Rand(seed)
		parts := 1 + int(seed%3)
		jobs := randomPlain(r, 3-r.IntN(2)*r.IntN(3), 1+r.IntN(4), parts, int(seed/3%3))
		gpus := 0
		for i := range jobs {
			if seed%2 == 0 {
				jobs[i].weight = 1 + r.IntN(5)
			}
			gpus = max(gpus, jobs[i].gang)
		}
		gpus += r.IntN(2)
		in := slotted(jobs, 6, parts, gpus)
		var cost [2]int
		for i, once := range []bool{false, true} {
			for _, obj := range []sched.Objective{sched.WeightedCompletion, sched.Makespan} {
				want := leastPlain(jobs, gpus, parts, !once, obj == sched.Makespan)
				if got := mustSolve(t, in, obj, bouts.Search{NonPreemptive: once}).Cost; got.Cmp(slots(want, 6)) != 0 {
					t.Errorf("seed %d, once %v, %v: %v, want %d slots\n%+v on %d GPUs, %d parts", seed, once, obj, got, want, jobs, gpus, parts)
				}
				if obj != sched.Makespan {
					cost[i] = want
				}
			}
		}
		if cost[0] < cost[1] {
			stopped++
		}
	}
	if stopped < 30 {
		t.Errorf("stopping a job pays off in %d instances only: the test has become weak", stopped)
	}
	t.Logf("stopping a job pays off in %d of 600", stopped)
}

// TestGridMatters: four gangs without overheads on four GPUs, (g, d) = (2,2)
// (2,2) (2,1) (3,2). If they start and stop at whole seconds only, the least
// total completion time is 11 s; at half seconds it is 10.5 s. So the optimum
// of a slotted class bounds schedules on its own slots only.
func TestGridMatters(t *testing.T) {
	jobs := []plain{{0, 2, 0, 2, 0, 1}, {0, 2, 0, 2, 0, 1}, {0, 2, 0, 1, 0, 1}, {0, 3, 0, 2, 0, 1}}
	in := slotted(jobs, sched.Second, 1, 4)
	whole := mustSolve(t, in, sched.TotalCompletion, bouts.Search{})
	if whole.Cost.Cmp(slots(11, sched.Second)) != 0 {
		t.Errorf("on whole seconds: %v", whole.Cost)
	}
	in.Slot = sched.Second / 2
	half := mustSolve(t, in, sched.TotalCompletion, bouts.Search{})
	if half.Cost.Cmp(slots(21, sched.Second/2)) != 0 {
		t.Errorf("on half seconds: %v", half.Cost)
	}
	b := bounds.Bound{Name: "bout-dp", Class: whole.Class, Objective: sched.TotalCompletion, Value: whole.Bound}
	if b.Divides(sched.Class{Kind: sched.P}, sched.TotalCompletion) == nil || b.Divides(whole.Class, sched.TotalCompletion) != nil {
		t.Errorf("the optimum of class %v divides what it must not", whole.Class)
	}
}

// TestByHand solves instances whose optimum is known, on one GPU and in slots.
func TestByHand(t *testing.T) {
	for _, test := range []struct {
		name string
		jobs []plain
		obj  sched.Objective
		once bool
		want int
	}{
		{"alone", []plain{{3, 1, 2, 4, 1, 1}}, sched.TotalCompletion, false, 9},
		{"stopped for a short one", []plain{{0, 1, 1, 20, 1, 1}, {5, 1, 0, 1, 0, 1}}, sched.TotalCompletion, false, 6 + 24},
		{"not stopped", []plain{{0, 1, 1, 20, 1, 1}, {5, 1, 0, 1, 0, 1}}, sched.TotalCompletion, true, 6 + 27},
		{"too dear to stop", []plain{{0, 1, 9, 12, 9, 1}, {12, 1, 0, 1, 0, 1}}, sched.TotalCompletion, false, 21 + 22},
		{"heavy enough to wait for", []plain{{0, 1, 9, 12, 9, 1}, {12, 1, 0, 1, 0, 20}}, sched.WeightedCompletion, false, 20*13 + 34},
		{"waiting pays", []plain{{0, 1, 4, 4, 4, 1}, {1, 1, 0, 1, 0, 1}}, sched.TotalCompletion, false, 2 + 10},
		{"makespan", []plain{{0, 1, 1, 20, 1, 1}, {5, 1, 0, 1, 0, 1}}, sched.Makespan, false, 22},
	} {
		r := mustSolve(t, slotted(test.jobs, sched.Second, 1, 1), test.obj, bouts.Search{NonPreemptive: test.once})
		if r.Cost.Cmp(slots(test.want, sched.Second)) != 0 {
			t.Errorf("%s: %v, want %d s\n%+v", test.name, r.Cost, test.want, r.Schedule)
		}
	}
}
