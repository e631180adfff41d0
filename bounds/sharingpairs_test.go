package bounds_test

import (
	"context"
	"errors"
	"testing"

	"yardstick/bounds"
	"yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func pairLP(t testing.TB, in *sched.Instance, obj sched.Objective, o bounds.PairOptions) *bounds.PairResult {
	t.Helper()
	r, err := bounds.PairLP(context.Background(), in, obj, lpsolve.LP{}, milp.Limits{}, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.LP == nil || r.LP.Termination != milp.Optimal || r.Class != (sched.Class{Kind: sched.SP0, Slotted: o.Slotted}) {
		t.Fatalf("%+v", r)
	}
	return r
}

var totals = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT}

// TestPairLPBelowBruteForce compares the program of slots, and those of any
// grid, with the optimum of class Ss by enumeration; the first also with the
// fluid bound, which it is not below.
func TestPairLPBelowBruteForce(t *testing.T) {
	for seed := range uint64(80) {
		in := slots(seed)
		if seed >= 50 { // interference by accumulation
			in = schedtest.Rowed(schedtest.Rand(seed), in, 4, 3)
		}
		obj := totals[seed%4]
		s, optimum := schedtest.SharingBruteForce(in, obj)
		v := schedtest.Verify(t, in, s)
		slotted := pairLP(t, in, obj, bounds.PairOptions{Slotted: true})
		fine := pairLP(t, in, obj, bounds.PairOptions{Slot: sched.Second / 2})
		odd := pairLP(t, in, obj, bounds.PairOptions{Slot: 700_001, Horizon: sched.Time(seed%9) * sched.Second})
		for _, r := range []*bounds.PairResult{slotted, fine, odd} {
			if r.Value.Cmp(optimum) > 0 {
				t.Fatalf("seed %d, %v: %v in slots of %v exceeds the optimum %v\n%+v", seed, obj, r.Value, r.Slot, optimum, in)
			}
			if err := r.Divides(v.Class(), obj); err != nil {
				t.Error(err)
			}
		}
		if slotted.Divides(sched.Class{Kind: sched.S}, obj) == nil {
			t.Error("the program of slots divides schedules in continuous time")
		}
		eei, err := bounds.ThetaEEI(in, obj)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := slotted.Value.Float64()
		if want, _ := eei.Value.Float64(); got < want*(1-1e-9) {
			t.Errorf("seed %d, %v: the program gives %v, the fluid bound %v", seed, obj, got, want)
		}
	}
}

// TestPairLPBelowPolicies compares the program with schedules in continuous time.
func TestPairLPBelowPolicies(t *testing.T) {
	for seed := range uint64(40) {
		rng := schedtest.Rand(seed)
		in := schedtest.Sharing(rng, schedtest.Shape{Jobs: 1 + rng.IntN(5), Servers: 1 + rng.IntN(2), GPUs: 3, Stages: 1, Weights: true})
		obj := totals[seed%4]
		r := pairLP(t, in, obj, bounds.PairOptions{Slot: sched.Second / 5})
		for _, p := range []sim.Policy{sharing.BSBF(in.Interference, sharing.Options{}), sharing.FFS(in.Interference, sim.Pool)} {
			run, err := sim.Run(context.Background(), in, p, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if v := schedtest.Verify(t, in, run.Schedule); r.Value.Cmp(v.Cost(obj)) > 0 {
				t.Fatalf("seed %d, %s: %v exceeds %v of %v", seed, p.Name(), r.Value, obj, v.Cost(obj))
			}
		}
	}
}

// TestPairLPDefaults: without options there is a grid, whatever the instance's
// scale.
func TestPairLPDefaults(t *testing.T) {
	for _, scale := range []int64{1, 1_000_000} {
		in := schedtest.Scale(slots(1), scale)
		r := pairLP(t, in, sched.TotalJCT, bounds.PairOptions{})
		if r.Slot <= 0 || r.Cols > 5_000 {
			t.Errorf("%d columns in slots of %v", r.Cols, r.Slot)
		}
	}
}

// TestPairLPRefuses: objectives, models and grids that it is not about.
func TestPairLPRefuses(t *testing.T) {
	in := slots(1)
	continuous := *in
	continuous.Slot = 0
	gang := schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 1))
	for name, test := range map[string]struct {
		in   *sched.Instance
		obj  sched.Objective
		o    bounds.PairOptions
		want error
	}{
		"makespan": {in, sched.Makespan, bounds.PairOptions{}, sched.ErrNotApplicable},
		"weight":   {in, sched.ScheduledWeight, bounds.PairOptions{}, sched.ErrNotApplicable},
		"slots":    {&continuous, sched.TotalJCT, bounds.PairOptions{Slotted: true}, sched.ErrNotApplicable},
		"model":    {gang, sched.TotalJCT, bounds.PairOptions{}, sched.ErrNotApplicable},
		"grid":     {in, sched.TotalJCT, bounds.PairOptions{Slot: 1}, sched.ErrNotApplicable},
	} {
		if _, err := bounds.PairLP(context.Background(), test.in, test.obj, lpsolve.LP{}, milp.Limits{}, test.o); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := bounds.PairLP(stopped, in, sched.TotalJCT, lpsolve.LP{}, milp.Limits{}, bounds.PairOptions{})
	if err == nil && (r.LP.Termination == milp.Optimal || r.Value.Sign() < 0) {
		t.Errorf("an interrupted solve gives %+v", r)
	}
}
