package timeindexed_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"yardstick/formulate/timeindexed"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exhaustive"
	"yardstick/solvers/milp"
)

// gangs returns jobs of whole seconds for equal servers: gangs of up to two
// servers, running times from 1 to 20 s at best, and one release in 2 s on
// average. With split, jobs of 2 to 9 GPUs take longer by whole seconds on more
// than one server: the more, the smaller their smallest part.
func gangs(seed uint64, jobs, servers, gpus int, split bool) *sched.Instance {
	r := schedtest.Rand(seed)
	in := &sched.Instance{Name: fmt.Sprintf("gangs-%d-%d", jobs, seed), Model: sched.ModelGang,
		Cluster: sched.Uniform(servers, gpus, 1_680_000_000, 1_000_000_000_000_000_000)}
	for range jobs {
		k := 1 + r.IntN(2*gpus)
		j := schedtest.Job(sched.Time(r.IntN(2*jobs))*sched.Second, k, sched.Time(1+r.IntN(20))*sched.Second)
		j.Weight = float64(1 + r.IntN(9))
		if split && k > 1 && k < 10 {
			// An AllReduce of h bytes on parts of at least x takes 2(k−1)/k·h·gpus/(x·1.68e9) seconds.
			whole := []int{2: 1, 1, 2, 2, 6, 6, 12, 12}[k] // divisible by all x ≤ k/2
			s := &j.Stages[0]
			s.Params = sched.Bytes(whole * 840_000_000 / gpus * k / (k - 1))
			s.Compute -= 5 // nanoseconds, for the AllReduce on one server
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// interval is what a route to the optimum has proven.
type interval struct{ lower, cost *big.Rat }

func byFormulation(tb testing.TB, in *sched.Instance, obj sched.Objective, l milp.Limits) interval {
	r := solve(tb, in, obj, timeindexed.Options{Slot: sched.Second, Limits: l})
	return interval{r.Bound, r.Cost}
}

func bySearch(tb testing.TB, in *sched.Instance, obj sched.Objective, l milp.Limits) interval {
	r, err := exhaustive.Solve(context.Background(), in, obj, l)
	if err != nil {
		tb.Fatal(err)
	}
	if cost := schedtest.Verify(tb, in, r.Schedule).Cost(obj); cost.Cmp(r.Cost) != 0 {
		tb.Fatalf("%s: the schedule costs %v, not %v", in.Name, cost, r.Cost)
	}
	return interval{r.Bound, r.Cost}
}

// Ten jobs on 2×4 GPUs: both routes prove the same optimum.
func TestTenGangs(t *testing.T) {
	for seed := range uint64(tier.Draws(6, 20)) {
		for _, split := range []bool{false, true} {
			in := gangs(seed, 10, 2, 4, split)
			obj := objectives[seed%2]
			found := bySearch(t, in, obj, milp.Limits{Nodes: 300_000})
			if found.lower.Cmp(found.cost) != 0 {
				t.Errorf("seed %d, split %v, %v: the search proves [%v, %v]", seed, split, obj, found.lower, found.cost)
			}
			if seed < 3 {
				solved := byFormulation(t, in, obj, milp.Limits{Nodes: 3000})
				if solved.lower.Cmp(found.cost) > 0 || solved.cost.Cmp(found.lower) < 0 {
					t.Errorf("seed %d, split %v, %v: the search proves [%v, %v], the formulation [%v, %v]",
						seed, split, obj, found.lower, found.cost, solved.lower, solved.cost)
				}
			}
		}
	}
}

// Twenty jobs on 4×8 GPUs whose place matters: the search proves what the
// formulation has proven in half a minute each.
func TestTwentyGangs(t *testing.T) {
	for seed, want := range map[uint64]int64{1: 693, 5: 732} {
		r := bySearch(t, gangs(seed, 20, 4, 8, true), sched.TotalCompletion, milp.Limits{Nodes: 300_000})
		if optimum := big.NewRat(want*int64(sched.Second), 1); r.lower.Cmp(optimum) != 0 || r.cost.Cmp(optimum) != 0 {
			t.Errorf("seed %d: [%v, %v], optimum %v", seed, r.lower, r.cost, optimum)
		}
	}
}

// BenchmarkGangs counts how many of 20 seeds are proven within a minute each,
// and logs the seconds that each takes (−: not proven).
func BenchmarkGangs(b *testing.B) {
	for _, size := range []struct{ jobs, servers, gpus int }{{10, 2, 4}, {20, 4, 8}} {
		for _, split := range []bool{false, true} {
			for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion} {
				for name, route := range map[string]func(testing.TB, *sched.Instance, sched.Objective, milp.Limits) interval{
					"exhaustive": bySearch, "time-indexed": byFormulation} {
					b.Run(fmt.Sprintf("%s/jobs=%d/gpus=%dx%d/split=%v/%v", name, size.jobs, size.servers, size.gpus, split, obj), func(b *testing.B) {
						for b.Loop() {
							proven, widest := 0, 0.0
							var seconds []float64
							var list string
							for seed := range uint64(20) {
								in := gangs(seed, size.jobs, size.servers, size.gpus, split)
								begin := time.Now()
								r := route(b, in, obj, milp.Limits{Time: time.Minute})
								took := time.Since(begin).Seconds()
								seconds = append(seconds, took)
								if r.lower.Cmp(r.cost) == 0 {
									proven++
									list += fmt.Sprintf(" %.2f", took)
								} else {
									list += " −"
								}
								widest = max(widest, gap(r.lower, r.cost))
							}
							slices.Sort(seconds)
							b.ReportMetric(float64(proven), "proven")
							b.ReportMetric(seconds[10], "median-s")
							b.ReportMetric(seconds[19], "slowest-s")
							b.ReportMetric(widest, "widest-gap-%")
							b.Log(list)
						}
					})
				}
			}
		}
	}
}
