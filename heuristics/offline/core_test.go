package offline

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// pooled is a board with random jobs whose place does not matter, in order of releases.
func pooled(t *testing.T, r *rand.Rand, jobs int, slot sched.Time) (*sched.Instance, *board) {
	t.Helper()
	in := schedtest.Gang(r, schedtest.Shape{Jobs: jobs, Servers: 1, GPUs: 16, Stages: 1, Slot: slot})
	p, err := newProblem(in, sched.TotalJCT)
	if err != nil {
		t.Fatal(err)
	}
	b := newBoard(p, newTimes(p), false)
	b.serial(p.sorted(func(i int32) float64 { return float64(p.jobs[i].release) }))
	return in, b
}

// The core has the jobs that hold most, all others hold their mean in every block of time,
// and that is added up anew here, block by block.
func TestCoreHoldsTheOthers(t *testing.T) {
	schedtest.EachSeed(t, tier.Draws(20, 300), func(t *testing.T, r *rand.Rand) {
		_, b := pooled(t, r, 2+r.IntN(40), sched.Time(r.IntN(2))*sched.Second)
		p, most := b.p, r.IntN(20)
		c := newCore(b, most)
		all := slices.Sorted(slices.Values(append(slices.Clone(c.ids), c.rest...)))
		for i := range all {
			if all[i] != int32(i) || len(all) != len(p.jobs) {
				t.Fatalf("jobs %v and %v of %d", c.ids, c.rest, len(p.jobs))
			}
		}
		large, length, end := 0, int64(0), int64(0)
		for _, i := range c.ids {
			if 8*p.jobs[i].gang >= p.gpus {
				large++
			}
			for _, k := range c.rest {
				if 8*p.jobs[i].gang < p.gpus && p.jobs[k].work() > p.jobs[i].work() {
					t.Fatalf("job %d is in the core, and %d, which holds more, is not", i, k)
				}
			}
		}
		if len(c.ids) < min(most, len(p.jobs)) || len(c.ids) > most+large {
			t.Fatalf("%d jobs in a core of %d and %d large gangs", len(c.ids), most, large)
		}
		for _, i := range c.rest {
			length, end = length+p.jobs[i].short, max(end, p.jobs[i].release+p.jobs[i].short)
		}
		if len(c.rest) == 0 {
			return
		}
		block := p.roundUp(length / int64(len(c.rest)))
		for from := int64(0); from < end+2*block; from += block {
			held := 0.0
			for _, i := range c.rest {
				j := &p.jobs[i]
				held += float64(j.gang) * float64(max(0, min(from+block, j.release+j.short)-max(from, j.release)))
			}
			want := min(p.gpus, int32(math.Floor(held/float64(block)+0.5)))
			if most := c.held.peak(from, from+block); most != want {
				t.Fatalf("[%d, %d): %d GPUs are held, not %d", from, from+block, most, want)
			}
			if _, ok := c.held.above(from, from+block, want-1); want > 0 && !ok {
				t.Fatalf("[%d, %d): fewer than %d GPUs are held", from, from+block, want)
			}
		}
	})
}

// Every schedule of a search by the core passes the verifier, holds what its board says, and
// costs no less than the optimum by brute force.
func TestCoreSearch(t *testing.T) {
	optimal, draws := 0, tier.Draws(40, 600)
	schedtest.EachSeed(t, draws, func(t *testing.T, r *rand.Rand) {
		in, b := pooled(t, r, 5, 0)
		f := &finder{p: b.p, o: &Options{}, times: b.times}
		s, _, made := f.searchCore(context.Background(), b, r.IntN(6), r.Uint64(), 300)
		if made != 300 {
			t.Fatalf("%d moves", made)
		}
		schedule, err := s.schedule()
		if err != nil {
			t.Fatal(err)
		}
		cost := schedtest.Verify(t, in, schedule).Cost(sched.TotalJCT)
		_, optimum := schedtest.BruteForce(in, sched.TotalJCT)
		if cost.Cmp(optimum) < 0 {
			t.Fatalf("cost %v, optimum %v", cost, optimum)
		}
		if cost.Cmp(optimum) == 0 {
			optimal++
		}
		if math.Abs(s.cost-b.p.total(s.end)) > 1e-9*s.cost {
			t.Fatalf("cost %g, said to be %g", b.p.total(s.end), s.cost)
		}
	})
	if 10*optimal < 9*draws {
		t.Errorf("%d of %d are optimal", optimal, draws)
	}
}

// Moves beside GPUs that no job of the search holds never use them, and a move that cannot
// make room changes nothing.
func TestMovesBesideOthers(t *testing.T) {
	schedtest.EachSeed(t, tier.Draws(8, 60), func(t *testing.T, r *rand.Rand) {
		_, whole := pooled(t, r, 30, 0)
		c := newCore(whole, 10)
		const last = 10 // as if someone held all for a while
		if spare := c.p.gpus - c.held.peak(last, last+20); spare > 0 {
			c.held.add(last, last+20, spare)
		}
		b := newBoard(c.p, whole.times, false)
		held := c.held.levels()
		b.pool = c.held
		for k := range c.ids {
			b.insert(int32(k), c.p.jobs[k].release)
		}
		s := newSearch(b, r.Uint64())
		for n := range 300 {
			s.threshold = 0
			if n%3 == 0 {
				s.threshold = s.meanWait()
			}
			[]func(){s.pull, s.pull, s.move, s.delayLarge}[r.IntN(4)]()
		}
		if got := s.pool.peak(0, maxEnd); got > c.p.gpus {
			t.Fatalf("%d GPUs are held of %d", got, c.p.gpus)
		}
		for k := range c.ids {
			if s.start[k] < c.p.jobs[k].release {
				t.Fatalf("job %d starts at %d", k, s.start[k])
			}
			s.remove(int32(k))
		}
		if !slices.Equal(s.pool.levels(), held) {
			t.Fatal("without the jobs the pool is not what the others hold")
		}
	})
}

// Thousands of jobs in a pool are searched by their core: the same on any number of workers.
func TestThousandsOfJobs(t *testing.T) {
	r := schedtest.Rand(1)
	var jobs []sched.Job
	release := sched.Time(0)
	for range coreFrom {
		jobs = append(jobs, schedtest.Job(release, 1+r.IntN(4), 1+sched.Time(r.IntN(40))))
		release += sched.Time(r.IntN(7))
	}
	in := schedtest.Plain(schedtest.Servers(8, 8), jobs...)
	o := Options{Moves: 400, Seed: 1}
	one, cost := found(t, in, sched.TotalJCT, o)
	if one.Moves != 3*300 {
		t.Errorf("%d moves: that is not by the core", one.Moves)
	}
	o.Workers = 3
	if many, _ := found(t, in, sched.TotalJCT, o); !reflect.DeepEqual(one, many) {
		t.Error("one worker and three differ")
	}
	o.Schedules = []*sched.Schedule{one.Schedule}
	if _, again := found(t, in, sched.TotalJCT, o); again.Cmp(cost) > 0 {
		t.Errorf("%v, given a schedule of %v", again, cost)
	}
}
