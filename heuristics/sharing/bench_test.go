package sharing_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// workload returns n jobs of six tasks on servers of four GPUs of 11 GB. Gangs
// are mostly small powers of two; durations are spread over three orders of
// magnitude from a minute on; factors of interference are between low and high.
// Each mini-batch can be split up to three times; the whole one takes 4 to 9 GB,
// half of that is a base. A load of 1 releases as much work per second as
// exclusive GPUs do.
func workload(n, servers int, load, low, high float64, seed uint64) *sched.Instance {
	const tasks, perServer = 6, 4
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	in := &sched.Instance{Name: fmt.Sprintf("workload-%d-%d-%g-%d", n, servers, load, seed), Model: sched.ModelSharing,
		Cluster: sched.Uniform(servers, perServer, 1_250_000_000, 300_000_000_000)}
	for m := range in.Cluster.Servers {
		in.Cluster.Servers[m].GPUMemory = 11e9
	}
	for range tasks {
		row := make([]float64, tasks)
		for b := range row {
			row[b] = low + (high-low)*rng.Float64()
		}
		in.Interference = append(in.Interference, row)
	}
	var options [tasks][]sched.Accumulation
	for t := range options {
		iter, memory := 0.05+0.5*rng.Float64(), 4e9+5e9*rng.Float64()
		for k := range 4 {
			options[t] = append(options[t], sched.Accumulation{Steps: 1 << k,
				Iter: sched.Duration(1e9 * iter * (1 + 0.08*float64(k))), Memory: sched.Bytes(memory * (0.5 + 0.5/math.Pow(2, float64(k))))})
		}
	}
	gangs := []int{1, 1, 1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 12, 16}
	work := 0.0 // GPU-microseconds
	for range n {
		t, gang := rng.IntN(tasks), gangs[rng.IntN(len(gangs))]
		iter := options[t][0].Iter
		iters := 1 + int64(60*math.Pow(1000, rng.Float64())/float64(iter)*1e9)
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Iters: iters, Stages: []sched.Stage{{Replicas: gang, Compute: iter}},
			Sharing: &sched.Sharing{Task: t, Accumulation: options[t]}})
		work += float64(gang) * float64(iters) * float64(iter) / 1000
	}
	at := 0.0
	for i := range in.Jobs {
		if load > 0 {
			at += rng.ExpFloat64() * work / float64(servers*perServer) / load / float64(n)
		}
		in.Jobs[i].Release = sched.Time(at)
	}
	return in
}

func clock() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}

// BenchmarkDecision replays 480 jobs that are all there from the beginning, on 64
// GPUs, and reports quantiles of the time that a decision takes.
func BenchmarkDecision(b *testing.B) {
	in := workload(480, 16, 0, 1, 2, 1)
	for _, o := range []sharing.Options{{}, {Recheck: true}} {
		b.Run(fmt.Sprintf("recheck=%t", o.Recheck), func(b *testing.B) {
			var r *sim.Result
			for b.Loop() {
				var err error
				if r, err = sim.Run(context.Background(), in, sharing.BSBF(in.Interference, o), sim.Options{Clock: clock()}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.DecisionP50)/1e3, "p50-µs")
			b.ReportMetric(float64(r.DecisionP99)/1e3, "p99-µs")
		})
	}
}

// BenchmarkReplay replays long traces on 2,000 GPUs.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		for _, load := range []float64{0.9, 1.5} {
			in := workload(n, 500, load, 1, 2, 1)
			for _, make := range []func() sim.Policy{
				func() sim.Policy { return sharing.BSBF(in.Interference, sharing.Options{}) },
				func() sim.Policy { return sharing.FFS(in.Interference, sim.BestFit) },
				func() sim.Policy { return sharing.FIFO() },
				func() sim.Policy { return sharing.SJF(false) },
			} {
				b.Run(fmt.Sprintf("jobs=%d/load=%g/%s", n, load, make().Name()), func(b *testing.B) {
					var r *sim.Result
					for b.Loop() {
						var err error
						if r, err = sim.Run(context.Background(), in, make(), sim.Options{Clock: clock()}); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(r.DecisionP50)/1e3, "p50-µs")
					b.ReportMetric(float64(r.DecisionP99)/1e3, "p99-µs")
				})
			}
		}
	}
}

// BenchmarkPolicies reports mean job completion times on 16 GPUs, 120 jobs, the
// mean over six seeds, with factors of interference in three ranges.
func BenchmarkPolicies(b *testing.B) {
	for _, xi := range [][2]float64{{1, 1.3}, {1.1, 2}, {1.5, 3}} {
		for name, run := range comparison() {
			b.Run(fmt.Sprintf("xi=%g-%g/%s", xi[0], xi[1], name), func(b *testing.B) {
				const seeds = 6
				sum := 0.0
				for b.Loop() {
					sum = 0
					for seed := range uint64(seeds) {
						in := workload(120, 4, 1, xi[0], xi[1], seed)
						on, policy := run(b, in)
						mean, _ := replay(b, on, policy, sim.Options{}).Cost(sched.MeanJCT).Float64()
						sum += mean / 1e6 / seeds
					}
				}
				b.ReportMetric(sum, "mean-JCT-s")
			})
		}
	}
}

// comparison lists the policies, with the instance that each runs on.
func comparison() map[string]func(testing.TB, *sched.Instance) (*sched.Instance, sim.Policy) {
	shared := func(make func(*sched.Instance) sim.Policy) func(testing.TB, *sched.Instance) (*sched.Instance, sim.Policy) {
		return func(_ testing.TB, in *sched.Instance) (*sched.Instance, sim.Policy) { return in, make(in) }
	}
	return map[string]func(testing.TB, *sched.Instance) (*sched.Instance, sim.Policy){
		"sharing-fifo": shared(func(*sched.Instance) sim.Policy { return sharing.FIFO() }),
		"sharing-sjf":  shared(func(*sched.Instance) sim.Policy { return sharing.SJF(false) }),
		"sjf-ffs":      shared(func(in *sched.Instance) sim.Policy { return sharing.FFS(in.Interference, sim.BestFit) }),
		"sjf-bsbf":     shared(func(in *sched.Instance) sim.Policy { return sharing.BSBF(in.Interference, sharing.Options{}) }),
		"sjf-bsbf-case-2-everywhere": shared(func(in *sched.Instance) sim.Policy {
			return sharing.BSBF(in.Interference, sharing.Options{Condition: sharing.Case2Everywhere})
		}),
		"sjf-bsbf-recheck": shared(func(in *sched.Instance) sim.Policy {
			return sharing.BSBF(in.Interference, sharing.Options{Recheck: true})
		}),
		"tiresias-las": func(t testing.TB, in *sched.Instance) (*sched.Instance, sim.Policy) {
			out, err := schedtest.Exclusive(in, 30*sched.Second)
			if err != nil {
				t.Fatal(err)
			}
			return out, sharing.NewTiresias(sharing.DefaultLAS())
		},
	}
}
