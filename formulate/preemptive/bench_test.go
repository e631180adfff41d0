package preemptive_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"yardstick/bounds"
	"yardstick/formulate/preemptive"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// heavy returns an instance on four GPUs: gangs of 1 to 4, work of 2 to 8 slots,
// loads and pauses of 1 or 2, a release every 0 to 4 slots.
func heavy(seed uint64, n int) *sched.Instance {
	r := schedtest.Rand(seed)
	in := schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 1, 1))
	in.Model, in.Slot, in.Jobs = sched.ModelPreemptive, sched.Second, nil
	release := 0
	for range n {
		j := schedtest.Job(sched.Time(release)*sched.Second, 1+r.IntN(4), sched.Time(2+r.IntN(7))*sched.Second)
		j.Load, j.Pause = sched.Time(1+r.IntN(2))*sched.Second, sched.Time(1+r.IntN(2))*sched.Second
		j.Weight = float64(1 + r.IntN(9))
		in.Jobs = append(in.Jobs, j)
		release += r.IntN(5)
	}
	return in
}

// BenchmarkOptimum proves optima of twenty instances each.
func BenchmarkOptimum(b *testing.B) {
	for _, n := range []int{4, 5} {
		for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.Makespan} {
			b.Run(fmt.Sprintf("jobs=%d/%v", n, obj), func(b *testing.B) {
				for range b.N {
					proven, nodes, cols, slowest := 0, 0, 0, time.Duration(0)
					for seed := range uint64(20) {
						r, err := preemptive.Solve(context.Background(), heavy(seed, n), obj, certified, preemptive.Options{Limits: milp.Limits{Time: time.Minute}})
						if err != nil {
							b.Fatal(err)
						}
						if r.Optimal() {
							proven++
						}
						nodes += r.Programs[0].Result.Stats.Nodes
						cols += r.Programs[0].Cols
						slowest = max(slowest, r.Programs[0].Result.Stats.Wall)
					}
					b.ReportMetric(float64(proven), "proven/20")
					b.ReportMetric(float64(nodes)/20, "nodes")
					b.ReportMetric(float64(cols)/20, "cols")
					b.ReportMetric(slowest.Seconds(), "slowest-s")
				}
			})
		}
	}
}

// BenchmarkGrid bounds instances of many jobs on 64 GPUs in continuous time.
func BenchmarkGrid(b *testing.B) {
	for _, n := range []int{50, 200} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			r := schedtest.Rand(1)
			in := schedtest.Plain(schedtest.Servers(8, 8, 8, 8, 8, 8, 8, 8), schedtest.Job(0, 1, 1))
			in.Model, in.Jobs = sched.ModelPreemptive, nil
			release := sched.Time(0)
			for range n {
				j := schedtest.Job(release, 1<<r.IntN(7), sched.Second+sched.Time(r.Int64N(3600))*sched.Second)
				j.Load, j.Pause = sched.Time(r.IntN(60))*sched.Second, sched.Time(r.IntN(20))*sched.Second
				in.Jobs = append(in.Jobs, j)
				release += sched.Time(r.IntN(600)) * sched.Second
			}
			alone, err := bounds.LB0(in, sched.TotalJCT)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				g := mustGrid(b, preemptive.ContinuousGrid, in, sched.TotalJCT, preemptive.GridOptions{})
				part, _ := g.Value.Quo(g.Value, alone.Value).Float64()
				b.ReportMetric(part, "lb0")
				b.ReportMetric(float64(g.Cols), "cols")
			}
		})
	}
}
