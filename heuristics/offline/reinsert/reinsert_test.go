package reinsert_test

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"testing"

	"yardstick/formulate/elastic"
	"yardstick/heuristics/offline/reinsert"
	"yardstick/heuristics/offline/walk"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// draw is a small random instance, of parameter servers and rings.
func draw(seed uint64, jobs int) *sched.Instance {
	r := schedtest.Rand(seed)
	return schedtest.Elastic(r, schedtest.ElasticShape{Jobs: jobs, Servers: 1 + r.IntN(3), Resources: 1 + r.IntN(3), WorkerTypes: 1 + r.IntN(2), ServerTypes: r.IntN(3),
		Workers: 4, Capacity: 4 + r.IntN(4), Slots: 4, Rings: r.IntN(2) == 0, Weights: true, Releases: sched.Time(r.IntN(3)) * 8 * sched.Second})
}

// serial is a schedule that is known: one job after the other, each somehow.
func serial(in *sched.Instance) *sched.Schedule {
	end := int64(0)
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}}
	for id := range in.Jobs {
		c := schedtest.UndominatedChoices(in, sched.JobID(id))[0]
		start := max(end, in.FirstSlot(sched.JobID(id)))
		s.Segments = append(s.Segments, in.ElasticSegment(sched.JobID(id), start, c.Slots, c.Place))
		end = start + c.Slots
	}
	s.Sort()
	return s
}

func found(t *testing.T, in *sched.Instance, obj sched.Objective, moves int, priced bool) (*sched.Schedule, *big.Rat) {
	t.Helper()
	known := serial(in)
	schedtest.Verify(t, in, known)
	o := reinsert.Options{Options: walk.Options{Moves: moves, Seed: 3, Schedules: []*sched.Schedule{known}}}
	if priced {
		p, err := elastic.Prices(context.Background(), in, obj, elastic.PricesOptions{})
		if err != nil {
			t.Fatal(err)
		}
		o.Prices, o.Starts = p.Prices, p.Starts
	}
	s, err := reinsert.Search(context.Background(), in, obj, o)
	if err != nil {
		t.Fatalf("%v\n%+v", err, in)
	}
	v := schedtest.Verify(t, in, s)
	if v.Class() != (sched.Class{Kind: sched.E, Slotted: true}) {
		t.Fatalf("class %v", v.Class())
	}
	return s, v.Cost(obj)
}

// No schedule is cheaper than the optimum by enumeration, nearly all are optimal, and the
// same options give the same.
func TestAgainstBruteForce(t *testing.T) {
	draws, optimal := tier.Draws(40, 300), 0
	for seed := range uint64(draws) {
		in := draw(seed, 3)
		obj := []sched.Objective{sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT}[seed%3]
		_, optimum := schedtest.ElasticBruteForce(in, obj)
		s, cost := found(t, in, obj, 60, seed%2 == 0)
		if cost.Cmp(optimum) < 0 {
			t.Fatalf("seed %d: %v is less than the optimum %v\n%+v", seed, cost, optimum, in)
		}
		if cost.Cmp(optimum) == 0 {
			optimal++
		}
		if again, _ := found(t, in, obj, 60, seed%2 == 0); !reflect.DeepEqual(s, again) {
			t.Fatalf("seed %d: two searches differ", seed)
		}
	}
	t.Logf("%d of %d are optimal", optimal, draws)
	if 10*optimal < 9*draws {
		t.Errorf("%d of %d are optimal", optimal, draws)
	}
}

// More jobs than any enumeration is for, and the makespan.
func TestVerified(t *testing.T) {
	for seed := range uint64(tier.Draws(8, 60)) {
		in := draw(seed, 8)
		_, first := found(t, in, sched.TotalJCT, 1, true)
		if _, cost := found(t, in, sched.TotalJCT, 100, true); cost.Cmp(first) > 0 {
			t.Errorf("seed %d: %v after moves, %v before", seed, cost, first)
		}
		found(t, in, sched.Makespan, 30, false)
	}
}

// What it is not for is refused, as is an instance without a schedule that is known.
func TestEdges(t *testing.T) {
	in := draw(1, 3)
	known := walk.Options{Schedules: []*sched.Schedule{serial(in)}}
	gang := schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 2, Servers: 1, GPUs: 2, Stages: 1})
	for _, c := range []struct {
		in  *sched.Instance
		obj sched.Objective
		o   walk.Options
	}{{in, sched.TotalJCT, walk.Options{}}, {in, sched.ScheduledWeight, known}, {gang, sched.TotalJCT, known}} {
		if _, err := reinsert.Search(context.Background(), c.in, c.obj, reinsert.Options{Options: c.o}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s, %v: %v", c.in.Model, c.obj, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := reinsert.Search(ctx, in, sched.TotalJCT, reinsert.Options{Options: known}); !errors.Is(err, context.Canceled) {
		t.Errorf("a search whose context has ended: %v", err)
	}
}
