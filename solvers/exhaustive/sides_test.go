package exhaustive

import (
	"fmt"
	"math"
	"testing"

	"yardstick/bounds"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exact"
)

// BenchmarkSides reports, of seeds 1 to 10 with at most 150,000 nodes each, how many
// optima are proven with prices at the root and without, the nodes of both, and the
// shares of the best schedule known that the bounds reach in the mean and at least.
func BenchmarkSides(b *testing.B) {
	for _, c := range []struct {
		jobs  int
		every float64
	}{{20, 58}, {20, 90}, {30, 58}, {30, 90}} {
		b.Run(fmt.Sprintf("jobs=%d/every=%vs", c.jobs, c.every), func(b *testing.B) {
			for b.Loop() {
				report := map[string]float64{}
				least := func(name string, v float64) { report[name] = min(v, report[name]) }
				for _, name := range []string{"closed-least", "row-least", "knapsack-least"} {
					report[name] = math.Inf(1)
				}
				for seed := uint64(1); seed <= 10; seed++ {
					in, obj := schedtest.Arrivals(seed, c.jobs, c.every), sched.TotalJCT
					p, err := newProblem(in, obj)
					if err != nil {
						b.Fatal(err)
					}
					plain := newSearch(b.Context(), p, exact.Limits{Nodes: 150_000})
					plain.improve(firstIncumbent(p))
					first := plain.best.cost
					closed, err := bounds.Best(in, obj)
					if err != nil {
						b.Fatal(err)
					}
					if err := plain.run(p.rescale(closed.Value)); err != nil {
						b.Fatal(err)
					}
					r, err := Solve(b.Context(), in, obj, exact.Limits{Nodes: 150_000})
					if err != nil {
						b.Fatal(err)
					}
					row, err := bounds.Lagrangian(b.Context(), in, obj, bounds.LagrangianOptions{Effort: 2, Upper: first})
					if err != nil {
						b.Fatal(err)
					}
					pack, err := bounds.Knapsack(b.Context(), in, obj, bounds.KnapsackOptions{Effort: 2, Upper: first})
					if err != nil {
						b.Fatal(err)
					}
					known := r.Cost
					if plain.best.cost.Cmp(known) < 0 {
						known = plain.best.cost
					}
					best, _ := known.Float64()
					for name, v := range map[string]bounds.Bound{"closed": closed, "row": row.Bound, "knapsack": pack.Bound} {
						f, _ := v.Value.Float64()
						report[name+"-mean"] += f / best / 10
						least(name+"-least", f/best)
					}
					report["nodes"] += float64(r.Nodes)
					report["nodes-plain"] += float64(plain.nodes)
					if r.Optimal() {
						report["proven"]++
					}
					if plain.stopped == "" {
						report["proven-plain"]++
					}
				}
				for name, v := range report {
					b.ReportMetric(v, name)
				}
			}
		})
	}
}
