package elastic_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"yardstick/bounds"
	"yardstick/formulate/elastic"
	"yardstick/formulate/maxweight"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// contended is an instance whose jobs want more than there is.
func contended(jobs, servers int) *sched.Instance {
	return schedtest.Elastic(rand.New(rand.NewPCG(1, 9)), schedtest.ElasticShape{Jobs: jobs, Servers: servers, Resources: 3, WorkerTypes: 3, ServerTypes: 3,
		Workers: 12, Capacity: 12, Slots: 24, Weights: true, Releases: 200 * sched.Second})
}

// BenchmarkBounds shows what each bound costs, and how close it is to the best.
func BenchmarkBounds(b *testing.B) {
	ctx, solver := context.Background(), lpsolve.LP{}
	const obj = sched.WeightedCompletion
	for _, size := range [][2]int{{10, 3}, {30, 5}, {100, 20}} {
		in := contended(size[0], size[1])
		for _, m := range []struct {
			name string
			run  func() (bounds.Bound, error)
		}{
			{"conf", func() (bounds.Bound, error) {
				r, err := elastic.Conf(ctx, in, obj, solver, milp.Limits{})
				return r.Bound, err
			}},
			{"aggregate", func() (bounds.Bound, error) {
				r, err := elastic.Aggregate(ctx, in, obj, solver, milp.Limits{})
				return r.Bound, err
			}},
			{"deadlines", func() (bounds.Bound, error) {
				v, _, err := elastic.Deadlines(ctx, in, obj, 20, milp.Limits{})
				return v, err
			}},
			{"intervals", func() (bounds.Bound, error) {
				v, _, err := elastic.Intervals(ctx, in, obj, es, 1.3, solver, milp.Limits{})
				return v, err
			}},
			{"mean-busy-time", func() (bounds.Bound, error) { return elastic.MeanBusyTime(in, obj, es) }},
			{"alone", func() (bounds.Bound, error) { return elastic.Alone(in, obj, es) }},
		} {
			b.Run(fmt.Sprintf("%s/jobs=%d/servers=%d", m.name, size[0], size[1]), func(b *testing.B) {
				for b.Loop() {
					v, err := m.run()
					if err != nil {
						b.Fatal(err)
					}
					f, _ := new(big.Rat).Quo(v.Value, big.NewRat(int64(in.Slot), 1)).Float64()
					b.ReportMetric(f, "slots")
				}
			})
		}
	}
}

// BenchmarkSolve is branch and price.
func BenchmarkSolve(b *testing.B) {
	for _, jobs := range []int{4, 6, 8, 10, 12} {
		in := contended(jobs, 3)
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			for b.Loop() {
				o, err := elastic.Solve(context.Background(), in, sched.WeightedCompletion, lpsolve.LP{}, milp.Limits{Nodes: 200})
				if err != nil {
					b.Fatal(err)
				}
				gap, _ := new(big.Rat).Quo(o.Cost, o.Bound).Float64()
				b.ReportMetric(gap, "cost/lower")
				b.ReportMetric(float64(o.Nodes), "nodes")
			}
		})
	}
}

// BenchmarkProven counts the optima proven of 20 instances of eight jobs on two to
// four servers with two resources, each within a minute.
func BenchmarkProven(b *testing.B) {
	for _, obj := range []sched.Objective{sched.WeightedCompletion, sched.ScheduledWeight} {
		b.Run(obj.String(), func(b *testing.B) {
			for b.Loop() {
				proven, longest := 0, time.Duration(0)
				for seed := range uint64(20) {
					r := rand.New(rand.NewPCG(seed, 8))
					in := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 8, Servers: 2 + r.IntN(3), Resources: 2, WorkerTypes: 2, ServerTypes: 2, Workers: 4, Capacity: 8, Slots: 8,
						Weights: true, Rings: seed%2 == 0, Releases: 80 * sched.Second, Deadline: 10})
					start := time.Now()
					if optimal(b, in, obj) {
						proven++
						longest = max(longest, time.Since(start))
					}
				}
				b.ReportMetric(float64(proven), "proven")
				b.ReportMetric(longest.Seconds(), "s-longest")
			}
		})
	}
}

func optimal(b *testing.B, in *sched.Instance, obj sched.Objective) bool {
	b.Helper()
	limits := milp.Limits{Time: time.Minute}
	if obj == sched.ScheduledWeight {
		o, err := maxweight.Solve(context.Background(), in, lpsolve.LP{}, limits)
		if err != nil {
			b.Fatal(err)
		}
		return o.Optimal()
	}
	o, err := elastic.Solve(context.Background(), in, obj, lpsolve.LP{}, limits)
	if err != nil {
		b.Fatal(err)
	}
	return o.Optimal()
}
