package exhaustive

import (
	"fmt"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/instances"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// traceWindows builds 24 instances from the busiest windows of the embedded
// trace. With params, gangs synchronise that many bytes, so that their
// placement matters.
func traceWindows(tb testing.TB, jobs, servers, gpus int, params sched.Bytes) []*sched.Instance {
	tb.Helper()
	src, err := datasets.Open("builtin:philly-like")
	if err != nil {
		tb.Fatal(err)
	}
	defer src.Close()
	trace, err := src.Load(datasets.Selection{MaxGPUs: servers * gpus})
	if err != nil {
		tb.Fatal(err)
	}
	windows, err := trace.Windows(datasets.Slice{Jobs: jobs, At: datasets.At{Rule: datasets.AtBusiest}, Repeat: 24}, 1, "test")
	if err != nil {
		tb.Fatal(err)
	}
	var out []*sched.Instance
	for _, w := range windows {
		in, err := instances.Gang(&w, instances.GangOptions{Common: instances.Common{Name: fmt.Sprint(w.First), Cluster: sched.Uniform(servers, gpus, 1.25e9, 300e9), Weights: datasets.WeightsRandom}, Params: params})
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, in)
	}
	return out
}

// TestTraceWindows: eight jobs of a trace on two servers of four GPUs are
// solved within a node limit that takes a fraction of a second.
func TestTraceWindows(t *testing.T) {
	for _, params := range []sched.Bytes{0, 400_000_000} {
		for _, obj := range objectives {
			proven := 0
			for _, in := range traceWindows(t, 8, 2, 4, params) {
				if mustSolve(t, in, obj, exact.Limits{Nodes: 100_000}).Termination == milp.Optimal {
					proven++
				}
			}
			if proven < 24 {
				t.Errorf("%v, %v of parameters: %d of 24 proven", obj, params, proven)
			}
		}
	}
}

// BenchmarkTraceWindows solves 24 instances per operation, with at most 100,000
// nodes each. It reports how many were proven and the nodes of all.
func BenchmarkTraceWindows(b *testing.B) {
	for _, size := range []struct{ jobs, servers, gpus int }{{8, 2, 4}, {10, 2, 4}, {12, 2, 4}, {12, 4, 8}, {16, 2, 4}} {
		for _, params := range []sched.Bytes{0, 400_000_000} {
			instances := traceWindows(b, size.jobs, size.servers, size.gpus, params)
			for _, obj := range []sched.Objective{sched.TotalJCT, sched.WeightedCompletion, sched.Makespan} {
				b.Run(fmt.Sprintf("jobs=%d/gpus=%dx%d/params=%v/%v", size.jobs, size.servers, size.gpus, params, obj), func(b *testing.B) {
					proven, nodes := 0, 0
					for b.Loop() {
						proven, nodes = 0, 0
						for _, in := range instances {
							r, err := Solve(b.Context(), in, obj, exact.Limits{Nodes: 100_000})
							if err != nil {
								b.Fatal(err)
							}
							if nodes += r.Nodes; r.Termination == milp.Optimal {
								proven++
							}
						}
					}
					b.ReportMetric(float64(proven), "proven")
					b.ReportMetric(float64(nodes), "nodes")
				})
			}
		}
	}
}
