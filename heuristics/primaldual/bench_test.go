package primaldual_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// paperSize is an instance by the settings of the primal-dual paper's Section 7:
// 150 servers of the ten sizes of EC2's P3, P2 and G3, 8 worker and 10
// parameter-server types, slots of an hour, and releases over 150 slots.
func paperSize(seed uint64, jobs, servers int) *sched.Instance {
	r := rand.New(rand.NewPCG(seed, 0xec2))
	between := func(a, b int64) int64 { return a + r.Int64N(b-a+1) }
	in := &sched.Instance{Name: "paper", Model: sched.ModelElastic, Slot: 3600 * sched.Second, Cluster: sched.Cluster{Inter: 1e9, Intra: 1e9},
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "cpu", "bandwidth"}, Bandwidth: 2}}
	ec2 := [][]int64{{8, 64, 25_000}, {4, 32, 10_000}, {1, 8, 10_000}, {16, 64, 25_000}, {8, 32, 10_000}, {1, 4, 1_000}, {4, 64, 25_000}, {2, 32, 10_000}, {1, 16, 10_000}, {1, 4, 10_000}}
	for h := range servers {
		c := ec2[r.IntN(len(ec2))]
		if h == 0 {
			c = ec2[0] // holds every container
		}
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: int(c[0]), Capacity: c})
	}
	for range 8 {
		in.Elastic.Workers = append(in.Elastic.Workers, sched.Container{Demand: []int64{between(1, 4), between(1, 16), between(100, 5000)}})
	}
	for range 10 {
		in.Elastic.Servers = append(in.Elastic.Servers, sched.Container{Demand: []int64{0, between(1, 16), between(5000, 20_000)}})
	}
	const ms = 1_000_000
	for range jobs {
		chunks := between(5, 50)
		e := &sched.Elastic{MaxWorkers: int(chunks), Batches: between(50, 100) * chunks * between(10, 50), Gradients: sched.Bytes(between(30, 575) * ms)}
		for range in.Elastic.Workers {
			e.Train = append(e.Train, sched.Duration(between(3600, 180_000)*ms))
		}
		for range in.Elastic.Servers {
			e.Update = append(e.Update, sched.Duration(between(10, 100)*ms))
		}
		in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(r.Int64N(150 * int64(in.Slot))), Weight: float64(between(200, 5000)), Elastic: e})
	}
	if err := in.Validate(); err != nil {
		panic(err)
	}
	return in
}

// BenchmarkOnline replays A_online, certified, shifted, with the practical
// prices, at the paper's cluster size.
func BenchmarkOnline(b *testing.B) {
	for _, jobs := range []int{100, 1000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			in := paperSize(1, jobs, 150)
			for b.Loop() {
				p := primaldual.New(primaldual.Options{MaxWeight: practical(), Shift: true})
				r := timed(b, in, p)
				alpha, _ := p.Alpha()
				b.ReportMetric(float64(alpha), "alpha")
				b.ReportMetric(float64(r.Decisions), "decisions")
			}
		})
	}
}

// BenchmarkPricing prices the other half of the jobs, at the prices and in the
// room that A_maxweight leaves after one half: 150 servers, 8 worker and 10
// parameter-server types, 128 slots.
func BenchmarkPricing(b *testing.B) {
	in := paperSize(1, 100, 150)
	for i := range in.Jobs {
		in.Jobs[i].Release = 0
	}
	const horizon = 128
	p := primaldual.Problem{Model: pricing.New(in), Horizon: horizon}
	for id := range len(in.Jobs) / 2 {
		p.Jobs = append(p.Jobs, sched.JobID(id))
	}
	o := practical().Outcome(p)
	room := pricing.NewRoom(in, horizon)
	for _, x := range o.Runs {
		for i, share := range x.Place.Shares {
			for r := range in.Elastic.Resources {
				row := room.Free[(share.Server*len(in.Elastic.Resources)+r)*horizon:]
				for t := x.Start; t < x.End; t++ {
					row[t] -= in.ElasticDemand(&x.Place, i, r)
				}
			}
		}
	}
	half := len(in.Jobs) / 2
	least := make([]time.Duration, half) // processor time, the least of several runs
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b.Loop() {
		market := p.Model.Market(o.Prices(), room)
		for k := range least {
			start := threadTime()
			market.Cheapest(pricing.Query{Job: sched.JobID(half + k), Latest: horizon})
			if d := threadTime() - start; least[k] == 0 || d < least[k] {
				least[k] = d
			}
		}
	}
	slices.Sort(least)
	b.ReportMetric(float64(len(o.Runs)), "placed")
	b.ReportMetric(float64(least[len(least)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(least[len(least)-1].Microseconds())/1000, "ms-most")
}

// threadTime returns the processor time of the thread.
func threadTime() time.Duration {
	const rusageThread = 1
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLong is the paper's largest setting: releases over 300 slots.
func BenchmarkLong(b *testing.B) {
	in := paperSize(1, 100, 150)
	for i := range in.Jobs {
		in.Jobs[i].Release *= 2
	}
	for _, ring := range []bool{false, true} {
		b.Run(fmt.Sprintf("ring=%v", ring), func(b *testing.B) {
			for i := range in.Jobs {
				in.Jobs[i].Elastic.Ring = ring
				if ring {
					in.Jobs[i].Elastic.Update = in.Jobs[i].Elastic.Update[:1]
				}
			}
			for b.Loop() {
				p := primaldual.New(primaldual.Options{})
				timed(b, in, p)
				alpha, proven := p.Alpha()
				if !proven {
					b.Error("a round fell short")
				}
				b.ReportMetric(float64(alpha), "alpha")
			}
		})
	}
}

// timed replays an instance and reports its cost, in thousands of weighted
// slots, and the longest decision.
func timed(b *testing.B, in *sched.Instance, p sim.Policy) *sim.Result {
	b.Helper()
	start := time.Now()
	longest, last, calls := time.Duration(0), time.Duration(0), 0
	clock := func() time.Duration {
		now := time.Since(start)
		if calls++; calls%2 == 0 {
			longest = max(longest, now-last)
		}
		last = now
		return now
	}
	r, err := sim.Run(context.Background(), in, p, sim.Options{Clock: clock})
	if err != nil {
		b.Fatal(err)
	}
	cost, _ := schedtest.Verify(b, in, r.Schedule).Cost(sched.WeightedCompletion).Float64()
	b.ReportMetric(cost/float64(in.Slot)/1000, "kwslots")
	b.ReportMetric(longest.Seconds(), "s/decision")
	return r
}

// BenchmarkPolicies compares the policies by the settings of the paper, with
// enough servers and with few.
func BenchmarkPolicies(b *testing.B) {
	policies := map[string]func() sim.Policy{
		"primal-dual-printed": func() sim.Policy { return primaldual.New(primaldual.Options{}) },
		"primal-dual-fill":    func() sim.Policy { return primaldual.New(primaldual.Options{MaxWeight: practical(), Shift: true}) },
		"literal-4": func() sim.Policy {
			return primaldual.New(primaldual.Options{Form: primaldual.Literal, Alpha: 4})
		},
		"elastic-fifo":     func() sim.Policy { return elastic.FIFO(elastic.FIFOOptions{}) },
		"elastic-drf":      elastic.DRF,
		"elastic-antman":   func() sim.Policy { return elastic.AntMan(1) },
		"elastic-tiresias": elastic.Tiresias,
	}
	for _, servers := range []int{150, 40} {
		for _, name := range keysOf(policies) {
			b.Run(fmt.Sprintf("servers=%d/%s", servers, name), func(b *testing.B) {
				in := paperSize(1, 100, servers)
				for i := range in.Jobs {
					in.Jobs[i].Load = in.Slot
				}
				for b.Loop() {
					timed(b, in, policies[name]())
				}
			})
		}
	}
}

func keysOf(m map[string]func() sim.Policy) []string { return slices.Sorted(maps.Keys(m)) }
