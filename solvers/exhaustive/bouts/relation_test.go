package bouts_test

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"testing"
	"time"

	"yardstick/bounds"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/milp"
)

var objectives = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan}

// TestRelations checks what transformations do to the optimum, with five jobs
// on several servers.
func TestRelations(t *testing.T) {
	for seed := range uint64(60) {
		r := schedtest.Rand(seed)
		parts := 1 + r.IntN(2)
		jobs := randomPlain(r, 5, 4, parts, 1)
		for i := range jobs {
			jobs[i].weight = 1 + r.IntN(4)
		}
		in, obj := slotted(jobs, 6, parts, 2, 1, 1), objectives[seed%5]
		base := mustSolve(t, in, obj, bouts.Search{}).Cost
		optimum := func(in *sched.Instance, o bouts.Search) *big.Rat { return mustSolve(t, in, obj, o).Cost }

		if got := optimum(in, bouts.Search{NonPreemptive: true}); got.Cmp(base) < 0 {
			t.Errorf("seed %d: %v without stops, %v with", seed, got, base)
		}
		if got := optimum(schedtest.PermuteJobs(in, r.Perm(5)), bouts.Search{}); got.Cmp(base) != 0 {
			t.Errorf("seed %d: %v with the jobs in another order, was %v", seed, got, base)
		}
		if got := optimum(schedtest.PermuteServers(in, r.Perm(3)), bouts.Search{}); got.Cmp(base) != 0 {
			t.Errorf("seed %d: %v with the servers in another order, was %v", seed, got, base)
		}
		if got := optimum(schedtest.AddServer(in, sched.Server{GPUs: 1}), bouts.Search{}); got.Cmp(base) > 0 {
			t.Errorf("seed %d: %v with a GPU more, was %v", seed, got, base)
		}
		if got := optimum(schedtest.Scale(in, 5), bouts.Search{}); got.Cmp(new(big.Rat).Mul(base, big.NewRat(5, 1))) != 0 {
			t.Errorf("seed %d: %v with times scaled by 5, was %v", seed, got, base)
		}
		fine := *in
		fine.Slot = 2
		if got := optimum(&fine, bouts.Search{}); parts == 1 && got.Cmp(base) > 0 {
			t.Errorf("seed %d: %v on finer slots, was %v", seed, got, base)
		}
		free := *in
		free.Jobs = append([]sched.Job(nil), in.Jobs...)
		free.Jobs[seed%5].Pause = 0
		free.Jobs[(seed+1)%5].Load = 0
		if got := optimum(&free, bouts.Search{}); got.Cmp(base) > 0 {
			t.Errorf("seed %d: %v with a pause and a load less, was %v", seed, got, base)
		}
		later := new(big.Rat).Set(base)
		switch obj {
		case sched.TotalCompletion:
			later.Add(later, big.NewRat(5*6, 1))
		case sched.WeightedCompletion:
			for _, j := range jobs {
				later.Add(later, big.NewRat(int64(6*j.weight), 1))
			}
		case sched.Makespan:
			later.Add(later, big.NewRat(6, 1))
		}
		if got := optimum(schedtest.ShiftReleases(in, 6), bouts.Search{}); got.Cmp(later) != 0 {
			t.Errorf("seed %d, %v: %v with releases a slot later, was %v", seed, obj, got, base)
		}
	}
}

// TestBoundsBelow: what bounds class P, and so Ps, is no more than the optimum.
func TestBoundsBelow(t *testing.T) {
	for seed := range uint64(200) {
		r := schedtest.Rand(seed)
		parts := 1 + r.IntN(3)
		jobs := randomPlain(r, 2+r.IntN(4), 5, parts, 1)
		for i := range jobs {
			jobs[i].weight = 1 + r.IntN(3)*int(seed%2)
		}
		in, obj := slotted(jobs, 6, parts, 5), objectives[seed%5]
		opt := mustSolve(t, in, obj, bouts.Search{})
		all, err := bounds.All(in, obj)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){bounds.PackedSRPT, bounds.PackedBusyTime} {
			b, err := f(in, obj)
			if err == nil {
				all = append(all, b)
			} else if !errors.Is(err, sched.ErrNotApplicable) {
				t.Fatal(err)
			}
		}
		for _, b := range all {
			if err := b.Divides(opt.Class, obj); err != nil {
				t.Error(err)
			}
			if b.Value.Cmp(opt.Cost) > 0 {
				t.Errorf("seed %d, %v: %s = %v exceeds the optimum %v\n%+v", seed, obj, b.Name, b.Value, opt.Cost, in)
			}
		}
	}
}

// TestLimits: a search that is cut short has a schedule and a bound, on either
// side of the optimum, and says why.
func TestLimits(t *testing.T) {
	in := heavy(3, 10)
	opt := mustSolve(t, in, sched.Makespan, bouts.Search{})
	if opt.Nodes < 500 {
		t.Fatalf("%d states: the instance is too easy for this test", opt.Nodes)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, test := range []struct {
		ctx  context.Context
		o    bouts.Search
		l    exact.Limits
		want milp.Termination
	}{
		{context.Background(), bouts.Search{}, exact.Limits{Nodes: 100}, milp.NodeLimit},
		{context.Background(), bouts.Search{States: 50}, exact.Limits{}, milp.MemoryLimit},
		{context.Background(), bouts.Search{}, exact.Limits{Time: time.Nanosecond}, milp.TimeLimit},
		{cancelled, bouts.Search{}, exact.Limits{}, milp.Interrupted},
	} {
		r, err := test.o.Solve(test.ctx, in, sched.Makespan, test.l)
		if err != nil || r.Termination != test.want {
			t.Fatalf("%+v, %v: want %v", r, err, test.want)
		}
		check(t, in, sched.Makespan, r)
		if r.Bound.Cmp(opt.Cost) > 0 || r.Cost.Cmp(opt.Cost) < 0 || r.Bound.Sign() <= 0 {
			t.Errorf("%v: the optimum %v is not in [%v, %v]", test.want, opt.Cost, r.Bound, r.Cost)
		}
		again, err := test.o.Solve(test.ctx, in, sched.Makespan, test.l)
		if err != nil || !reflect.DeepEqual(r, again) {
			t.Errorf("%v: two searches differ", test.want)
		}
	}
}

// TestWeights: weights that are no integers, and far apart.
func TestWeights(t *testing.T) {
	jobs := []plain{{0, 1, 1, 8, 1, 1}, {2, 1, 1, 2, 1, 1}, {3, 1, 0, 1, 0, 1}}
	in := slotted(jobs, sched.Second, 1, 1)
	weigh := func(w ...float64) *sched.Instance {
		for i := range w {
			in.Jobs[i].Weight = w[i]
		}
		return in
	}
	const obj = sched.WeightedCompletion
	mustSolve(t, weigh(0.1, 0.15, 0.2), obj, bouts.Search{})
	mustSolve(t, weigh(1e-9, 2e-9, 1e-9), obj, bouts.Search{})
	mustSolve(t, weigh(1<<50, 1<<40, 3), obj, bouts.Search{})
	r, err := bouts.Search{}.Solve(context.Background(), weigh(0.1, 2.75, 1e6), obj, exact.Limits{})
	if err != nil || r.Termination != milp.Numerical {
		t.Fatalf("%+v, %v", r, err)
	}
	check(t, in, obj, r)
	if gap := new(big.Rat).Sub(r.Cost, r.Bound); gap.Cmp(big.NewRat(1, 1000)) > 0 {
		t.Errorf("a gap of %v after a complete search", gap)
	}
	if _, err := (bouts.Search{}).Solve(context.Background(), weigh(1e-12, 1, 1e9), obj, exact.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("weights 21 orders of magnitude apart: %v", err)
	}
}

func TestErrors(t *testing.T) {
	good := heavy(1, 3)
	for name, spoil := range map[string]func(in *sched.Instance) (sched.Objective, bouts.Search){
		"no slots": func(in *sched.Instance) (sched.Objective, bouts.Search) {
			in.Slot = 0
			return sched.Makespan, bouts.Search{}
		},
		"gang model": func(in *sched.Instance) (sched.Objective, bouts.Search) {
			in.Model = sched.ModelGang
			return sched.Makespan, bouts.Search{}
		},
		"maximised": func(in *sched.Instance) (sched.Objective, bouts.Search) {
			in.Deadline = 1
			return sched.ScheduledWeight, bouts.Search{}
		},
		"many jobs": func(in *sched.Instance) (sched.Objective, bouts.Search) {
			*in = *heavy(1, 25)
			return sched.Makespan, bouts.Search{}
		},
		"speeds": func(in *sched.Instance) (sched.Objective, bouts.Search) {
			in.Cluster = schedtest.Servers(2, 2)
			in.Jobs[0].Stages[0] = sched.Stage{Replicas: 2, Compute: 1, Params: 1e9}
			return sched.Makespan, bouts.Search{}
		},
		"tiny slots": func(in *sched.Instance) (sched.Objective, bouts.Search) {
			in.Slot = 1
			return sched.Makespan, bouts.Search{}
		},
		"late release": func(in *sched.Instance) (sched.Objective, bouts.Search) {
			in.Jobs[0].Release = sched.MaxTime
			return sched.Makespan, bouts.Search{}
		},
	} {
		in := *good
		in.Jobs = append([]sched.Job(nil), good.Jobs...)
		in.Jobs[0].Stages = append([]sched.Stage(nil), in.Jobs[0].Stages...)
		obj, o := spoil(&in)
		if r, err := o.Solve(context.Background(), &in, obj, exact.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	in := *good
	in.Model = sched.ModelGang
	mustSolve(t, &in, sched.TotalCompletion, bouts.Search{NonPreemptive: true})
}
