package maxweight_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"yardstick/formulate/maxweight"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// contended is an instance whose jobs want more than there is: servers of up to
// 16 units of three resources, all different, or of five kinds.
func contended(jobs, servers, kinds int, slots int64) *sched.Instance {
	r := rand.New(rand.NewPCG(1, 9))
	in := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: jobs, Servers: kinds, Resources: 3, WorkerTypes: 4, ServerTypes: 4,
		Workers: 20, Capacity: 16, Slots: 60, Weights: true, Releases: sched.Time(slots) * 5 * sched.Second, Deadline: slots})
	for h := kinds; h < servers; h++ {
		in.Cluster.Servers = append(in.Cluster.Servers, in.Cluster.Servers[h%kinds])
	}
	return in
}

// BenchmarkRelax is column generation.
func BenchmarkRelax(b *testing.B) {
	for _, size := range [][4]int{{20, 5, 5, 8}, {50, 10, 10, 16}, {100, 20, 5, 16}, {100, 20, 5, 64}, {100, 20, 20, 16}, {100, 20, 20, 64}, {300, 20, 5, 64}} {
		b.Run(fmt.Sprintf("jobs=%d/servers=%d/kinds=%d/slots=%d", size[0], size[1], size[2], size[3]), func(b *testing.B) {
			in := contended(size[0], size[1], size[2], int64(size[3]))
			for b.Loop() {
				r, err := maxweight.Relax(context.Background(), in, lpsolve.LP{}, milp.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				value, _ := r.Bound.Value.Float64()
				b.ReportMetric(value, "bound")
				b.ReportMetric(r.LP, "lp")
				b.ReportMetric(float64(r.Rows), "rows")
				b.ReportMetric(float64(len(r.Columns)), "columns")
				b.ReportMetric(float64(r.Rounds), "rounds")
				b.ReportMetric(float64(r.Iterations), "iterations")
			}
		})
	}
}
