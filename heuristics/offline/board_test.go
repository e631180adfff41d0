package offline

import (
	"math/rand/v2"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// The first start on so many servers is that of a search through all times, on servers
// of one or of several sizes, and those with the fewest idle GPUs are taken.
func TestEvenlyAgainstAllTimes(t *testing.T) {
	schedtest.EachSeed(t, tier.Draws(10, 100), func(t *testing.T, r *rand.Rand) {
		var sizes []int
		for range 2 + r.IntN(5) {
			sizes = append(sizes, 1+r.IntN(6))
		}
		in := schedtest.Plain(schedtest.Servers(sizes...), schedtest.Job(0, 1, 1))
		in.Jobs = nil
		for range 40 {
			in.Jobs = append(in.Jobs, schedtest.Job(sched.Time(r.IntN(60)), 1+r.IntN(in.Cluster.GPUs()), sched.Time(1+r.IntN(30))))
		}
		p, err := newProblem(in, sched.TotalJCT)
		if err != nil {
			t.Fatal(err)
		}
		b := newBoard(p, newTimes(p), true)
		for i := range p.jobs {
			j, from, end := &p.jobs[i], int64(r.IntN(80)), int64(20+r.IntN(600))
			for n := int32(1); n <= min(j.gang, int32(len(sizes))); n++ {
				at, length, parts := b.evenly(int32(i), from, n, end)
				want, least, found := from, int32(0), false
				for ; want+j.short < end && !found; want++ {
					var idle []int32
					for m := range sizes {
						if free := int32(sizes[m]) - b.servers[m].peak(want, want+j.short); free >= (j.gang+n-1)/n {
							idle = append(idle, free)
							if len(idle) == 1 || free < least {
								least = free
							}
						}
					}
					found = len(idle) >= int(n)
				}
				if found != (parts != nil) || found && (at != want-1 || length != j.short) {
					t.Fatalf("job %d of %d GPUs from %d on %d servers: %d, %d, %v, want %d, %t", i, j.gang, from, n, at, length, parts, want-1, found)
				}
				held, tightest := int32(0), false
				for _, q := range parts {
					free := int32(sizes[q.server]) - b.servers[q.server].peak(at, at+length)
					if held += q.gpus; free < q.gpus {
						t.Fatalf("job %d takes %v of server %d, of which %d are idle", i, q, q.server, free)
					}
					tightest = tightest || free == least
				}
				if parts != nil && (held != j.gang || !tightest) {
					t.Fatalf("job %d of %d GPUs on %v, where %d would be idle", i, j.gang, parts, least)
				}
			}
			b.insert(int32(i), j.release)
		}
	})
}
