package lazer

import (
	"context"
	"math/rand/v2"
	"testing"

	"yardstick/bounds"
	"yardstick/formulate/preemptive"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// policies are the six of the comparison, and a deferral that is always long.
func policies(seed uint64) map[string]func() sim.Policy {
	return map[string]func() sim.Policy{
		"sjf":   func() sim.Policy { return listsched.SJF(listsched.Options{Blocking: listsched.Skip}) },
		"srtf":  func() sim.Policy { return SRTF(Options{}) },
		"lazer": func() sim.Policy { return Deferring(Options{}, New(seed, DefaultCaps())) },
		"fixed": func() sim.Policy { return Deferring(Options{Prune: true}, Fixed(3*sched.Second)) },
		"60":    func() sim.Policy { return NewPeriodic(2*sched.Second, sim.Pool) },
		"360":   func() sim.Policy { return NewPeriodic(5*sched.Second, sim.Pool) },
		"600":   func() sim.Policy { return NewPeriodic(9*sched.Second, sim.Pool) },
	}
}

// proven returns every bound of the preemptive model on an instance.
func proven(t *testing.T, in *sched.Instance, obj sched.Objective) []bounds.Bound {
	t.Helper()
	var all []bounds.Bound
	for _, f := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){
		bounds.LB0, bounds.SRPT, bounds.Ranked, bounds.MeanBusyTime, bounds.PackedSRPT, bounds.PackedBusyTime} {
		b, err := f(in, obj)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	grids := []func(context.Context, *sched.Instance, sched.Objective, milp.LPSolver, preemptive.GridOptions) (*preemptive.GridResult, error){
		preemptive.ContinuousGrid, preemptive.SlottedGrid}
	if in.Slot == 0 {
		grids = grids[:1]
	}
	for _, f := range grids {
		r, err := f(context.Background(), in, obj, lpsolve.LP{}, preemptive.GridOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Bound)
	}
	if in.Slot == 0 {
		return all
	}
	r, err := bouts.Search{}.Solve(context.Background(), in, obj, exact.Limits{})
	if err != nil || r.Termination != milp.Optimal {
		t.Fatal(r, err)
	}
	return append(all, bounds.Bound{Name: "bout-dp", Class: r.Class, Objective: obj, Value: r.Bound})
}

// TestAboveBounds: no verified schedule of any policy costs less than any bound
// that may divide it, in continuous time and in slots; and all of them meet
// bounds, the slotted ones the slotted optimum too.
func TestAboveBounds(t *testing.T) {
	compared, atOptimum := 0, 0
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 8))
		gpus := 1 + rng.IntN(4)
		list := randomJobs(rng, gpus)
		list = list[:min(len(list), 5)]
		for _, j := range list {
			j.release, j.left = j.release%12, 1+j.left%8
		}
		in := instance(list, gpus)
		for _, slot := range []sched.Time{0, sched.Second} {
			in.Slot = slot
			obj := []sched.Objective{sched.TotalCompletion, sched.TotalJCT}[seed%2]
			all := proven(t, in, obj)
			for name, p := range policies(seed) {
				r, err := sim.Run(context.Background(), in, p(), sim.Options{Slotted: slot > 0})
				if err != nil {
					t.Fatalf("seed %d, %s: %v", seed, name, err)
				}
				v, err := verify.Check(in, r.Schedule)
				if err != nil {
					t.Fatalf("seed %d, %s: %v", seed, name, err)
				}
				for i := range all {
					b := &all[i]
					if b.Divides(v.Class(), obj) != nil {
						continue
					}
					compared++
					if c := v.Cost(obj).Cmp(b.Value); c < 0 {
						t.Errorf("seed %d, %s, slot %v: cost %v below %s = %v", seed, name, slot, v.Cost(obj), b.Name, b.Value)
					} else if c == 0 && b.Name == "bout-dp" {
						atOptimum++
					}
				}
			}
		}
	}
	if want := 120 * 7 * (7 + 9); compared != want {
		t.Errorf("%d comparisons, want %d", compared, want)
	}
	if atOptimum < 100 {
		t.Errorf("only %d schedules are optimal: the test has become weak", atOptimum)
	}
}
