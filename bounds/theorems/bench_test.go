package theorems_test

import (
	"math/rand/v2"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/heuristics/asrpt"
	"yardstick/sched"
)

// BenchmarkEvaluate: 10,000 jobs of 40 shapes on 250 servers of 8 GPUs.
func BenchmarkEvaluate(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 9))
	in := &sched.Instance{Name: "bench", Model: sched.ModelGang, Cluster: sched.Uniform(250, 8, 1_250_000_000, 300_000_000_000)}
	var shapes [][]sched.Stage
	for range 40 {
		shapes = append(shapes, []sched.Stage{{Replicas: 1 << rng.IntN(5), Compute: sched.Duration(1e6 + rng.IntN(1e8)), Params: sched.Bytes(rng.IntN(1e8))}})
	}
	release := sched.Time(0)
	for range 10_000 {
		release += sched.Time(rng.IntN(20_000_000))
		in.Jobs = append(in.Jobs, sched.Job{Release: release, Weight: 1, Iters: 1 + rng.Int64N(20_000), Stages: shapes[rng.IntN(len(shapes))]})
	}
	s := sample{in: in, options: asrpt.Options{Tau: rat(1, 1)}}
	for i := range in.Jobs {
		s.predicted = append(s.predicted, guess(rng, in.Jobs[i].Iters))
	}
	run := observe(b, s, theorems.Interval{})
	for b.Loop() {
		results, err := theorems.Evaluate(in, run)
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range results {
			if r.Verdict == theorems.Violated {
				b.Fatalf("%s %s is violated", r.Statement, r.Form)
			}
		}
	}
}
