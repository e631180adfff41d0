package preemptive_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/formulate/preemptive"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// gridFunc is SlottedGrid or ContinuousGrid.
type gridFunc func(context.Context, *sched.Instance, sched.Objective, milp.LPSolver, preemptive.GridOptions) (*preemptive.GridResult, error)

func mustGrid(t testing.TB, f gridFunc, in *sched.Instance, obj sched.Objective, o preemptive.GridOptions) *preemptive.GridResult {
	t.Helper()
	r, err := f(context.Background(), in, obj, lpsolve.LP{}, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.LP.Termination != milp.Optimal || r.Name != "grid-lp" || r.Proof == nil || r.Objective != obj || r.Class.Kind != sched.P0 {
		t.Fatalf("%+v, %+v", r, r.LP)
	}
	return r
}

func optimum(t testing.TB, in *sched.Instance, obj sched.Objective) *exact.Result {
	t.Helper()
	r, err := bouts.Search{}.Solve(context.Background(), in, obj, exact.Limits{})
	if err != nil || r.Termination != milp.Optimal {
		t.Fatal(r, err)
	}
	schedtest.Verify(t, in, r.Schedule)
	return r
}

// TestGridBelowOptimum compares both programs with optima. A continuous bound is
// also compared with schedules on finer slots, on any grid of its own.
func TestGridBelowOptimum(t *testing.T) {
	for seed := range uint64(160) {
		r := schedtest.Rand(seed)
		in, obj := random(r, 2+r.IntN(3), seed%2 == 0), objectives[seed%4]
		opt := optimum(t, in, obj)
		for _, f := range []gridFunc{preemptive.SlottedGrid, preemptive.ContinuousGrid} {
			for _, o := range []preemptive.GridOptions{{}, {Slot: sched.Time(1 + r.IntN(40))}} {
				b := mustGrid(t, f, in, obj, o)
				if b.Value.Cmp(opt.Cost) > 0 || b.Divides(opt.Class, obj) != nil {
					t.Errorf("seed %d, %v: the %v bound %v on slots of %d exceeds %v\n%+v", seed, obj, b.Class, b.Value, b.Slot, opt.Cost, in)
				}
			}
		}
		fine := *in
		fine.Slot = []sched.Time{1, 2, 3}[r.IntN(3)]
		best := optimum(t, &fine, obj)
		for range 3 {
			b := mustGrid(t, preemptive.ContinuousGrid, in, obj, preemptive.GridOptions{Slot: sched.Time(1 + r.IntN(15))})
			if b.Value.Cmp(best.Cost) > 0 {
				t.Errorf("seed %d, %v: the continuous bound %v on slots of %d exceeds %v on slots of %d\n%+v", seed, obj, b.Value, b.Slot, best.Cost, fine.Slot, in)
			}
			if err := b.Divides(sched.Class{Kind: sched.P}, obj); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestClassesApart: a slotted bound never divides a continuous schedule, and
// would be wrong if it did.
func TestClassesApart(t *testing.T) {
	const s, obj = sched.Second, sched.TotalCompletion
	continuous, slotted := sched.Class{Kind: sched.P}, sched.Class{Kind: sched.P, Slotted: true}

	// (g, d) = (2,2) (2,2) (2,1) (3,2) on four GPUs: 11 s on whole seconds, 10.5 s
	// on half seconds.
	in := schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 2, 2*s), schedtest.Job(0, 2, 2*s), schedtest.Job(0, 2, s), schedtest.Job(0, 3, 2*s))
	in.Model, in.Slot = sched.ModelPreemptive, s
	whole := mustSolve(t, in, obj, preemptive.Options{})
	if whole.Cost.Cmp(big.NewRat(int64(11*s), 1)) != 0 {
		t.Errorf("on whole seconds: %v", whole.Cost)
	}
	half := *in
	half.Slot = s / 2
	fine := mustSolve(t, &half, obj, preemptive.Options{})
	if fine.Cost.Cmp(big.NewRat(int64(21*s/2), 1)) != 0 {
		t.Errorf("on half seconds: %v", fine.Cost)
	}
	for _, b := range []bounds.Bound{
		mustGrid(t, preemptive.SlottedGrid, in, obj, preemptive.GridOptions{}).Bound,
		{Name: "bouts", Class: whole.Class, Objective: obj, Value: whole.Bound},
	} {
		if b.Divides(continuous, obj) == nil || b.Divides(slotted, obj) != nil {
			t.Errorf("%s of class %v divides what it must not", b.Name, b.Class)
		}
	}
	b := mustGrid(t, preemptive.ContinuousGrid, in, obj, preemptive.GridOptions{})
	if b.Value.Cmp(fine.Cost) > 0 || b.Divides(continuous, obj) != nil || b.Divides(slotted, obj) != nil {
		t.Errorf("the continuous bound is %v", b.Value)
	}

	// Half a slot of work, from half a slot on.
	one := schedtest.Plain(schedtest.Servers(1), schedtest.Job(s/2, 1, s/2))
	one.Model, one.Slot = sched.ModelPreemptive, s
	for _, test := range []struct {
		f    gridFunc
		want sched.Time
	}{{preemptive.SlottedGrid, 2 * s}, {preemptive.ContinuousGrid, s}} {
		if b := mustGrid(t, test.f, one, obj, preemptive.GridOptions{}); b.Value.Cmp(big.NewRat(int64(test.want), 1)) != 0 {
			t.Errorf("one job: the %v bound is %v, want %v", b.Class, b.Value, test.want)
		}
	}
}

// TestSlotsThatFit: where all data are multiples of the slot the two programs are
// the same, and at least the mean busy time bound with the best function.
func TestSlotsThatFit(t *testing.T) {
	for seed := range uint64(60) {
		in, obj := random(schedtest.Rand(seed), 4, true), objectives[seed%4]
		a := mustGrid(t, preemptive.SlottedGrid, in, obj, preemptive.GridOptions{Slot: in.Slot})
		b := mustGrid(t, preemptive.ContinuousGrid, in, obj, preemptive.GridOptions{Slot: in.Slot})
		if a.Value.Cmp(b.Value) != 0 {
			t.Errorf("seed %d: slotted %v, continuous %v", seed, a.Value, b.Value)
		}
		busy, err := bounds.PackedBusyTime(in, obj)
		if err != nil {
			t.Fatal(err)
		}
		x, _ := a.Value.Float64()
		if y, _ := busy.Value.Float64(); x < y*(1-1e-9) {
			t.Errorf("seed %d: grid-lp %v, %s %v", seed, x, busy.Name, y)
		}
	}
}

func TestGridErrors(t *testing.T) {
	in := random(schedtest.Rand(1), 3, true)
	for _, f := range []gridFunc{preemptive.SlottedGrid, preemptive.ContinuousGrid} {
		if _, err := f(context.Background(), in, sched.Makespan, lpsolve.LP{}, preemptive.GridOptions{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("makespan: %v", err)
		}
		if _, err := f(context.Background(), in, sched.TotalJCT, lpsolve.LP{}, preemptive.GridOptions{Slot: -1}); err == nil {
			t.Error("a negative slot")
		}
	}
	long := *in
	long.Jobs = append([]sched.Job(nil), in.Jobs...)
	long.Jobs[0].Release = sched.MaxTime
	if _, err := preemptive.ContinuousGrid(context.Background(), &long, sched.TotalJCT, lpsolve.LP{}, preemptive.GridOptions{Slot: 1}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("too many slots: %v", err)
	}
	in.Slot = 0
	if _, err := preemptive.SlottedGrid(context.Background(), in, sched.TotalJCT, lpsolve.LP{}, preemptive.GridOptions{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("no slots: %v", err)
	}
}
