package bouts_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/milp"
)

// heavy returns an instance on four GPUs: gangs of 1 to 4, work of 2 to 8 slots,
// loads and pauses of 1 or 2, a release every 0 to 4 slots.
func heavy(seed uint64, n int) *sched.Instance {
	r := schedtest.Rand(seed)
	jobs := make([]plain, n)
	release := 0
	for i := range jobs {
		jobs[i] = plain{release: release, gang: 1 + r.IntN(4), load: 1 + r.IntN(2), train: 2 + r.IntN(7), pause: 1 + r.IntN(2), weight: 1 + r.IntN(9)}
		release += r.IntN(5)
	}
	return slotted(jobs, sched.Second, 1, 4)
}

// BenchmarkOptimum proves optima of twenty instances each.
func BenchmarkOptimum(b *testing.B) {
	for _, n := range []int{4, 8, 12, 16} {
		for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.Makespan} {
			b.Run(fmt.Sprintf("jobs=%d/%v", n, obj), func(b *testing.B) {
				for range b.N {
					proven, states := 0, 0
					for seed := range uint64(20) {
						r, err := bouts.Search{}.Solve(context.Background(), heavy(seed, n), obj, milp.Limits{Time: 10 * time.Second})
						if err != nil {
							b.Fatal(err)
						}
						if r.Termination == milp.Optimal {
							proven++
						}
						states += r.Nodes
					}
					b.ReportMetric(float64(proven), "proven/20")
					b.ReportMetric(float64(states)/20, "states")
				}
			})
		}
	}
}
