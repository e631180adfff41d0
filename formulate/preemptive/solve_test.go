package preemptive_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/formulate"
	"yardstick/formulate/preemptive"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

var certified = branch.New(lpsolve.LP{})

// mustSolve solves an instance to proven optimality and checks the schedule.
func mustSolve(t testing.TB, in *sched.Instance, obj sched.Objective, o preemptive.Options) *exact.Result {
	t.Helper()
	r, err := preemptive.Solve(context.Background(), in, obj, certified, o)
	if err != nil {
		t.Fatal(err)
	}
	check(t, in, obj, r)
	if !r.Optimal() || r.Bound.Cmp(r.Cost) != 0 || r.Programs[0].Result.Termination != milp.Optimal {
		t.Fatalf("%+v: cost %v, lower bound %v", r.Programs[0].Result, r.Cost, r.Bound)
	}
	return r
}

func check(t testing.TB, in *sched.Instance, obj sched.Objective, r *exact.Result) {
	t.Helper()
	if r.Programs[0].Relation != formulate.Exact.String() || r.Schedule.Class != r.Class || !r.Class.Slotted {
		t.Fatalf("%v: a schedule of class %v in a result of class %v", r.Programs[0].Relation, r.Schedule.Class, r.Class)
	}
	v := schedtest.Verify(t, in, r.Schedule)
	if v.Cost(obj).Cmp(r.Cost) != 0 || r.Bound.Cmp(r.Cost) > 0 {
		t.Fatalf("%v: the schedule costs %v, the result says %v, no less than %v\n%+v", obj, v.Cost(obj), r.Cost, r.Bound, r.Schedule)
	}
}

// random returns an instance of n jobs in slots of six microseconds, on one
// server or two: a longer job released first, and short ones; loads and pauses
// of up to two slots. Unless whole, times are no multiples of the slot.
func random(r *rand.Rand, n int, whole bool) *sched.Instance {
	const slot = 6
	gpus := 2 + r.IntN(4)
	in := schedtest.Plain(schedtest.Servers(gpus), schedtest.Job(0, 1, 1))
	if r.IntN(2) == 0 {
		in.Cluster = schedtest.Servers(gpus-gpus/2, gpus/2)
	}
	in.Model, in.Slot, in.Jobs = sched.ModelPreemptive, slot, nil
	draw := func(from, to int) sched.Time {
		if whole {
			return sched.Time(from+r.IntN(to-from+1)) * slot
		}
		return sched.Time(max(from*slot, 1) + r.IntN((to-from+1)*slot))
	}
	overhead := r.IntN(5) / 2
	for i := range n {
		j := schedtest.Job(draw(0, 4), 1+r.IntN(gpus), draw(1, 2))
		if i == 0 {
			j = schedtest.Job(0, 1+r.IntN(gpus), draw(3, 6))
		}
		j.Load, j.Pause, j.Weight = draw(0, overhead), draw(0, overhead), float64(1+r.IntN(5))
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

var objectives = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan}

// TestAgainstSearch compares the optimum on three jobs with that of the search
// over states, which knows no linear program.
func TestAgainstSearch(t *testing.T) {
	stopped := 0
	for seed := range uint64(300) {
		r := schedtest.Rand(seed)
		in, obj := random(r, 3, seed%3 > 0), objectives[seed%5]
		var cost [2]*big.Rat
		for i, once := range []bool{false, true} {
			got := mustSolve(t, in, obj, preemptive.Options{NonPreemptive: once})
			want, err := bouts.Search{NonPreemptive: once}.Solve(context.Background(), in, obj, exact.Limits{})
			if err != nil || want.Termination != milp.Optimal {
				t.Fatal(want, err)
			}
			if got.Cost.Cmp(want.Cost) != 0 || got.Class != want.Class {
				t.Errorf("seed %d, %v, once %v: %v, want %v\n%+v", seed, obj, once, got.Cost, want.Cost, in)
			}
			cost[i] = got.Cost
		}
		if cost[0].Cmp(cost[1]) < 0 {
			stopped++
		}
	}
	if stopped < 20 {
		t.Errorf("stopping a job pays off in %d instances only: the test has become weak", stopped)
	}
}

// TestRelations checks what transformations do to the optimum.
func TestRelations(t *testing.T) {
	for seed := range uint64(20) {
		r := schedtest.Rand(seed)
		in, obj := random(r, 3, seed%2 == 0), objectives[seed%5]
		base := mustSolve(t, in, obj, preemptive.Options{}).Cost
		optimum := func(in *sched.Instance) *big.Rat { return mustSolve(t, in, obj, preemptive.Options{}).Cost }
		if got := optimum(schedtest.PermuteJobs(in, r.Perm(3))); got.Cmp(base) != 0 {
			t.Errorf("seed %d: %v with the jobs in another order, was %v", seed, got, base)
		}
		if got := optimum(schedtest.AddServer(in, sched.Server{GPUs: 1})); got.Cmp(base) > 0 {
			t.Errorf("seed %d: %v with a GPU more, was %v", seed, got, base)
		}
		if got := optimum(schedtest.Scale(in, 5)); got.Cmp(new(big.Rat).Mul(base, big.NewRat(5, 1))) != 0 {
			t.Errorf("seed %d: %v with times scaled by 5, was %v", seed, got, base)
		}
		shift := new(big.Rat)
		switch obj {
		case sched.TotalCompletion:
			shift.SetInt64(3 * 6)
		case sched.WeightedCompletion:
			for _, j := range in.Jobs {
				shift.Add(shift, big.NewRat(int64(6*j.Weight), 1))
			}
		case sched.Makespan:
			shift.SetInt64(6)
		}
		if got := optimum(schedtest.ShiftReleases(in, 6)); got.Cmp(shift.Add(shift, base)) != 0 {
			t.Errorf("seed %d, %v: %v with releases a slot later, was %v", seed, obj, got, base)
		}
	}
}

// TestPrograms solves the program as Build returns it, by another solver, and
// decodes its point.
func TestPrograms(t *testing.T) {
	for seed := range uint64(40) {
		in, obj := random(schedtest.Rand(seed), 3, seed%2 == 0), objectives[seed%5]
		o := preemptive.Options{NonPreemptive: seed%3 == 0}
		prog, err := preemptive.Build(in, obj, o)
		if obj == sched.MeanJCT {
			if !errors.Is(err, sched.ErrNotApplicable) {
				t.Errorf("a program for the mean: %v", err)
			}
			continue
		}
		if err != nil || prog.Model.Validate() != nil || prog.Relation != formulate.Exact {
			t.Fatal(err, prog.Model.Validate(), prog.Relation)
		}
		r, err := lpsolve.MIP{}.Solve(context.Background(), prog.Model, milp.Start{}, milp.Limits{})
		if err != nil || r.Termination != milp.Optimal {
			t.Fatal(r, err)
		}
		s, err := prog.Decode(r.X)
		if err != nil {
			t.Fatal(err)
		}
		v, _ := schedtest.Verify(t, in, s).Cost(obj).Float64()
		if want, _ := mustSolve(t, in, obj, o).Cost.Float64(); v != want || math.Abs(r.PrimalBound-want) > 1e-6 {
			t.Errorf("seed %d, %v: the point costs %v, its schedule %v, the optimum %v", seed, obj, r.PrimalBound, v, want)
		}
		for _, bad := range [][]float64{nil, make([]float64, len(r.X)-1), append([]float64{0.5}, r.X[1:]...)} {
			if _, err := prog.Decode(bad); err == nil {
				t.Errorf("seed %d: a point of %d values decodes", seed, len(bad))
			}
		}
	}
}

// TestRelaxation: where the speed of a job depends on its GPUs the program is a
// relaxation, and its bound no more than the optimum without stops.
func TestRelaxation(t *testing.T) {
	relaxed := 0
	for seed := range uint64(30) {
		in := schedtest.Preemptive(schedtest.Rand(seed), schedtest.Shape{Jobs: 2, Servers: 2, GPUs: 2, Uniform: true, Stages: 2, Traffic: true, Slot: 7})
		r, err := preemptive.Solve(context.Background(), in, sched.TotalCompletion, certified, preemptive.Options{Limits: milp.Limits{Nodes: 2}})
		if err != nil {
			t.Fatal(err)
		}
		_, best := schedtest.BruteForce(in, sched.TotalCompletion)
		if r.Bound.Cmp(best) > 0 {
			t.Errorf("seed %d: %v exceeds %v", seed, r.Bound, best)
		}
		if r.Programs[0].Relation == formulate.Relaxation.String() {
			relaxed++
			if r.Schedule != nil || r.Cost != nil || r.Optimal() {
				t.Errorf("seed %d: a schedule from a relaxation", seed)
			}
		}
	}
	if relaxed < 5 {
		t.Errorf("only %d relaxations", relaxed)
	}
}

// TestLimits: a solve cut short has bounds on either side of the optimum.
func TestLimits(t *testing.T) {
	cut := 0
	for seed := range uint64(6) {
		in := heavy(seed, 4)
		opt, err := bouts.Search{}.Solve(context.Background(), in, sched.Makespan, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := preemptive.Solve(context.Background(), in, sched.Makespan, certified, preemptive.Options{Limits: milp.Limits{Nodes: 1}})
		if err != nil {
			t.Fatal(err)
		}
		check(t, in, sched.Makespan, r)
		if r.Bound.Cmp(opt.Cost) > 0 || r.Cost.Cmp(opt.Cost) < 0 {
			t.Errorf("seed %d: the optimum %v is not in [%v, %v]", seed, opt.Cost, r.Bound, r.Cost)
		}
		if r.Programs[0].Result.Termination == milp.NodeLimit {
			cut++
		}
	}
	if cut == 0 {
		t.Error("no solve was cut short")
	}
}

func TestErrors(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(in *sched.Instance) sched.Objective
		want  error
	}{
		"no slots":   {func(in *sched.Instance) sched.Objective { in.Slot = 0; return sched.Makespan }, sched.ErrNotApplicable},
		"gang model": {func(in *sched.Instance) sched.Objective { in.Model = sched.ModelGang; return sched.Makespan }, sched.ErrNotApplicable},
		"maximised":  {func(in *sched.Instance) sched.Objective { in.Deadline = 1; return sched.ScheduledWeight }, sched.ErrNotApplicable},
		"tiny slots": {func(in *sched.Instance) sched.Objective { in.Slot = 1; return sched.Makespan }, sched.ErrNotApplicable},
	} {
		in := heavy(1, 3)
		obj := test.spoil(in)
		if _, err := preemptive.Solve(context.Background(), in, obj, certified, preemptive.Options{}); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	in := heavy(1, 3)
	in.Model = sched.ModelGang
	mustSolve(t, in, sched.TotalCompletion, preemptive.Options{NonPreemptive: true})
}
