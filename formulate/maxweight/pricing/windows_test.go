package pricing_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// The cheapest schedule is that of the window which is cheapest when each is asked for by
// itself, completes first and, of equal ones, would look cheapest with all on one server;
// whatever was found out about other windows before.
func TestWindowByWindow(t *testing.T) {
	found, none := 0, 0
	schedtest.EachSeed(t, 150, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 3, Servers: 1 + r.IntN(12), Resources: 1 + r.IntN(2), WorkerTypes: 2, ServerTypes: r.IntN(3),
			Workers: 5, Capacity: 6, Slots: 5, Rings: true})
		m, tau := pricing.New(in), 4+r.IntN(8)
		delta := make([]float64, len(in.Cluster.Servers)*len(in.Elastic.Resources)*tau)
		for i := range delta {
			delta[i] = float64(r.IntN(3)) // with ties
		}
		prices := pricing.Round(in, tau, delta, 0)
		var room *pricing.Room
		if r.IntN(3) > 0 {
			room = pricing.NewRoom(in, tau)
			for i := range room.Free {
				if r.IntN(3) > 0 {
					room.Free[i] = r.Int64N(room.Free[i] + 1)
				}
			}
		}
		market := m.Market(prices, room)
		for i := range in.Jobs {
			id := sched.JobID(i)
			var best pricing.Choice
			some := false
			for c := range m.Configs[id] {
				only := make([]bool, len(m.Configs[id]))
				only[c] = true
				for start := in.FirstSlot(id); start+m.Configs[id][c].Slots <= int64(tau); start++ {
					q := pricing.Query{Job: id, Latest: int64(tau), Limits: &pricing.Limits{Configs: only, First: start, Last: start}}
					one, ok := m.Market(prices, room).Cheapest(q)
					if ok && (!some || one.Cost < best.Cost || one.Cost == best.Cost && one.End() < best.End()) {
						best, some = one, true
					}
				}
			}
			for _, most := range []int64{best.Cost, best.Cost - 1, prices.Total()} {
				got, ok := market.Cheapest(pricing.Query{Job: id, Latest: int64(tau), Most: &most})
				switch {
				case ok != (some && best.Cost <= most):
					t.Fatalf("job %d, at most %d: %v, and of single windows %v at %d", i, most, ok, some, best.Cost)
				case !ok:
					none++
				case got.Cost != best.Cost || got.End() != best.End():
					t.Fatalf("job %d: %d by slot %d, and of single windows %d by %d", i, got.Cost, got.End(), best.Cost, best.End())
				default:
					found++
					only := make([]bool, len(m.Configs[id]))
					only[got.Config] = true
					alone, ok := m.Market(prices, room).Cheapest(pricing.Query{Job: id, Latest: int64(tau), Limits: &pricing.Limits{Configs: only, First: got.Start, Last: got.Start}})
					if !ok || alone.Host != got.Host || !slices.Equal(alone.Workers, got.Workers) {
						t.Fatalf("job %d: %+v, and its window alone %+v", i, got, alone)
					}
				}
			}
		}
	})
	if found < 100 || none < 100 {
		t.Errorf("%d found, %d not: the test did little", found, none)
	}
}
