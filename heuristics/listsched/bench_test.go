package listsched_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"testing"

	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// workload returns n single-stage jobs for 250 servers of 8 GPUs. Gangs are
// mostly small powers of two, as in published traces; durations are spread
// over four orders of magnitude. A load of 1 offers as much GPU-time per
// second as there is; above 1, the queue grows throughout.
func workload(n int, load float64, seed uint64) *sched.Instance {
	const servers, perServer = 250, 8
	in := &sched.Instance{Name: fmt.Sprintf("workload-%d-%g-%d", n, load, seed), Model: sched.ModelGang,
		Cluster: sched.Uniform(servers, perServer, 1_250_000_000, 300_000_000_000)}
	gangs := []int{1, 1, 1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 32, 64}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	in.Jobs = make([]sched.Job, n)
	stages := make([]sched.Stage, n)
	work := 0.0 // GPU-microseconds
	for i := range in.Jobs {
		gang := gangs[rng.IntN(len(gangs))]
		iter := sched.Duration(50_000_000 + rng.IntN(500_000_000))
		stages[i] = sched.Stage{Replicas: gang, Compute: iter}
		if gang > 1 && rng.IntN(2) == 0 {
			stages[i].Params = sched.Bytes(1+rng.IntN(500)) * 1_000_000
		}
		iters := 1 + int64(50*pow10(4*rng.Float64()))
		in.Jobs[i] = sched.Job{Weight: 1, Iters: iters, Stages: stages[i : i+1]}
		work += float64(gang) * float64(iters) * float64(iter) / 1000
	}
	horizon := work / (servers * perServer) / load
	at := 0.0
	for i := range in.Jobs {
		at += rng.ExpFloat64() * horizon / float64(n)
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

// peak wraps a policy to record the largest heap seen and the longest queue.
type peak struct {
	*listsched.Policy
	decisions    int
	waiting, max int
	heap         uint64
	sample       []metrics.Sample
}

func (p *peak) Decide(v *sim.View) (sim.Decision, error) {
	if p.decisions++; p.decisions%16384 == 0 {
		metrics.Read(p.sample)
		p.heap = max(p.heap, p.sample[0].Value.Uint64())
	}
	d, err := p.Policy.Decide(v)
	p.waiting += len(v.Arrived()) - len(d.Start)
	p.max = max(p.max, p.waiting)
	return d, err
}

// BenchmarkReplay reports jobs per second, the peak of live and not yet
// collected heap objects (instance included), and the longest queue.
func BenchmarkReplay(b *testing.B) {
	for _, load := range []float64{0.7, 1.5} {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			in := workload(n, load, 1)
			for _, o := range []listsched.Options{{}, {Blocking: listsched.Skip}, {Placement: sim.Consolidate}, {Blocking: listsched.Skip, Placement: sim.BestFit}} {
				for _, make := range []func(listsched.Options) *listsched.Policy{listsched.FIFO, listsched.SJF} {
					b.Run(fmt.Sprintf("load=%g/jobs=%d/%s/%v", load, n, make(o).Name(), o), func(b *testing.B) { replay(b, in, o, make) })
				}
			}
		}
	}
}

func replay(b *testing.B, in *sched.Instance, o listsched.Options, make func(listsched.Options) *listsched.Policy) {
	b.ReportAllocs()
	var p *peak
	for range b.N {
		b.StopTimer()
		runtime.GC() // the peak of one run, not of the last one's garbage too
		b.StartTimer()
		p = &peak{Policy: make(o), sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}
		r, err := sim.Run(context.Background(), in, p, sim.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if len(r.Schedule.Segments) != len(in.Jobs) {
			b.Fatalf("%d segments for %d jobs", len(r.Schedule.Segments), len(in.Jobs))
		}
	}
	b.ReportMetric(float64(len(in.Jobs))*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(p.heap)/(1<<20), "peak-MiB")
	b.ReportMetric(float64(p.max), "queue")
}

// BenchmarkBaselines replays the baselines of the A-SRPT paper, placed as there,
// on pipelines of up to eight stages.
func BenchmarkBaselines(b *testing.B) {
	in := workload(150_000, 0.9, 1)
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range in.Jobs {
		j := &in.Jobs[i]
		gang := j.Gang()
		parts := min(gang, 1<<rng.IntN(4))
		whole := j.Stages[0]
		j.Stages = make([]sched.Stage, parts)
		for s := range j.Stages {
			j.Stages[s] = sched.Stage{Replicas: gang / parts, Compute: whole.Compute, Params: sched.Bytes(rng.IntN(200_000_000)), Boundary: sched.Bytes(rng.IntN(20_000_000))}
		}
		j.Stages[parts-1].Boundary = 0
	}
	for _, base := range baselines {
		b.Run(base.name, func(b *testing.B) { replay(b, in, listsched.Published(), base.make) })
	}
}
