package offline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// levels is what a profile says, chunks left aside.
func (p *profile) levels() (out [][2]int64) {
	for _, c := range p.chunks {
		for i := range c.n {
			out = append(out, [2]int64{c.at[i], int64(c.level[i] + c.lazy)})
		}
	}
	return out
}

// Whatever moves are made, kept or taken back, the board holds every job once, where it
// says, the cost is that of the ends, and no move that has to be no worse is worse.
func TestMovesKeepTheBoard(t *testing.T) {
	schedtest.EachSeed(t, tier.Draws(8, 60), func(t *testing.T, r *rand.Rand) {
		shape := shapes[r.IntN(len(shapes))]
		shape.Jobs = 20 + r.IntN(60)
		in := schedtest.Gang(r, shape)
		obj := []sched.Objective{sched.TotalJCT, sched.WeightedCompletion, sched.Makespan}[r.IntN(3)]
		p, err := newProblem(in, obj)
		if err != nil {
			t.Fatal(err)
		}
		b := newBoard(p, newTimes(p), p.spread)
		b.serial(p.sorted(func(i int32) float64 { return float64(p.jobs[i].release) }))
		s := newSearch(b, r.Uint64())
		moves := map[string]func(){"pull": s.pull, "move": s.move, "delayLarge": s.delayLarge}
		names := []string{"pull", "pull", "move", "delayLarge"}
		for n := range 400 {
			if n%50 == 0 {
				s.sort()
			}
			s.threshold = 0
			if n%3 == 0 {
				s.threshold = s.meanWait()
			}
			name, before := names[r.IntN(len(names))], p.total(s.end)
			moves[name]()
			after := p.total(s.end)
			if slack := 1e-9 * before; after > before+s.threshold+slack || math.Abs(after-s.cost) > slack {
				t.Fatalf("move %d, %s: cost %g after %g with the threshold %g, said to be %g", n, name, after, before, s.threshold, s.cost)
			}
			pool, servers := newProfile(), make([]profile, len(s.servers))
			for m := range servers {
				servers[m] = newProfile()
			}
			for i := range p.jobs {
				if s.start[i] < p.jobs[i].release || s.end[i] < s.start[i]+p.jobs[i].short {
					t.Fatalf("move %d, %s: job %d is from %d to %d", n, name, i, s.start[i], s.end[i])
				}
				pool.add(s.start[i], s.end[i], p.jobs[i].gang)
				if s.servers != nil {
					for _, q := range s.parts[i] {
						servers[q.server].add(s.start[i], s.end[i], q.gpus)
					}
				}
			}
			if !slices.Equal(pool.levels(), s.pool.levels()) || pool.peak(0, maxEnd) > p.gpus {
				t.Fatalf("move %d, %s: the pool is not what the jobs hold, or that is too much", n, name)
			}
			for m := range servers {
				if !slices.Equal(servers[m].levels(), s.servers[m].levels()) || servers[m].peak(0, maxEnd) > int32(in.Cluster.Servers[m].GPUs) {
					t.Fatalf("move %d, %s: server %d is not what the jobs hold, or that is too much", n, name, m)
				}
			}
		}
	})
}

// A search that panics on a worker does so where the caller can recover.
func TestPanicsReachTheCaller(t *testing.T) {
	f := &finder{o: &Options{Workers: 2}}
	var called [4]bool
	defer func() {
		if p := recover(); p != "two" || called != [4]bool{true, true, true, true} {
			t.Errorf("recovered %v after the calls %v", p, called)
		}
	}()
	f.parallel(4, func(k int) {
		called[k] = true
		if k == 2 {
			panic("two")
		}
	})
	t.Error("no panic")
}
