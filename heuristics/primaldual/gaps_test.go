package primaldual

import (
	"math/rand/v2"
	"testing"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestGaps: a configuration that fits somewhere is never ruled out.
func TestGaps(t *testing.T) {
	out, kept, possible := 0, 0, 0
	schedtest.EachSeed(t, 150, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 3, Servers: 1 + r.IntN(3), Resources: 1 + r.IntN(3), WorkerTypes: 2, ServerTypes: r.IntN(3),
			Workers: 4, Capacity: 6, Slots: 5, Rings: true})
		m := pricing.New(in)
		tau := 3 + r.IntN(6)
		room := pricing.NewRoom(in, tau)
		for i := range room.Free {
			if r.IntN(3) == 0 {
				room.Free[i] = r.Int64N(room.Free[i] + 1)
			}
		}
		market := m.Market(pricing.Round(in, tau, make([]float64, len(room.Free)), 0), room)
		g := newGaps(in, room, market.Groups())
		for i := range in.Jobs {
			id := sched.JobID(i)
			allowed, some := g.allow(m, id)
			any := false
			for k := range allowed {
				only := make([]bool, len(allowed))
				only[k] = true
				_, fits := market.Cheapest(pricing.Query{Job: id, Latest: int64(tau), Limits: &pricing.Limits{Configs: only, Last: int64(tau)}})
				switch {
				case fits && !allowed[k]:
					t.Fatalf("job %d: configuration %+v is ruled out", i, m.Configs[id][k])
				case fits:
					possible++
				case allowed[k]:
					kept++
				default:
					out++
				}
				any = any || allowed[k]
			}
			if any != some {
				t.Fatalf("job %d: %v, %t", i, allowed, some)
			}
		}
	})
	t.Logf("%d configurations fit, %d do not and are ruled out, %d are not ruled out", possible, out, kept)
	if possible < 500 || out < 2*kept {
		t.Error("the test or the filter is weak")
	}
}
