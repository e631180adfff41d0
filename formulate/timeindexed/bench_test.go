package timeindexed_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"yardstick/formulate/timeindexed"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// busy returns jobs for four servers of eight GPUs that arrive half as fast
// again as they can be served. Half of them synchronise, so that their place
// matters.
func busy(seed uint64, jobs int) *sched.Instance {
	r := schedtest.Rand(seed)
	in := &sched.Instance{Name: fmt.Sprintf("busy-%d-%d", jobs, seed), Model: sched.ModelGang, Cluster: sched.Uniform(4, 8, 1_250_000_000, 300_000_000_000)}
	at := 0.0
	for range jobs {
		stage := sched.Stage{Replicas: []int{1, 1, 2, 2, 3, 4, 4, 8, 8, 16}[r.IntN(10)], Compute: sched.Duration(2e9 + r.IntN(4e9))}
		if r.IntN(2) == 0 {
			stage.Params = sched.Bytes(r.IntN(500_000_000))
		}
		in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(at * 1e6), Weight: float64(1 + r.IntN(5)),
			Iters: 1 + int64(100*math.Exp(0.8*r.NormFloat64())), Stages: []sched.Stage{stage}})
		at += r.ExpFloat64() * 40
	}
	return in
}

// BenchmarkSolve shows size, time and what is left of the interval, with the
// proven search and with lp_solve's own, whose bounds are claims.
func BenchmarkSolve(b *testing.B) {
	for _, jobs := range []int{10, 20, 30} {
		for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.Makespan} {
			for _, s := range []milp.Solver{branch.New(lpsolve.LP{}), lpsolve.MIP{}} {
				for seed := range uint64(3) {
					b.Run(fmt.Sprintf("%s/%v/jobs=%d/seed=%d", s.Name(), obj, jobs, seed), func(b *testing.B) {
						in := busy(seed, jobs)
						for b.Loop() {
							r := solveBy(b, s, in, obj, timeindexed.Options{Limits: milp.Limits{Time: 30 * time.Second}})
							report(b, r)
						}
					})
				}
			}
		}
	}
}

func report(b *testing.B, r *exact.Result) {
	b.ReportMetric(gap(r.Bound, r.Cost), "gap-%")
	if r.Claimed != nil {
		b.ReportMetric(gap(r.Claimed, r.Cost), "claimed-gap-%")
	}
	for _, run := range r.Programs {
		if run.Added == 0 && run.Name[0] == 'd' {
			b.ReportMetric(float64(run.Rows), "rows")
			b.ReportMetric(float64(run.Cols), "cols")
			b.ReportMetric(run.Result.Stats.Wall.Seconds(), "down-s")
			b.ReportMetric(float64(run.Result.Stats.Nodes), "down-nodes")
			if run.Result.Termination == milp.TimeLimit {
				b.ReportMetric(1, "down-stopped")
			}
		}
	}
	b.ReportMetric(float64(len(r.Programs)), "programs")
}

func gap(lower, cost *big.Rat) float64 {
	f, _ := new(big.Rat).Quo(cost, lower).Float64()
	return (f - 1) * 100
}
