package pairs_test

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"testing"

	"yardstick/bounds"
	"yardstick/heuristics/offline"
	"yardstick/heuristics/offline/pairs"
	"yardstick/heuristics/offline/walk"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

var objectives = []sched.Objective{sched.TotalJCT, sched.WeightedCompletion, sched.MeanJCT, sched.Makespan}

// found searches and verifies the schedule.
func found(t *testing.T, in *sched.Instance, obj sched.Objective, o walk.Options) (*sched.Schedule, *big.Rat) {
	t.Helper()
	s, err := pairs.Search(context.Background(), in, obj, o)
	if err != nil {
		t.Fatalf("%v\n%+v", err, in)
	}
	v := schedtest.Verify(t, in, s)
	if v.Class() != (sched.Class{Kind: sched.S}) {
		t.Fatalf("class %v", v.Class())
	}
	return s, v.Cost(obj)
}

// draw is a random instance: many jobs with accumulations, loads and uneven memory, or
// few of whole slots.
func draw(seed uint64) *sched.Instance {
	r := schedtest.Rand(seed)
	in := schedtest.Sharing(r, schedtest.Shape{Jobs: 3 + r.IntN(20), Servers: 1 + r.IntN(3), GPUs: 4, Stages: 1 + r.IntN(2), Weights: true})
	if seed%2 == 0 && len(in.Cluster.Servers) > 1 {
		in.Cluster.Servers[0].GPUMemory *= 3
	}
	for i := range in.Jobs {
		in.Jobs[i].Load = sched.Time(r.IntN(3)) * sched.Second / 7
	}
	if seed%3 == 0 { // interference by accumulation
		in = schedtest.Rowed(r, in, 4, 5)
	}
	return in
}

// Every schedule is one, no bound is above it, and the same options give the same.
func TestVerified(t *testing.T) {
	for seed := range uint64(tier.Draws(40, 200)) {
		in := draw(seed)
		obj := objectives[seed%4]
		s, cost := found(t, in, obj, walk.Options{Moves: 60, Seed: seed})
		for _, bound := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){bounds.ThetaLB0, bounds.ThetaRanked, bounds.ThetaEEI, bounds.ThetaArea} {
			if b, err := bound(in, obj); err == nil && b.Value.Cmp(cost) > 0 {
				t.Fatalf("seed %d: %s is %v, a schedule costs %v", seed, b.Name, b.Value, cost)
			}
		}
		if again, _ := found(t, in, obj, walk.Options{Moves: 60, Seed: seed}); !reflect.DeepEqual(s, again) {
			t.Fatalf("seed %d: two searches differ", seed)
		}
	}
}

// Nearly always the search does no worse than the best schedule in slots, by brute force,
// but for a microsecond a job: floating point rounds up.
func TestAgainstSlots(t *testing.T) {
	draws, good := tier.Draws(40, 300), 0
	for seed := range uint64(draws) {
		in := schedtest.SmallSharing(seed)
		_, optimum := schedtest.SharingBruteForce(in, sched.TotalJCT)
		free := *in
		free.Slot = 0
		_, cost := found(t, &free, sched.TotalJCT, walk.Options{Moves: 500, Seed: seed})
		if cost.Cmp(optimum.Add(optimum, big.NewRat(int64(len(in.Jobs)), 1))) <= 0 {
			good++
		}
	}
	t.Logf("%d of %d", good, draws)
	if 10*good < 9*draws {
		t.Errorf("%d of %d are as good as the best in slots", good, draws)
	}
}

// An exclusive schedule that is given comes out no worse.
func TestGiven(t *testing.T) {
	for seed := range uint64(tier.Draws(20, 200)) {
		in := draw(seed)
		known, err := offline.Search(context.Background(), in, sched.TotalJCT, offline.Options{Moves: 400, Seed: seed})
		if errors.Is(err, sched.ErrNotApplicable) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		limit := schedtest.Verify(t, in, known.Schedule).Cost(sched.TotalJCT)
		if _, cost := found(t, in, sched.TotalJCT, walk.Options{Moves: 1, Schedules: []*sched.Schedule{known.Schedule}}); cost.Cmp(limit) > 0 {
			t.Errorf("seed %d: %v, given one of %v", seed, cost, limit)
		}
	}
}

// What it is not for is refused; a context that has ended leaves a start.
func TestEdges(t *testing.T) {
	in := draw(1)
	slotted := schedtest.SmallSharing(1)
	for _, c := range []struct {
		in  *sched.Instance
		obj sched.Objective
	}{{slotted, sched.TotalJCT}, {in, sched.ScheduledWeight}, {schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 2, Servers: 1, GPUs: 2, Stages: 1}), sched.TotalJCT}} {
		if _, err := pairs.Search(context.Background(), c.in, c.obj, walk.Options{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s, %v: %v", c.in.Model, c.obj, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := pairs.Search(ctx, in, sched.TotalJCT, walk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	schedtest.Verify(t, in, s)
}
