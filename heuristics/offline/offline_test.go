package offline

import (
	"context"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"yardstick/bounds"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// found searches and verifies the schedule.
func found(t *testing.T, in *sched.Instance, obj sched.Objective, o Options) (*Result, *big.Rat) {
	t.Helper()
	r, err := Search(context.Background(), in, obj, o)
	if err != nil {
		t.Fatalf("%v\n%+v", err, in)
	}
	v := schedtest.Verify(t, in, r.Schedule)
	if v.Class().Kind != sched.N {
		t.Fatalf("class %v", v.Class())
	}
	return r, v.Cost(obj)
}

// shapes are the kinds of random instances that the search is for.
var shapes = []schedtest.Shape{
	{Jobs: 5, Servers: 1, GPUs: 4, Stages: 1},
	{Jobs: 5, Servers: 2, GPUs: 3, Stages: 1, Weights: true},
	{Jobs: 5, Servers: 2, GPUs: 3, Stages: 1, Slot: sched.Second},
	{Jobs: 4, Servers: 3, GPUs: 2, Uniform: true, Stages: 2, Traffic: true, Span: true},
	{Jobs: 4, Servers: 2, GPUs: 3, Stages: 2, Traffic: true, Weights: true},
	{Jobs: 4, Servers: 2, GPUs: 4, Stages: 2, Traffic: true, Slices: 2, Span: true},
	{Jobs: 4, Servers: 2, GPUs: 3, Stages: 3, Traffic: true, Graph: true},
}

// No schedule found is cheaper than the optimum by brute force, and nearly all on tiny
// instances are optimal, for every objective.
func TestAgainstBruteForce(t *testing.T) {
	for k, shape := range shapes {
		optimal, all := 0, 0
		for seed := range uint64(tier.Draws(6, 40)) {
			r := schedtest.Rand(100*uint64(k) + seed)
			in := schedtest.Gang(r, shape)
			for _, obj := range []sched.Objective{sched.TotalJCT, sched.WeightedCompletion, sched.Makespan} {
				_, cost := found(t, in, obj, Options{Moves: 1000, Seed: seed})
				_, optimum := schedtest.BruteForce(in, obj)
				if cost.Cmp(optimum) < 0 {
					t.Fatalf("shape %d, seed %d, %v: %v is less than the optimum %v", k, seed, obj, cost, optimum)
				}
				all++
				if cost.Cmp(optimum) == 0 {
					optimal++
				}
			}
		}
		if 10*optimal < 9*all {
			t.Errorf("shape %d: %d of %d are optimal", k, optimal, all)
		}
		t.Logf("shape %d: %d of %d are optimal", k, optimal, all)
	}
}

// The same options give the same schedule on one worker and on many, and a second
// search does what the first one did.
func TestSameOnAnyWorkers(t *testing.T) {
	for _, shape := range []schedtest.Shape{{Jobs: 40, Servers: 2, GPUs: 4, Stages: 1}, {Jobs: 20, Servers: 4, GPUs: 3, Stages: 3, Traffic: true, Span: true}} {
		for seed := range uint64(tier.Draws(2, 6)) {
			in := schedtest.Gang(schedtest.Rand(seed), shape)
			o := Options{Effort: 3, Moves: 500, Seed: seed}
			one, _ := found(t, in, sched.TotalJCT, o)
			o.Workers = 4
			many, _ := found(t, in, sched.TotalJCT, o)
			if !reflect.DeepEqual(one, many) {
				t.Errorf("seed %d: one worker and four differ: %+v, %+v", seed, one, many)
			}
		}
	}
}

// The result is no worse than any schedule that was given, and given ones may be far
// better than all starts.
func TestNoWorseThanGiven(t *testing.T) {
	for seed := range uint64(tier.Draws(10, 100)) {
		r := schedtest.Rand(seed)
		in := schedtest.Gang(r, shapes[int(seed)%len(shapes)])
		best, optimum := schedtest.BruteForce(in, sched.TotalJCT)
		other := schedtest.RandomSchedule(r, in)
		if schedtest.Verify(t, in, other).Class().Kind != sched.N {
			t.Fatal("a random schedule of the gang model that is not of class N")
		}
		if _, cost := found(t, in, sched.TotalJCT, Options{Moves: 1, Schedules: []*sched.Schedule{other, best}}); cost.Cmp(optimum) != 0 {
			t.Errorf("seed %d: %v, given one of %v", seed, cost, optimum)
		}
	}
}

// Scaled times scale costs; a job without waiting starts at once; an instance without
// jobs has an empty schedule; models and objectives that it is not for are refused.
func TestEdges(t *testing.T) {
	in := schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 30, Servers: 2, GPUs: 4, Stages: 1})
	o := Options{Moves: 2000}
	_, cost := found(t, in, sched.TotalJCT, o)
	_, scaled := found(t, schedtest.Scale(in, 8), sched.TotalJCT, o)
	if scaled.Cmp(new(big.Rat).Mul(cost, big.NewRat(8, 1))) != 0 {
		t.Errorf("cost %v, of times eight times as long %v", cost, scaled)
	}
	alone := schedtest.Plain(schedtest.Servers(4), schedtest.Job(7, 4, 10))
	if _, cost := found(t, alone, sched.TotalCompletion, o); cost.Cmp(big.NewRat(17, 1)) != 0 {
		t.Errorf("one job costs %v", cost)
	}
	elastic := schedtest.Elastic(schedtest.Rand(1), schedtest.ElasticShape{Jobs: 2, Servers: 1, Resources: 2, WorkerTypes: 1, ServerTypes: 1, Workers: 2, Capacity: 6, Slots: 3})
	if _, err := Search(context.Background(), elastic, sched.WeightedCompletion, o); err == nil {
		t.Error("an elastic instance was searched")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Search(ctx, in, sched.TotalJCT, o); err == nil {
		t.Error("a search that ended before it began has a schedule")
	}
}

// Every model with schedules of class N gets verified ones.
func TestModels(t *testing.T) {
	for seed := range uint64(tier.Draws(3, 20)) {
		for name, in := range schedtest.Every(seed) {
			for _, obj := range []sched.Objective{sched.TotalJCT, sched.WeightedCompletion, sched.Makespan} {
				if _, err := newProblem(in, obj); err == nil {
					found(t, in, obj, Options{Moves: 200, Seed: seed})
				} else if in.Model != sched.ModelElastic {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// crowded is a named instance: 60 jobs with gangs of 1 to 16 on four servers of eight.
func crowded(seed uint64, n int) *sched.Instance {
	r := rand.New(rand.NewPCG(seed, 60))
	in := &sched.Instance{Name: "crowded", Model: sched.ModelGang, Cluster: schedtest.Servers(8, 8, 8, 8)}
	release := sched.Time(0)
	for range n {
		in.Jobs = append(in.Jobs, schedtest.Job(release, 1+r.IntN(16), sched.Second*sched.Time(1+r.IntN(100))))
		release += sched.Second * sched.Time(r.IntN(20))
	}
	return in
}

// An annealer that swaps jobs of a list and rebuilds the schedule never beats the
// search: in a long run with a million moves, which take it minutes.
func TestAnnealerNeverBeatsIt(t *testing.T) {
	tier.Slow(t)
	seeds, moves := uint64(3), 30_000
	if tier.Long() {
		seeds, moves = 10, 1_000_000
	}
	for seed := range seeds {
		in := crowded(seed+1, 60)
		_, cost := found(t, in, sched.TotalJCT, Options{Effort: 2, Seed: 1, Prices: prices(t, in)})
		got, _ := cost.Float64()
		if annealed := anneal(in, seed+1, moves); annealed < got {
			t.Errorf("seed %d: the annealer has %v, the search %v", seed+1, annealed, got)
		} else {
			t.Logf("seed %d: annealer %v, search %v: %.2f %% less", seed+1, annealed, got, 100*(annealed-got)/annealed)
		}
	}
}

func prices(t *testing.T, in *sched.Instance) *bounds.Prices {
	t.Helper()
	d, err := bounds.Lagrangian(context.Background(), in, sched.TotalJCT, bounds.LagrangianOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d.Prices
}
