package sharing_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/bounds"
	policies "yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exhaustive/sharing"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// TestRelations: what must hold between optima of related instances, of more
// jobs than enumeration can do.
func TestRelations(t *testing.T) {
	for seed := range uint64(24) {
		in := sample(seed, 4, 2+int(seed%3))
		obj := minimised[seed%4] // of the total, weighted or not, and the mean
		optimum := solve(t, in, obj).Cost

		scaled := schedtest.Scale(in, 3)
		if got := solve(t, scaled, obj).Cost; got.Cmp(new(big.Rat).Mul(optimum, big.NewRat(3, 1))) != 0 {
			t.Errorf("seed %d: three times as long costs %v, and not 3·%v", seed, got, optimum)
		}
		perm := rand.New(rand.NewPCG(seed, 1)).Perm(len(in.Jobs))
		if got := solve(t, schedtest.PermuteJobs(in, perm), obj).Cost; got.Cmp(optimum) != 0 {
			t.Errorf("seed %d: jobs in order %v cost %v, not %v", seed, perm, got, optimum)
		}
		more := schedtest.AddServer(in, in.Cluster.Servers[0])
		if got := solve(t, more, obj).Cost; got.Cmp(optimum) > 0 {
			t.Errorf("seed %d: one more server makes %v of %v", seed, got, optimum)
		}
		free := *in
		free.Interference = [][]float64{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}
		if got := solve(t, &free, obj).Cost; got.Cmp(optimum) > 0 {
			t.Errorf("seed %d: without interference %v, with it %v", seed, got, optimum)
		}
		fewer := *in
		fewer.Jobs = slices.Clone(in.Jobs[:3])
		if obj != sched.MeanJCT {
			if got := solve(t, &fewer, obj).Cost; got.Cmp(optimum) > 0 {
				t.Errorf("seed %d: a job less costs %v, all %v", seed, got, optimum)
			}
		}
	}
}

// TestBelowPolicies: no policy beats the optimum in slots, and no bound exceeds
// it.
func TestBelowPolicies(t *testing.T) {
	for seed := range uint64(60) {
		in := sample(seed, 5, 2+int(seed%3))
		obj := minimised[seed%5]
		r := solve(t, in, obj)
		for _, p := range []sim.Policy{policies.BSBF(in.Interference, policies.Options{Recheck: seed%2 == 0}), policies.FFS(in.Interference, sim.Pool), policies.SJF(false)} {
			run, err := sim.Run(context.Background(), in, p, sim.Options{Slotted: true})
			if err != nil {
				t.Fatal(err)
			}
			if v := schedtest.Verify(t, in, run.Schedule); v.Cost(obj).Cmp(r.Cost) < 0 {
				t.Fatalf("seed %d, %v: %s reaches %v, less than the optimum %v\n%+v", seed, obj, p.Name(), v.Cost(obj), r.Cost, in)
			}
		}
		for _, f := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){bounds.ThetaLB0, bounds.ThetaSRPT, bounds.ThetaRanked, bounds.ThetaArea, bounds.ThetaEEI} {
			b, err := f(in, obj)
			if err == nil && b.Value.Cmp(r.Cost) > 0 {
				t.Errorf("seed %d: %s = %v exceeds the optimum %v", seed, b.Name, b.Value, r.Cost)
			}
			if err != nil && !errors.Is(err, sched.ErrNotApplicable) {
				t.Error(err)
			}
		}
		if seed%6 == 0 {
			b, err := bounds.PairLP(context.Background(), in, sched.TotalJCT, lpsolve.LP{}, milp.Limits{}, bounds.PairOptions{Slotted: true})
			if err != nil {
				t.Fatal(err)
			}
			if best := solve(t, in, sched.TotalJCT).Cost; b.Value.Cmp(best) > 0 {
				t.Errorf("seed %d: the pairs give %v, more than the optimum %v", seed, b.Value, best)
			}
		}
	}
}

// TestLimits: a search that is stopped has a schedule and a bound.
func TestLimits(t *testing.T) {
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for seed := range uint64(10) {
		in := sample(seed, 7, 3)
		for nodes := 1; nodes < 5_000; nodes *= 7 {
			for _, obj := range minimised {
				r, err := sharing.Solve(context.Background(), in, obj, milp.Limits{Nodes: nodes})
				if err != nil {
					t.Fatal(err)
				}
				if v := schedtest.Verify(t, in, r.Schedule); v.Cost(obj).Cmp(r.Cost) != 0 || r.Bound.Cmp(r.Cost) > 0 ||
					(r.Termination == milp.Optimal) != (r.Bound.Cmp(r.Cost) == 0) || r.Nodes > nodes+1000 {
					t.Fatalf("seed %d, %d nodes: %+v", seed, nodes, r)
				}
			}
		}
		if r, err := sharing.Solve(stopped, in, sched.TotalJCT, milp.Limits{}); err != nil || r.Termination != milp.Interrupted {
			t.Errorf("seed %d: %+v, %v after an interruption", seed, r, err)
		}
	}
}

// TestUnsupported: what has no exact method here is refused.
func TestUnsupported(t *testing.T) {
	in := sample(1, 3, 2)
	continuous, loads, mixed, many := *in, *in, *schedtest.AddServer(in, sched.Server{GPUs: 1, GPUMemory: 3}), *in
	continuous.Slot = 0
	loads.Jobs = slices.Clone(in.Jobs)
	loads.Jobs[1].Load = 1
	for range 20 {
		many.Jobs = append(slices.Clip(many.Jobs), in.Jobs[0])
	}
	tight := *in
	tight.Cluster = schedtest.Servers(2)
	for name, bad := range map[string]*sched.Instance{"continuous": &continuous, "loads": &loads, "memory": &mixed, "jobs": &many, "tight": &tight, "rows": schedtest.Rowed(schedtest.Rand(1), in, 3, 2),
		"gang": schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 1))} {
		if _, err := sharing.Solve(context.Background(), bad, sched.TotalJCT, milp.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sharing.Solve(context.Background(), in, sched.ScheduledWeight, milp.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("weight: %v", err)
	}
}
