package exhaustive

import (
	"math/rand/v2"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
)

// randomInstance draws a few jobs on two or three small servers: gangs that
// must span servers, staggered releases, AllReduce that makes the running time
// depend on the placement, pipelines, and few enough distinct values for ties
// and equal jobs. From five jobs on there are no pipelines and at most two
// servers, for the sake of the enumeration.
func randomInstance(rng *rand.Rand, jobs int) *sched.Instance {
	servers := 1 + rng.IntN(3)
	if jobs > 4 {
		servers = 1 + rng.IntN(2)
	}
	in := &sched.Instance{Name: "random", Model: sched.ModelGang, Cluster: sched.Uniform(servers, 1+rng.IntN(3), 1e9, 10e9)}
	if rng.IntN(3) == 0 {
		for m := range in.Cluster.Servers {
			in.Cluster.Servers[m].GPUs = 1 + rng.IntN(3)
		}
	}
	kind := rng.IntN(3) // 0: no job depends on its placement; 1: most do; 2: some do
	spread := int64(1 + rng.IntN(12))
	for range jobs {
		j := sched.Job{Release: sched.Time(rng.Int64N(spread)) * 1000, Weight: []float64{1, 1, 2, 5, 0.3}[rng.IntN(5)], Iters: 1}
		gang := 1 + rng.IntN(in.Cluster.GPUs())
		first := gang
		if kind > 0 && gang > 1 && jobs < 5 && rng.IntN(4) == 0 {
			first = 1 + rng.IntN(gang-1)
		}
		params := func() sched.Bytes {
			if kind == 0 || kind == 2 && rng.IntN(2) == 0 {
				return 0
			}
			return sched.Bytes(rng.IntN(4)) * 500_000
		}
		j.Stages = append(j.Stages, sched.Stage{Replicas: first, Compute: sched.Duration(1+rng.IntN(8)) * 1e6, Params: params()})
		if first < gang {
			j.Stages[0].Boundary = sched.Bytes(rng.IntN(3)) * 400_000
			j.Stages = append(j.Stages, sched.Stage{Replicas: gang - first, Compute: sched.Duration(1+rng.IntN(8)) * 1e6, Params: params()})
		}
		if rng.IntN(4) == 0 {
			j.Load = sched.Time(rng.IntN(3)) * 500
		}
		if n := len(in.Jobs); n > 0 && rng.IntN(4) == 0 {
			j.Stages, j.Load = in.Jobs[n-1].Stages, in.Jobs[n-1].Load
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

var objectives = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan}

// pick2 draws two objectives.
func pick2(rng *rand.Rand) []sched.Objective {
	k := rng.IntN(len(objectives))
	return []sched.Objective{objectives[k], objectives[(k+1+rng.IntN(4))%5]}
}

// check verifies a result's schedule and its numbers against each other.
func check(t *testing.T, in *sched.Instance, obj sched.Objective, r *exact.Result) {
	t.Helper()
	v := schedtest.Verify(t, in, r.Schedule)
	if v.Class() != (sched.Class{Kind: sched.N}) {
		t.Fatalf("schedule of class %v", v.Class())
	}
	if cost := v.Cost(obj); cost.Cmp(r.Cost) != 0 {
		t.Fatalf("schedule costs %v, the result says %v", cost, r.Cost)
	}
	if r.Bound.Cmp(r.Cost) > 0 {
		t.Fatalf("lower bound %v exceeds cost %v", r.Bound, r.Cost)
	}
}

// TestAgainstBruteForce compares with the enumeration of all orders and placements.
func TestAgainstBruteForce(t *testing.T) {
	for seed := range uint64(tier.Draws(130, 400)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := randomInstance(rng, 1+rng.IntN(4))
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, obj := range pick2(rng) {
			r, err := Solve(t.Context(), in, obj, exact.Limits{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			check(t, in, obj, r)
			if _, want := schedtest.BruteForce(in, obj); r.Termination != "OPTIMAL" || r.Cost.Cmp(want) != 0 || r.Bound.Cmp(want) != 0 {
				t.Fatalf("seed %d, %v: %s, cost %v, lower %v; enumeration finds %v\n%+v", seed, obj, r.Termination, r.Cost, r.Bound, want, in)
			}
		}
	}
}
