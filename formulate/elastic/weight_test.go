package elastic_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/formulate/elastic"
	replay "yardstick/heuristics/elastic"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

var fluid, slotted = sched.Class{Kind: sched.FluidMin}, sched.Class{Kind: sched.FluidMin, Slotted: true}

func weight(t testing.TB, in *sched.Instance, class sched.Class) *big.Rat {
	t.Helper()
	b, termination, err := elastic.Weight(context.Background(), in, class, lpsolve.LP{}, milp.Limits{})
	if err != nil || termination != milp.Optimal || b.Class != class || b.Objective != sched.ScheduledWeight {
		t.Fatalf("%+v, %s, %v\n%+v", b, termination, err, in)
	}
	return b.Value
}

// TestWeight: no bound is below the optimum of class Es, and those of weaker
// classes are no stronger; what preemptive policies reach is below the bounds that
// divide them. Jobs that fit nowhere do no harm.
func TestWeight(t *testing.T) {
	tight, above := 0, 0
	schedtest.EachSeed(t, 200, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 3)
		s.Deadline = 1 + r.Int64N(8)
		in := schedtest.Elastic(r, s)
		for i := range in.Jobs {
			in.Jobs[i].Weight += float64(r.IntN(2)) / 2
		}
		_, optimum := schedtest.ElasticBruteForce(in, sched.ScheduledWeight)
		kept, whole, free := weight(t, in, es), weight(t, in, slotted), weight(t, in, fluid)
		if kept.Cmp(optimum) < 0 || whole.Cmp(kept) < 0 || free.Cmp(whole) < 0 {
			t.Errorf("Es %v, F(min)s %v, F(min) %v, optimum %v\n%+v", kept, whole, free, optimum, in)
		}
		if kept.Cmp(optimum) == 0 {
			tight++
		}
		for _, policy := range []sim.Policy{replay.Tiresias(), replay.AntMan(1)} {
			run, err := sim.Run(context.Background(), in, policy, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			reached := schedtest.Verify(t, in, run.Schedule).Cost(sched.ScheduledWeight)
			if reached.Cmp(whole) > 0 {
				t.Errorf("%s reaches %v, the bound is %v", policy.Name(), reached, whole)
			}
			if reached.Cmp(optimum) > 0 {
				above++
			}
		}
		more := *in
		more.Jobs = append([]sched.Job{{Weight: 100, Elastic: in.Jobs[0].Elastic}}, in.Jobs...)
		huge := *more.Jobs[0].Elastic
		huge.Batches *= 1_000_000
		more.Jobs[0].Elastic = &huge
		if got := weight(t, &more, slotted); got.Cmp(whole) != 0 {
			t.Errorf("bound %v, %v with a job that is never done by the deadline", whole, got)
		}
	})
	t.Logf("tight %d times, preemption pays %d times", tight, above)
	if tight < 40 {
		t.Errorf("the bound is the optimum only %d times", tight)
	}
}

// TestWeightResized: two jobs that only resizing gets done in two slots.
func TestWeightResized(t *testing.T) {
	in := &sched.Instance{Name: "resized", Model: sched.ModelElastic, Slot: 10 * sched.Second, Deadline: 20 * sched.Second, Cluster: sched.Uniform(1, 2, 1e9, 1e9),
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bw"}, Bandwidth: 1, Workers: []sched.Container{{Demand: []int64{1, 1}}}}}
	in.Cluster.Servers[0].Capacity = []int64{2, 2}
	for _, batches := range []int64{5, 2} { // of half a slot each
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Elastic: &sched.Elastic{Ring: true, MaxWorkers: 2, Batches: batches, Train: []sched.Duration{5e9}, Update: []sched.Duration{0}}})
	}
	if kept, whole := weight(t, in, es), weight(t, in, slotted); kept.Cmp(big.NewRat(1, 1)) != 0 || whole.Cmp(big.NewRat(2, 1)) != 0 {
		t.Errorf("bounds %v and %v, want 1 and 2", kept, whole)
	}
	in.Deadline = 0
	if _, _, err := elastic.Weight(context.Background(), in, es, lpsolve.LP{}, milp.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("without a deadline: %v", err)
	}
	in.Deadline = in.Slot
	if _, _, err := elastic.Weight(context.Background(), in, sched.Class{Kind: sched.N}, lpsolve.LP{}, milp.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("of class N: %v", err)
	}
}
