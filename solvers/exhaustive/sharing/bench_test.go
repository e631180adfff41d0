package sharing_test

import (
	"context"
	"fmt"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exhaustive/sharing"
	"yardstick/solvers/milp"
)

// sample is the instances that the target is about: jobs of 2 to 8 slots.
func sample(seed uint64, jobs, gpus int) *sched.Instance {
	return schedtest.SlottedSharing(seed, schedtest.Slots{Jobs: jobs, Servers: []int{gpus}, Work: [2]int{2, 8}, Span: 4, Gang: gpus, Xi: 2, Options: 2, Ragged: true})
}

// BenchmarkSolve reports how many of twenty instances the search solves, each in
// a million nodes, and the nodes of the hardest.
func BenchmarkSolve(b *testing.B) {
	for _, jobs := range []int{4, 5, 6, 7} {
		for _, gpus := range []int{2, 3, 4} {
			b.Run(fmt.Sprintf("jobs=%d/gpus=%d", jobs, gpus), func(b *testing.B) {
				var solved, most int
				for b.Loop() {
					solved, most = 0, 0
					for seed := range uint64(20) {
						r, err := sharing.Solve(context.Background(), sample(seed, jobs, gpus), sched.TotalCompletion, milp.Limits{Nodes: 1_000_000})
						if err != nil {
							b.Fatal(err)
						}
						if r.Termination == milp.Optimal {
							solved++
						}
						most = max(most, r.Nodes)
					}
				}
				b.ReportMetric(float64(solved), "solved/20")
				b.ReportMetric(float64(most), "most-nodes")
			})
		}
	}
}
