package primaldual_test

import (
	"context"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/heuristics/elastic"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func exact() primaldual.Exact {
	return primaldual.Exact{Context: context.Background(), Solver: lpsolve.LP{}, Limits: milp.Limits{Nodes: 2000}}
}

// contended draws an instance in which a few servers cannot do all that is
// asked for: demands are not small, as Theorem 3 needs them to be.
func contended(r *rand.Rand, jobs int) *sched.Instance {
	return schedtest.Elastic(r, schedtest.ElasticShape{Jobs: jobs, Servers: 1 + r.IntN(2), Resources: 2, WorkerTypes: 2, ServerTypes: 1 + r.IntN(2),
		Workers: 3, Capacity: 6, Slots: 6, Rings: r.IntN(2) == 0, Weights: true, Deadline: 4 + r.Int64N(4)})
}

// TestExactAgainstBruteForce: branch and price, for some of the jobs.
func TestExactAgainstBruteForce(t *testing.T) {
	schedtest.EachSeed(t, 25, func(t *testing.T, r *rand.Rand) {
		in := contended(r, 6)
		p := problem(in)
		p.Jobs = []sched.JobID{5, 1, 3, 2}
		want, err := brute{}.Solve(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := exact().Solve(p)
		if err != nil {
			t.Fatal(err)
		}
		schedtest.Verify(t, in, schedule(t, in, got.Runs))
		if got.Upper.Cmp(want.Upper) != 0 || weight(in, got.Runs).Cmp(want.Upper) != 0 {
			t.Errorf("weight %v, bound %v, want %v", weight(in, got.Runs), got.Upper, want.Upper)
		}
	})
}

// batches measures what A_maxweight schedules of the optimum, and how far the
// certificates are. It returns the number of instances whose optimum is proven.
func batches(t testing.TB, seeds, jobs int) int {
	share, bound := map[string]float64{}, map[string]float64{}
	crowd, instances := 0.0, 0.0
	for seed := range uint64(seeds) {
		in := contended(schedtest.Rand(seed), jobs)
		best, err := exact().Solve(problem(in))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		optimum := weight(in, best.Runs)
		if best.Upper.Cmp(optimum) != 0 || optimum.Sign() == 0 {
			continue // a limit
		}
		instances++
		for _, g := range greedies() {
			b, err := g.Solve(problem(in))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			w := schedtest.Verify(t, in, schedule(t, in, b.Runs)).Cost(sched.ScheduledWeight)
			if w.Cmp(optimum) > 0 || b.Upper.Cmp(optimum) < 0 {
				t.Errorf("seed %d: %s: weight %v of %v, bound %v", seed, g.Name(), w, optimum, b.Upper)
			}
			share[g.Name()] += ratio(w, optimum)
			bound[g.Name()] += ratio(b.Upper, optimum)
		}
		g := primaldual.Greedy{}
		crowd += g.Outcome(problem(in)).Tariff.Crowd
		s, err := elastic.Greedy(in)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		share["density greedy"] += ratio(schedtest.Verify(t, in, s).Cost(sched.ScheduledWeight), optimum)
	}
	for _, name := range keys(share) {
		t.Logf("%s: %.3f of the optimum, bound %.3f", name, share[name]/instances, bound[name]/instances)
	}
	t.Logf("%v instances of %d jobs, f·log2(λ)/C up to %.1f on average", instances, jobs, crowd/instances)
	return int(instances)
}

func TestBatches(t *testing.T) {
	if batches(t, 8, 7) < 6 {
		t.Error("too few optima")
	}
}

// BenchmarkBatches is the table of docs/primaldual.md.
func BenchmarkBatches(b *testing.B) {
	for b.Loop() {
		batches(b, 20, 10)
	}
}

func keys(m map[string]float64) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// replays compares A_online and the baselines on contended instances.
func replays(t testing.TB, seeds, jobs int, exactly bool) {
	policies := map[string]func() sim.Policy{
		"printed": func() sim.Policy { return primaldual.New(primaldual.Options{}) },
		"normalised": func() sim.Policy {
			return primaldual.New(primaldual.Options{MaxWeight: primaldual.Greedy{Pricing: primaldual.Normalised}})
		},
		"normalised, fill":      func() sim.Policy { return primaldual.New(primaldual.Options{MaxWeight: practical()}) },
		"…, shifted":            func() sim.Policy { return primaldual.New(primaldual.Options{MaxWeight: practical(), Shift: true}) },
		"elastic-fifo":          func() sim.Policy { return elastic.FIFO(elastic.FIFOOptions{}) },
		"elastic-fifo, ideal":   func() sim.Policy { return elastic.FIFO(elastic.FIFOOptions{Ideal: true}) },
		"elastic-fifo backfill": func() sim.Policy { return elastic.FIFO(elastic.FIFOOptions{Backfill: true}) },
		"elastic-drf":           elastic.DRF,
		"elastic-antman":        func() sim.Policy { return elastic.AntMan(1) },
		"elastic-tiresias":      elastic.Tiresias,
	}
	if exactly {
		policies["exact"] = func() sim.Policy { return primaldual.New(primaldual.Options{MaxWeight: exact()}) }
		policies["exact, shifted"] = func() sim.Policy { return primaldual.New(primaldual.Options{MaxWeight: exact(), Shift: true}) }
	}
	sum, instances := map[string]float64{}, 0.0
	alphas := 0.0
	for seed := range uint64(seeds) {
		r := schedtest.Rand(seed)
		in := contended(r, jobs)
		in.Deadline = 0
		for i := range in.Jobs {
			in.Jobs[i].Release = sched.Time(r.Int64N(80)) * sched.Second
		}
		instances++
		best := (*big.Rat)(nil)
		cost := map[string]*big.Rat{}
		for name, p := range policies {
			policy := p()
			cost[name] = replay(t, in, policy).Cost(sched.WeightedCompletion)
			if best == nil || cost[name].Cmp(best) < 0 {
				best = cost[name]
			}
			if a, ok := policy.(*primaldual.Policy); ok && name == "printed" {
				alpha, proven := a.Alpha()
				alphas += float64(alpha)
				if !proven {
					t.Errorf("seed %d: not proven", seed)
				}
			}
		}
		for name := range policies {
			sum[name] += ratio(cost[name], best)
		}
	}
	for _, name := range keys(sum) {
		t.Logf("%s: %.3f of the best known, on average", name, sum[name]/instances)
	}
	t.Logf("alpha %.1f with prices as printed", alphas/instances)
}

func TestReplays(t *testing.T) { replays(t, 20, 12, false) }

// BenchmarkReplays is the table of docs/primaldual.md.
func BenchmarkReplays(b *testing.B) {
	for b.Loop() {
		replays(b, 12, 12, true)
	}
}
