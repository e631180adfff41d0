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

// paper is an instance with the ranges of the paper's section 7 and servers of
// Amazon's P3, P2 and G3; slots are hours.
func paper(jobs, servers int, slots int64) *sched.Instance {
	r := rand.New(rand.NewPCG(1, 10))
	between := func(low, high int64) int64 { return low + r.Int64N(high-low+1) }
	const hour = 3600 * sched.Second
	kinds := [][]int64{{8, 64, 25_000}, {4, 32, 10_000}, {1, 8, 10_000}, {16, 64, 25_000}, {8, 32, 10_000}, {1, 4, 1_000}, {4, 64, 25_000}, {2, 32, 10_000}, {1, 16, 10_000}, {1, 4, 10_000}}
	in := &sched.Instance{Name: "paper", Model: sched.ModelElastic, Slot: hour, Deadline: sched.Time(slots) * hour, Cluster: sched.Uniform(servers, 1, 1e9, 1e9),
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "cpu", "bandwidth"}, Bandwidth: 2}}
	for h := range servers {
		in.Cluster.Servers[h].Capacity = kinds[h%len(kinds)]
		in.Cluster.Servers[h].GPUs = int(kinds[h%len(kinds)][0])
	}
	for range 8 {
		in.Elastic.Workers = append(in.Elastic.Workers, sched.Container{Demand: []int64{between(1, 4), between(1, 16), between(100, 5000)}})
	}
	for range 10 {
		in.Elastic.Servers = append(in.Elastic.Servers, sched.Container{Demand: []int64{0, between(1, 16), between(5000, 20_000)}})
	}
	for range jobs {
		e := &sched.Elastic{MaxWorkers: int(between(5, 50)), Gradients: sched.Bytes(between(30, 575)) * 1e6}
		e.Batches = between(50, 100) * between(10, 50) * int64(e.MaxWorkers)
		for range 8 {
			e.Train = append(e.Train, sched.Duration(between(3600, 180_000))*1e6)
		}
		for range 10 {
			e.Update = append(e.Update, sched.Duration(between(10, 100))*1e6)
		}
		in.Jobs = append(in.Jobs, sched.Job{Weight: float64(between(200, 5000)), Release: sched.Time(between(0, slots/2)) * hour, Elastic: e})
	}
	return in
}

// BenchmarkPaper is column generation with the paper's parameters.
func BenchmarkPaper(b *testing.B) {
	for _, size := range [][3]int{{20, 20, 64}, {100, 20, 64}, {100, 150, 150}} {
		b.Run(fmt.Sprintf("jobs=%d/servers=%d/slots=%d", size[0], size[1], size[2]), func(b *testing.B) {
			in := paper(size[0], size[1], int64(size[2]))
			if err := in.Validate(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r, err := maxweight.Relax(context.Background(), in, lpsolve.LP{}, milp.Limits{Nodes: 200})
				if err != nil {
					b.Fatal(err)
				}
				value, _ := r.Value.Float64()
				b.ReportMetric(value, "bound")
				b.ReportMetric(r.LP, "lp")
				b.ReportMetric(float64(r.Master.Rows), "rows")
				b.ReportMetric(float64(len(r.Master.Columns)), "columns")
				b.ReportMetric(float64(r.Master.Rounds), "rounds")
			}
		})
	}
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
				value, _ := r.Value.Float64()
				b.ReportMetric(value, "bound")
				b.ReportMetric(r.LP, "lp")
				b.ReportMetric(float64(r.Master.Rows), "rows")
				b.ReportMetric(float64(len(r.Master.Columns)), "columns")
				b.ReportMetric(float64(r.Master.Rounds), "rounds")
				b.ReportMetric(float64(r.Master.Iterations), "iterations")
			}
		})
	}
}
