package forest

import (
	"math"
	"syscall"
	"testing"

	"yardstick/datasets/generate"
	"yardstick/sched"
)

// paiLike returns jobs of a generated trace like that of PAI, in order of
// submission, with their numbers of iterations.
func paiLike(tb testing.TB, n int, seed uint64) []sched.PastJob {
	tb.Helper()
	jobs := make([]sched.PastJob, 0, n)
	for r, err := range (generate.Spec{Like: generate.PAI, Jobs: n, Seed: seed}.Rows()) {
		if err != nil {
			tb.Fatal(err)
		}
		jobs = append(jobs, sched.PastJob{User: r.User.V, Group: r.Group.V, Gang: int(math.Ceil(r.GPUs.V)), Iters: int64(r.Iterations.V)})
	}
	return jobs
}

// BenchmarkTrain trains 100 trees on 100,000 jobs on one core and on 600,000
// on two, names to ordinals included. Beside the time it reports that of the
// processor, which tells how busy the machine was with other things.
func BenchmarkTrain(b *testing.B) {
	for _, c := range []struct {
		name          string
		jobs, workers int
		gang          bool
	}{{"100k/1core", 100_000, 1, false}, {"600k/2cores", 600_000, 2, false}, {"600k/2cores/gang", 600_000, 2, true}} {
		b.Run(c.name, func(b *testing.B) {
			jobs := paiLike(b, c.jobs, 1)
			before := processorSeconds(b)
			for b.Loop() {
				p, err := NewForest(jobs, ForestOptions{Train: TrainOptions{Workers: c.workers}, Gang: c.gang})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(p.model.(*regression).trees.Nodes()), "nodes")
			}
			b.ReportMetric((processorSeconds(b)-before)/float64(b.N), "cpu-s/op")
		})
	}
}

// BenchmarkPredict predicts 100,000 jobs from a forest of as many earlier ones.
func BenchmarkPredict(b *testing.B) {
	jobs := paiLike(b, 200_000, 1)
	p, err := NewForest(jobs[:100_000], ForestOptions{})
	if err != nil {
		b.Fatal(err)
	}
	m := p.model.(*regression)
	for b.Loop() {
		clear(m.known)
		for _, j := range jobs[100_000:] {
			if _, err := p.Predict(j.User, j.Group, j.Gang); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// processorSeconds returns the time that this process has computed.
func processorSeconds(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
