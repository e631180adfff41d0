package pricing_test

import (
	"math/rand/v2"
	"testing"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// large is an instance with many servers of few kinds.
func large(jobs, servers int) *sched.Instance {
	r := rand.New(rand.NewPCG(1, 9))
	in := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: jobs, Servers: min(servers, 10), Resources: 3, WorkerTypes: 4, ServerTypes: 4,
		Workers: 20, Capacity: 16, Slots: 60, Weights: true})
	for h := len(in.Cluster.Servers); h < servers; h++ {
		in.Cluster.Servers = append(in.Cluster.Servers, in.Cluster.Servers[r.IntN(10)])
	}
	return in
}

// BenchmarkCheapest prices all jobs once, with prices that differ everywhere,
// or that are alike on servers of a kind, as at the beginning of everything.
func BenchmarkCheapest(b *testing.B) {
	for _, size := range []struct {
		name          string
		servers, tau  int
		alike, scarce bool
	}{{"20x64", 20, 64, false, false}, {"20x64-alike", 20, 64, true, false}, {"20x64-residual", 20, 64, false, true}, {"150x128", 150, 128, false, false}, {"150x128-alike", 150, 128, true, false}} {
		b.Run(size.name, func(b *testing.B) {
			in := large(20, size.servers)
			m := pricing.New(in)
			r := rand.New(rand.NewPCG(2, 9))
			delta := make([]float64, size.servers*3*size.tau)
			if !size.alike {
				for i := range delta {
					delta[i] = r.Float64()
				}
			}
			var room *pricing.Room
			if size.scarce {
				room = pricing.NewRoom(in, size.tau)
				for i := range room.Free {
					room.Free[i] = r.Int64N(room.Free[i] + 1)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				market := m.Market(pricing.Round(in, size.tau, delta, 0), room)
				for id := range in.Jobs {
					market.Cheapest(pricing.Query{Job: sched.JobID(id), Latest: int64(size.tau)})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20, "ns/job")
		})
	}
}
