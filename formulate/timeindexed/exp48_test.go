package timeindexed_test

import (
	"context"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"yardstick/formulate/timeindexed"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func cluster48(seed uint64, jobs int, load float64, reduce bool) *sched.Instance {
	r := schedtest.Rand(seed)
	in := &sched.Instance{Name: "4x8", Model: sched.ModelGang, Cluster: sched.Uniform(4, 8, 1_250_000_000, 300_000_000_000)}
	var t, work float64
	_ = work
	for i := range jobs {
		gang := []int{1, 1, 2, 2, 4, 4, 8, 8, 16, 3}[r.IntN(10)]
		iters := int64(100 * math.Exp(r.NormFloat64()*0.8))
		j := sched.Job{Release: sched.Time(t * 1e6), Weight: float64(1 + r.IntN(5)), Iters: iters + 1}
		st := sched.Stage{Replicas: gang, Compute: sched.Duration(2e9 + r.IntN(4e9))}
		if reduce && gang > 1 {
			st.Params = sched.Bytes(r.IntN(500_000_000))
		}
		j.Stages = []sched.Stage{st}
		in.Jobs = append(in.Jobs, j)
		mean := 4.8 * 100 * 4 / 32 / load
		t += r.ExpFloat64() * mean
		_ = i
	}
	return in
}

func TestExp48(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	limit, _ := strconv.Atoi(os.Getenv("LIMIT"))
	for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.Makespan} {
		for seed := range uint64(3) {
			in := cluster48(seed, n, 1.5, os.Getenv("REDUCE") != "")
			b := time.Now()
			var solver milp.Solver = branch.New(lpsolve.LP{})
			if os.Getenv("PLAIN") != "" {
				solver = lpsolve.MIP{}
			}
			got, err := timeindexed.Solve(context.Background(), in, obj, solver, timeindexed.Options{Slot: slotOf(in, obj), Limits: milp.Limits{Time: time.Duration(limit) * time.Second}})
			if err != nil {
				t.Fatal(err)
			}
			lo, _ := got.Lower.Float64()
			up, _ := got.Cost.Float64()
			t.Logf("%v seed %d slot %v exact %v: %.3f..%.3f gap %.3f%% in %v", obj, seed, got.Slot, got.Exact, lo/1e6, up/1e6, (up-lo)/lo*100, time.Since(b))
			for _, s := range got.Solves {
				t.Logf("     %s %dx%d nnz %d clashes %d %v nodes %d iter %d %v [%.3f %.3f]", s.Name, s.Rows, s.Cols, s.Nonzeros, s.Clashes, s.Result.Termination, s.Result.Stats.Nodes, s.Result.Stats.Iterations, s.Result.Stats.Wall, s.Result.DualBound/1e6, s.Result.PrimalBound/1e6)
			}
		}
	}
}

func slotOf(in *sched.Instance, obj sched.Objective) sched.Time {
	c, _ := strconv.Atoi(os.Getenv("COLS"))
	if c == 0 { return 0 }
	s := sched.Time(1000)
	for { _, cols, _, err := timeindexed.Size(in, obj, s); if err != nil { panic(err) }; if cols <= c { return s }; s += s/8 }
}
