package catalogue

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

// TestGangSearch: the exact search of gangs with window search beside it proves what it
// proves without, and one that is stopped knows no worse schedule than before.
func TestGangSearch(t *testing.T) {
	for seed := range uint64(tier.Draws(4, 30)) {
		rng := rand.New(rand.NewPCG(seed, 51))
		in := schedtest.Arrivals(seed, 13+rng.IntN(8), []float64{58, 90}[rng.IntN(2)])
		obj := []sched.Objective{sched.TotalJCT, sched.Makespan, sched.WeightedCompletion}[rng.IntN(3)]
		limits := exact.Limits{Nodes: 60_000}
		alone, err := exhaustive.Solve(t.Context(), in, obj, limits)
		if err != nil {
			t.Fatal(err)
		}
		both, err := gangSearch(t.Context(), in, obj, limits)
		if err != nil {
			t.Fatal(err)
		}
		again, err := gangSearch(t.Context(), in, obj, limits)
		if err != nil {
			t.Fatal(err)
		}
		v := schedtest.Verify(t, in, both.Schedule)
		switch {
		case v.Cost(obj).Cmp(both.Cost) != 0 || again.Cost.Cmp(both.Cost) != 0 || again.Bound.Cmp(both.Bound) != 0 || again.Nodes != both.Nodes:
			t.Errorf("seed %d, %v: %v, verified %v, again %v", seed, obj, both.Cost, v.Cost(obj), again.Cost)
		case alone.Bound.Cmp(both.Cost) > 0 || both.Bound.Cmp(alone.Cost) > 0:
			t.Errorf("seed %d, %v: [%v, %v] with window search, [%v, %v] without", seed, obj, both.Bound, both.Cost, alone.Bound, alone.Cost)
		}
	}
}

// BenchmarkGoals reports, of seeds 1 to 10 of schedtest.Arrivals within a minute each, how
// many optima are proven, and the mean and the widest gap in percent of the cost. The
// seconds are by the clock.
func BenchmarkGoals(b *testing.B) {
	for _, obj := range []sched.Objective{sched.TotalJCT, sched.Makespan} {
		for _, jobs := range []int{20, 30, 40, 60} {
			for _, every := range []float64{58, 90} {
				b.Run(fmt.Sprintf("%v/jobs=%d/every=%vs", obj, jobs, every), func(b *testing.B) {
					for b.Loop() {
						proven, sum, widest := 0, 0.0, 0.0
						for seed := uint64(1); seed <= 10; seed++ {
							r, err := gangSearch(b.Context(), schedtest.Arrivals(seed, jobs, every), obj, exact.Limits{Time: time.Minute})
							if err != nil {
								b.Fatal(err)
							}
							if r.Optimal() {
								proven++
							}
							cost, _ := r.Cost.Float64()
							bound, _ := r.Bound.Float64()
							gap := 100 * (cost - bound) / cost
							sum, widest = sum+gap, max(widest, gap)
						}
						b.ReportMetric(float64(proven), "proven")
						b.ReportMetric(sum/10, "gap-mean-%")
						b.ReportMetric(widest, "gap-widest-%")
					}
				})
			}
		}
	}
}
