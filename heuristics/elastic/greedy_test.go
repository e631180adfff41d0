package elastic_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/heuristics/elastic"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestGreedyNaive follows the schedule in order of density and checks each job
// against all placements and starts; and what was left out against none.
func TestGreedyNaive(t *testing.T) {
	done, out := 0, 0
	schedtest.EachSeed(t, 100, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 4)
		s.Deadline, s.Slots = 3+r.Int64N(6), 4
		in := schedtest.Elastic(r, s)
		tau := in.DeadlineSlots()
		schedule, err := elastic.Greedy(in)
		if err != nil {
			t.Fatal(err)
		}
		v := schedtest.Verify(t, in, schedule)
		_, optimum := schedtest.ElasticOptimum(in, sched.ScheduledWeight, schedtest.UndominatedChoices)
		if v.Cost(sched.ScheduledWeight).Cmp(optimum) > 0 {
			t.Fatalf("weight %v, the optimum is %v", v.Cost(sched.ScheduledWeight), optimum)
		}
		whole := (int64(1) << 59) / int64(len(in.Cluster.Servers)*len(in.Elastic.Resources)) / tau
		volume := func(c *schedtest.ElasticChoice) int64 {
			sum := int64(0)
			for i := range c.Place.Shares {
				for k, has := range in.Cluster.Servers[c.Place.Shares[i].Server].Capacity {
					sum += in.ElasticDemand(&c.Place, i, k) * (whole / has) * c.Slots
				}
			}
			return sum
		}
		type dense struct {
			id      sched.JobID
			density *big.Rat
		}
		var order []dense
		for i := range in.Jobs {
			least := int64(-1)
			for _, c := range schedtest.ElasticChoices(in, sched.JobID(i)) {
				if x := volume(&c); in.FirstSlot(sched.JobID(i))+c.Slots <= tau && (least < 0 || x < least) {
					least = x
				}
			}
			if least >= 0 {
				order = append(order, dense{sched.JobID(i), big.NewRat(int64(in.Jobs[i].Weight), least)})
			}
		}
		slices.SortStableFunc(order, func(a, b dense) int { return b.density.Cmp(a.density) })
		so := &sched.Schedule{Class: es}
		for _, x := range order {
			least, last := int64(-1), int64(-1)
			for _, c := range schedtest.ElasticChoices(in, x.id) {
				for at := in.FirstSlot(x.id); at+c.Slots <= tau; at++ {
					if !fitsBeside(in, so, &c, at) {
						continue
					}
					if y := volume(&c); least < 0 || y < least || y == least && at > last {
						least, last = y, at
					}
				}
			}
			i := slices.IndexFunc(schedule.Segments, func(s sched.Segment) bool { return s.Job == x.id })
			if i < 0 {
				out++
				if least >= 0 {
					t.Fatalf("job %d is left out\n%+v\n%+v", x.id, schedule, in)
				}
				continue
			}
			done++
			seg := &schedule.Segments[i]
			got := schedtest.ElasticChoice{Place: seg.Place, Slots: int64((seg.End - seg.Start) / in.Slot)}
			if at := int64(seg.Start / in.Slot); volume(&got) != least || at != last {
				t.Fatalf("job %d has volume %d from %d, want %d from %d\n%+v\n%+v", x.id, volume(&got), at, least, last, schedule, in)
			}
			so.Segments = append(so.Segments, *seg)
		}
		if len(so.Segments) != len(schedule.Segments) {
			t.Errorf("%d jobs too many", len(schedule.Segments)-len(so.Segments))
		}
	})
	t.Logf("%d jobs scheduled, %d left out", done, out)
	if done < 150 || out < 30 {
		t.Error("too few of a kind")
	}
}

// fitsBeside reports whether a choice fits beside the segments.
func fitsBeside(in *sched.Instance, s *sched.Schedule, c *schedtest.ElasticChoice, at int64) bool {
	for slot := at; slot < at+c.Slots; slot++ {
		for i := range c.Place.Shares {
			h := c.Place.Shares[i].Server
			for r, free := range in.Cluster.Servers[h].Capacity {
				for k := range s.Segments {
					x := &s.Segments[k]
					for j := range x.Place.Shares {
						if x.Place.Shares[j].Server == h && x.Start <= sched.Time(slot)*in.Slot && sched.Time(slot)*in.Slot < x.End {
							free -= in.ElasticDemand(&x.Place, j, r)
						}
					}
				}
				if in.ElasticDemand(&c.Place, i, r) > free {
					return false
				}
			}
		}
	}
	return true
}

func TestGreedyErrors(t *testing.T) {
	in := lab(ring(0, 4, 2))
	if _, err := elastic.Greedy(in); err == nil {
		t.Error("without a deadline")
	}
	if _, err := elastic.Greedy(schedtest.Plain(schedtest.Servers(2), schedtest.Job(0, 1, 5))); err == nil {
		t.Error("of the gang model")
	}
	in.Deadline = 1 << 21 * in.Slot
	in.Cluster.Servers[0].Capacity[1] = 1e12
	if _, err := elastic.Greedy(in); err == nil {
		t.Error("with units that are too small")
	}
}
