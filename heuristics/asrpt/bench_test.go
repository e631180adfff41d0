package asrpt_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// workload returns n jobs for 250 servers of 8 GPUs. Gangs are mostly small, as
// in published traces, durations are spread over four orders of magnitude, and
// models are pipelines or data-parallel: of one of a hundred profiles, or with
// stages that no other job has. A load of 1 offers as much GPU-time per second
// as there is.
func workload(n int, load float64, distinct bool, seed uint64) *sched.Instance {
	const servers, perServer = 250, 8
	in := &sched.Instance{Name: "workload", Model: sched.ModelGang, Cluster: sched.Uniform(servers, perServer, 1_250_000_000, 300_000_000_000)}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	gangs := []int{1, 1, 1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 32, 64}
	profile := func() []sched.Stage {
		gang := gangs[rng.IntN(len(gangs))]
		var stages []sched.Stage
		for parts := min(gang, 1<<rng.IntN(4)); len(stages) < parts; {
			stages = append(stages, sched.Stage{Replicas: gang / parts, Compute: sched.Duration(20_000_000 + rng.IntN(300_000_000)),
				Params: sched.Bytes(rng.IntN(200_000_000)), Boundary: sched.Bytes(rng.IntN(20_000_000))})
		}
		stages[len(stages)-1].Boundary = 0
		return stages
	}
	profiles := make([][]sched.Stage, 100)
	for i := range profiles {
		profiles[i] = profile()
	}
	work := 0.0
	for range n {
		j := sched.Job{Weight: 1, Iters: 1 + int64(50*pow10(4*rng.Float64())), Stages: profiles[rng.IntN(len(profiles))]}
		if distinct {
			j.Stages = profile()
		}
		work += float64(j.Gang()) * float64(j.Iters) * float64(j.Stages[0].Compute) / 1000
		in.Jobs = append(in.Jobs, j)
	}
	at := 0.0
	for i := range in.Jobs {
		at += rng.ExpFloat64() * work / (servers * perServer) / load / float64(n)
		in.Jobs[i].Release = sched.Time(at)
	}
	return in
}

func pow10(x float64) float64 {
	p := 1.0
	for ; x >= 1; x-- {
		p *= 10
	}
	return p * (1 + 9*x) // piecewise linear is spread enough
}

// BenchmarkReplay reports decisions and jobs per second of whole replays.
func BenchmarkReplay(b *testing.B) {
	for _, distinct := range []bool{false, true} {
		for _, load := range []float64{0.3, 1} {
			in := workload(150_000, load, distinct, 1)
			b.Run(fmt.Sprintf("distinct=%t/load=%g", distinct, load), func(b *testing.B) {
				decisions := int64(0)
				for range b.N {
					r, err := sim.Run(context.Background(), in, asrpt.Perfect(asrpt.Options{}), sim.Options{})
					if err != nil {
						b.Fatal(err)
					}
					decisions += r.Decisions
				}
				b.ReportMetric(float64(decisions)/b.Elapsed().Seconds(), "decisions/s")
				b.ReportMetric(float64(len(in.Jobs))*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			})
		}
	}
}

// BenchmarkOptimal replays with optimal layouts, on a cluster that is busy from
// the start.
func BenchmarkOptimal(b *testing.B) {
	in := workload(3000, 1, false, 1)
	for range b.N {
		if _, err := sim.Run(context.Background(), in, asrpt.Perfect(asrpt.Options{Layout: asrpt.Optimal}), sim.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(in.Jobs))*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// TestWorkload verifies what the benchmarks replay.
func TestWorkload(t *testing.T) {
	for _, test := range []struct {
		jobs     int
		distinct bool
		o        asrpt.Options
	}{{3000, false, asrpt.Options{}}, {3000, true, asrpt.Options{}}, {400, false, asrpt.Options{Layout: asrpt.Optimal}}} {
		in := workload(test.jobs, 1, test.distinct, 1)
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, v := run(t, in, asrpt.Perfect(test.o), sim.Options{}); !v.Complete() {
			t.Error("jobs are left out")
		}
	}
}
