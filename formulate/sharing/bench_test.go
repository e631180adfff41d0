package sharing_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"yardstick/formulate/sharing"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// BenchmarkProgram reports how many of five instances the program solves, each in ten
// seconds, and the nodes of the hardest.
func BenchmarkProgram(b *testing.B) {
	const instances = 5
	for _, jobs := range []int{3, 4} {
		for _, gpus := range []int{2, 4} {
			b.Run(fmt.Sprintf("jobs=%d/gpus=%d", jobs, gpus), func(b *testing.B) {
				var solved, most int
				for b.Loop() {
					solved, most = 0, 0
					for seed := range uint64(instances) {
						r, err := sharing.SolveProgram(context.Background(), schedtest.SlottedSharing(seed, schedtest.Slots{Jobs: jobs, Servers: []int{gpus}, Work: [2]int{2, 8}, Span: 4, Gang: gpus, Xi: 2, Options: 2, Ragged: true}), sched.TotalCompletion, branch.New(lpsolve.LP{}), milp.Limits{Time: 10 * time.Second})
						if err != nil {
							b.Fatal(err)
						}
						if r.Termination == milp.Optimal {
							solved++
						}
						most = max(most, r.Nodes)
					}
				}
				b.ReportMetric(float64(solved), "solved/5")
				b.ReportMetric(float64(most), "most-nodes")
			})
		}
	}
}
