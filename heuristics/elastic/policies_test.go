package elastic_test

import (
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/heuristics/elastic"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// policies makes each baseline.
func policies() map[string]func() sim.Policy {
	return map[string]func() sim.Policy{
		"elastic-fifo":     func() sim.Policy { return elastic.FIFO(elastic.FIFOOptions{Seed: 7}) },
		"elastic-drf":      elastic.DRF,
		"elastic-antman":   func() sim.Policy { return elastic.AntMan(7) },
		"elastic-tiresias": elastic.Tiresias,
	}
}

// TestBaselines: every schedule keeps the rules, is the same again, and costs no
// less than the optimum of its class's relaxation.
func TestBaselines(t *testing.T) {
	schedtest.EachSeed(t, 80, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 3))
		if r.IntN(2) == 0 {
			overheads(r, in)
		}
		_, optimum := schedtest.ElasticOptimum(in, sched.WeightedCompletion, schedtest.UndominatedChoices)
		for name, p := range policies() {
			a, v := replay(t, in, p())
			b, _ := replay(t, in, p())
			if p().Name() != name || !reflect.DeepEqual(a, b) {
				t.Errorf("%s does not repeat", name)
			}
			if cost := v.Cost(sched.WeightedCompletion); p().Class() == es && cost.Cmp(optimum) < 0 {
				t.Errorf("%s costs %v, the optimum is %v\n%+v", name, cost, optimum, in)
			}
		}
	})
}

// naiveFIFO goes through all slots, with what is free added up anew in each.
func naiveFIFO(in *sched.Instance, o elastic.FIFOOptions) *sched.Schedule {
	p := elastic.NewPacker(in)
	s := &sched.Schedule{Class: es}
	order := make([]sched.JobID, len(in.Jobs))
	for i := range order {
		order[i] = sched.JobID(i)
	}
	slices.SortStableFunc(order, func(a, b sched.JobID) int { return int(in.Jobs[a].Release - in.Jobs[b].Release) })
	for slot := int64(0); len(order) > 0; slot++ {
		var left []sched.JobID
		for _, id := range order {
			if in.FirstSlot(id) > slot || len(left) > 0 && !o.Backfill {
				left = append(left, id)
				continue
			}
			var free [][]int64
			for h := range in.Cluster.Servers {
				free = append(free, slices.Clone(in.Cluster.Servers[h].Capacity))
			}
			for i := range s.Segments {
				x := &s.Segments[i]
				for k := range x.Place.Shares {
					for r := range free[0] {
						if x.End > sched.Time(slot)*in.Slot {
							free[x.Place.Shares[k].Server][r] -= in.ElasticDemand(&x.Place, k, r)
						}
					}
				}
			}
			c, _ := p.Ideal(id)
			if !o.Ideal {
				c, _ = p.Fixed(id, 1+rand.New(rand.NewPCG(o.Seed, uint64(id))).IntN(min(30, in.Jobs[id].Elastic.MaxWorkers)))
			}
			place, ok := p.Place(free, in.Jobs[id].Elastic.Ring, c.WorkerType, c.ServerType, c.Workers)
			if !ok {
				left = append(left, id)
				continue
			}
			read, err := in.ReadElastic(id, &place)
			if err != nil {
				panic(err)
			}
			s.Segments = append(s.Segments, in.ElasticSegment(id, slot, read.Slots, place))
		}
		order = left
	}
	s.Sort()
	return s
}

func TestFIFONaive(t *testing.T) {
	schedtest.EachSeed(t, 120, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 6))
		o := elastic.FIFOOptions{Backfill: r.IntN(2) == 0, Ideal: r.IntN(2) == 0, Seed: r.Uint64()}
		got, _ := replay(t, in, elastic.FIFO(o))
		if want := naiveFIFO(in, o); !reflect.DeepEqual(got.Schedule, want) {
			t.Errorf("%v:\n%+v\nwant\n%+v", o, got.Schedule.Segments, want.Segments)
		}
	})
}

// naiveDRF fills anew at every slot, with rationals.
func naiveDRF(in *sched.Instance) *sched.Schedule {
	p := elastic.NewPacker(in)
	s := &sched.Schedule{Class: es}
	started := map[sched.JobID]bool{}
	for slot := int64(0); len(started) < len(in.Jobs); slot++ {
		free := func(places map[sched.JobID]sched.Placement, but sched.JobID) [][]int64 {
			var free [][]int64
			for h := range in.Cluster.Servers {
				free = append(free, slices.Clone(in.Cluster.Servers[h].Capacity))
			}
			use := func(place *sched.Placement) {
				for k := range place.Shares {
					for r := range free[0] {
						free[place.Shares[k].Server][r] -= in.ElasticDemand(place, k, r)
					}
				}
			}
			for i := range s.Segments {
				if s.Segments[i].End > sched.Time(slot)*in.Slot {
					use(&s.Segments[i].Place)
				}
			}
			for id, place := range places {
				if id != but {
					use(&place)
				}
			}
			return free
		}
		dominant := func(place *sched.Placement) *big.Rat {
			most := new(big.Rat)
			for r := range in.Elastic.Resources {
				has, takes := int64(0), int64(0)
				for h := range in.Cluster.Servers {
					has += in.Cluster.Servers[h].Capacity[r]
				}
				for k := range place.Shares {
					takes += in.ElasticDemand(place, k, r)
				}
				if f := big.NewRat(takes, has); f.Cmp(most) > 0 {
					most = f
				}
			}
			return most
		}
		places, workers, frozen := map[sched.JobID]sched.Placement{}, map[sched.JobID]int{}, map[sched.JobID]bool{}
		var waiting []sched.JobID
		for i := range in.Jobs {
			if id := sched.JobID(i); !started[id] && in.FirstSlot(id) <= slot {
				waiting = append(waiting, id)
			}
		}
		slices.SortStableFunc(waiting, func(a, b sched.JobID) int {
			return int(in.FirstSlot(a)-in.FirstSlot(b))*1000 + int((in.Jobs[a].Release-in.Jobs[b].Release)/sched.Second)
		})
		for {
			var next sched.JobID = -1
			var least *big.Rat
			for _, id := range waiting {
				share := new(big.Rat)
				if place, ok := places[id]; ok {
					share = dominant(&place)
				}
				if !frozen[id] && (least == nil || share.Cmp(least) < 0) {
					next, least = id, share
				}
			}
			if next < 0 {
				break
			}
			c, _ := p.Ideal(next)
			e := in.Jobs[next].Elastic
			place, ok := p.Place(free(places, next), e.Ring, c.WorkerType, c.ServerType, workers[next]+1)
			if ok && workers[next] < e.MaxWorkers {
				places[next] = place
				workers[next]++
			} else {
				frozen[next] = true
			}
		}
		for _, id := range waiting {
			if place, ok := places[id]; ok {
				read, err := in.ReadElastic(id, &place)
				if err != nil {
					panic(err)
				}
				started[id] = true
				s.Segments = append(s.Segments, in.ElasticSegment(id, slot, read.Slots, place))
			}
		}
	}
	s.Sort()
	return s
}

func TestDRFNaive(t *testing.T) {
	schedtest.EachSeed(t, 100, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 5))
		for i := range in.Jobs { // whole seconds order as microseconds do
			in.Jobs[i].Release -= in.Jobs[i].Release % sched.Second
		}
		got, _ := replay(t, in, elastic.DRF())
		if want := naiveDRF(in); !reflect.DeepEqual(got.Schedule, want) {
			t.Errorf("%+v\nwant\n%+v\n%+v", got.Schedule.Segments, want.Segments, in)
		}
	})
}

// TestDRFByHand: two jobs share four GPUs, and a third takes what is left.
func TestDRFByHand(t *testing.T) {
	in := lab(ring(0, 12, 4), ring(0, 3, 1), ring(0, 12, 4))
	r, _ := replay(t, in, elastic.DRF())
	// One each, then the earliest of those below D_j: 2, 1, 1.
	if got, want := workersOf(in, r.Schedule), [][4]int64{{0, 0, 6, 2}, {1, 0, 3, 1}, {2, 0, 12, 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// kind finds a seed by which AntMan makes the jobs guaranteed (true) or
// opportunistic.
func kind(want ...bool) uint64 {
	for seed := uint64(0); ; seed++ {
		ok := true
		for id, guaranteed := range want {
			ok = ok && (rand.New(rand.NewPCG(seed, uint64(id))).IntN(2) == 0) == guaranteed
		}
		if ok {
			return seed
		}
	}
}

// TestAntManByHand: job 0, opportunistic, runs on all four GPUs until job 1,
// guaranteed, takes two. It goes on with the other two, first loading for a slot
// and a half, and is done when 16 − 4·2 are, 4 slots later and the load.
func TestAntManByHand(t *testing.T) {
	in := lab(ring(0, 16, 4), ring(2, 6, 2))
	in.Jobs[0].Load = 3 * sched.Second / 2
	r, _ := replay(t, in, elastic.AntMan(kind(false, true)))
	// It trains from 3.5 on, and needs until 7.5: the end of slot 7.
	if got, want := workersOf(in, r.Schedule), [][4]int64{{0, 0, 2, 4}, {1, 2, 5, 2}, {0, 3, 8, 2}}; !slices.Equal(got, want) || r.Preemptions != 1 {
		t.Errorf("%v, want %v", got, want)
	}
	// With a pause, job 1 waits until the GPUs are free, and job 0 starts beside it.
	in.Jobs[0].Pause = sched.Second
	r, _ = replay(t, in, elastic.AntMan(kind(false, true)))
	if got, want := workersOf(in, r.Schedule), [][4]int64{{0, 0, 2, 4}, {1, 3, 6, 2}, {0, 4, 9, 2}}; !slices.Equal(got, want) {
		t.Errorf("with a pause: %v, want %v", got, want)
	}
	// Guaranteed jobs are not preempted; after ten slots the second one takes
	// the GPU that is left.
	in = lab(ring(0, 60, 3), ring(1, 6, 2))
	r, _ = replay(t, in, elastic.AntMan(kind(true, true)))
	if got, want := workersOf(in, r.Schedule), [][4]int64{{0, 0, 20, 3}, {1, 12, 18, 1}}; !slices.Equal(got, want) || r.Preemptions != 0 {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestTiresiasByHand: a short job stops a long one, which goes on afterwards.
func TestTiresiasByHand(t *testing.T) {
	in := lab(ring(0, 40, 4), ring(1, 8, 4), ring(1, 2, 1))
	in.Jobs[0].Load = sched.Second
	r, _ := replay(t, in, elastic.Tiresias())
	// Job 2 is first, then job 1 with four GPUs does not fit beside it, so job 0
	// cannot go on either. Job 1 follows at 3.
	if got, want := workersOf(in, r.Schedule), [][4]int64{{0, 0, 1, 4}, {2, 1, 3, 1}, {1, 3, 5, 4}, {0, 6, 15, 4}}; !slices.Equal(got, want) || r.Preemptions != 1 {
		t.Errorf("%v, want %v", got, want)
	}
	// A job that is kept for does not let others pass: job 0 pauses for 2 slots.
	in.Jobs[0].Pause = 2 * sched.Second
	r, _ = replay(t, in, elastic.Tiresias())
	if got, want := workersOf(in, r.Schedule), [][4]int64{{0, 0, 1, 4}, {2, 3, 5, 1}, {1, 5, 7, 4}, {0, 8, 17, 4}}; !slices.Equal(got, want) {
		t.Errorf("with a pause: %v, want %v", got, want)
	}
}

// everySlot asks a policy in every slot.
type everySlot struct{ sim.Policy }

func (p everySlot) Decide(v *sim.View) (sim.Decision, error) {
	d, err := p.Policy.Decide(v)
	d.Wake = v.Now() + v.Slot()
	return d, err
}

// TestTiresiasEverySlot: asking in every slot changes nothing.
func TestTiresiasEverySlot(t *testing.T) {
	preemptions := int64(0)
	schedtest.EachSeed(t, 150, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 7)
		s.Slots, s.Releases = 20, 200*sched.Second
		in := schedtest.Elastic(r, s)
		for i := range in.Jobs {
			in.Jobs[i].Load = sched.Time(r.IntN(3)) * 7 * sched.Second
		}
		a, _ := replay(t, in, elastic.Tiresias())
		b, _ := replay(t, in, everySlot{elastic.Tiresias()})
		preemptions += a.Preemptions
		if !reflect.DeepEqual(a.Schedule, b.Schedule) {
			t.Errorf("%+v\n%+v", a.Schedule.Segments, b.Schedule.Segments)
		}
	})
	t.Logf("%d preemptions", preemptions)
	if preemptions < 50 {
		t.Error("too few preemptions")
	}
}
