package exhaustive

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"yardstick/bounds"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// TestPricedPlans: plans made by prices, good or bad ones, are schedules, and cost no less
// than the optimum; the first of them is the cheapest.
func TestPricedPlans(t *testing.T) {
	made, optimal := 0, 0
	for seed := range uint64(tier.Draws(200, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 41))
		in := randomInstance(rng, 2+rng.IntN(3))
		obj := []sched.Objective{sched.TotalJCT, sched.WeightedCompletion, sched.MeanJCT}[rng.IntN(3)]
		_, want := schedtest.BruteForce(in, obj)
		d, err := bounds.Knapsack(t.Context(), in, obj, bounds.KnapsackOptions{Slots: 1 + rng.IntN(40), Iterations: 1 + rng.IntN(60), Upper: want})
		if err != nil {
			t.Fatal(err)
		}
		p, err := newProblem(in, obj)
		if err != nil {
			t.Fatal(err)
		}
		s := newSearch(t.Context(), p, exact.Limits{})
		s.improve(oneByOne(p))
		if s.prices = d.Prices; !s.exact {
			continue
		}
		if err := s.charge(); err != nil {
			t.Fatal(err)
		}
		plans := s.pricedPlans(t.Context(), seed, 36, 4)
		for k, pl := range plans {
			out, err := p.decode(pl.plan)
			if err != nil {
				t.Fatal(err)
			}
			cost := schedtest.Verify(t, in, out).Cost(obj)
			if cost.Cmp(p.unscale(pl.cost)) != 0 || cost.Cmp(want) < 0 || k > 0 && !plans[k-1].cost.Less(pl.cost) {
				t.Fatalf("seed %d: plan %d costs %v, is said to cost %v; optimum %v", seed, k, cost, p.unscale(pl.cost), want)
			}
			if made++; cost.Cmp(want) == 0 {
				optimal++
			}
		}
		s.stopped = ""
		for _, pl := range plans {
			s.improve(pl.plan)
		}
		if err := s.tree(0); err != nil || s.best.cost.Cmp(want) != 0 || !s.proven() {
			t.Fatalf("seed %d: %v of %v (%v)", seed, s.best.cost, want, err)
		}
	}
	t.Logf("%d plans, %d of them optimal", made, optimal)
	if 4*optimal < made {
		t.Errorf("%d of %d plans are optimal", optimal, made)
	}
}

// TestStagesAgree: whatever stage proves an optimum, and from whatever improves plans, it
// is the same.
func TestStagesAgree(t *testing.T) {
	for seed := range uint64(tier.Draws(2, 12)) {
		rng := rand.New(rand.NewPCG(seed, 42))
		in := schedtest.Gang(rng, schedtest.Shape{Jobs: fewestPriced, Servers: 2, GPUs: 4, Uniform: true, Stages: 1, Weights: true})
		obj := []sched.Objective{sched.TotalJCT, sched.WeightedCompletion, sched.Makespan}[rng.IntN(3)]
		known := mustSolve(t, in, obj, exact.Limits{Nodes: 100_000})
		if !known.Optimal() {
			continue
		}
		asked := 0
		for name, improve := range map[string]improver{
			"nothing": nil,
			"itself": func(_ context.Context, from *sched.Schedule, _ uint64) (*sched.Schedule, error) {
				asked++
				return from, nil
			},
			"optimum": func(context.Context, *sched.Schedule, uint64) (*sched.Schedule, error) { return known.Schedule, nil },
			"not applicable": func(context.Context, *sched.Schedule, uint64) (*sched.Schedule, error) {
				return nil, sched.ErrNotApplicable
			},
		} {
			p, err := newProblem(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			s := newSearch(t.Context(), p, exact.Limits{})
			s.improve(oneByOne(p))
			closed, err := bounds.Best(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			s.root = closed.Value
			for _, g := range []stage{{effort: 1, trials: 20, improved: 2, nodes: 100}, {effort: 1, trials: 20, improved: 2}} {
				if s.proven() {
					break
				}
				if err := s.prepare(t.Context(), g, improve); err != nil {
					t.Fatal(err)
				}
				if err := s.tree(g.nodes); err != nil {
					t.Fatal(err)
				}
			}
			if !s.proven() || s.best.cost.Cmp(known.Cost) != 0 {
				t.Errorf("seed %d, %v, improved by %s: %v, bound %v; known %v", seed, obj, name, s.best.cost, s.bound(), known.Cost)
			}
		}
		if asked == 0 {
			t.Errorf("seed %d: no plan was to be improved", seed)
		}
	}
}

// TestBadImprovement: what improves must return schedules.
func TestBadImprovement(t *testing.T) {
	in := schedtest.Arrivals(4, 30, 58)
	for name, improve := range map[string]improver{
		"none": func(context.Context, *sched.Schedule, uint64) (*sched.Schedule, error) {
			return &sched.Schedule{Class: sched.Class{Kind: sched.N}}, nil
		},
		"early": func(_ context.Context, from *sched.Schedule, _ uint64) (*sched.Schedule, error) {
			out := &sched.Schedule{Class: from.Class}
			for _, seg := range from.Segments {
				out.Segments = append(out.Segments, sched.Segment{Job: seg.Job, Start: 0, End: seg.End - seg.Start, Phase: seg.Phase, Place: seg.Place})
			}
			return out, nil
		},
	} {
		if _, err := (Search{Improve: improve}).Solve(t.Context(), in, sched.TotalJCT, exact.Limits{Nodes: 2 * cheapNodes}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	broken := errors.New("broken")
	improve := func(context.Context, *sched.Schedule, uint64) (*sched.Schedule, error) { return nil, broken }
	if _, err := (Search{Improve: improve}).Solve(t.Context(), in, sched.TotalJCT, exact.Limits{Nodes: 2 * cheapNodes}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestBeyondTheTree: more jobs than the tree holds have a bracket all the same, an optimum
// where the bounds at the root meet it, and the limits stop it.
func TestBeyondTheTree(t *testing.T) {
	for _, n := range []int{maxTreeJobs + 1, 100, maxJobs} {
		var jobs []sched.Job
		for i := range n {
			jobs = append(jobs, schedtest.Job(sched.Time(i)*1000, 1+i%4, 900))
		}
		in := schedtest.Plain(schedtest.Servers(4, 4), jobs...)
		for _, obj := range []sched.Objective{sched.TotalJCT, sched.Makespan} {
			if r := mustSolve(t, in, obj, exact.Limits{}); !r.Optimal() || r.Termination != milp.Optimal {
				t.Errorf("%d jobs that never meet, %v: %s, %v of %v", n, obj, r.Termination, r.Bound, r.Cost)
			}
		}
	}
	in := schedtest.Arrivals(1, maxTreeJobs+1, 40)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{"whole": t.Context(), "ended": ended} {
		r, err := Solve(ctx, in, sched.TotalJCT, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, in, sched.TotalJCT, r)
		want := milp.NodeLimit
		if name == "ended" {
			want = milp.Interrupted
		}
		if r.Termination != want || r.Nodes != 0 {
			t.Errorf("%s: %s, %d nodes", name, r.Termination, r.Nodes)
		}
	}
}
