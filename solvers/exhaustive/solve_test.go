package exhaustive

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/bounds"
	"yardstick/internal/number"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
	"yardstick/solvers/partition"
)

func mustSolve(t *testing.T, in *sched.Instance, obj sched.Objective, l exact.Limits) *exact.Result {
	t.Helper()
	r, err := Solve(t.Context(), in, obj, l)
	if err != nil {
		t.Fatal(err)
	}
	check(t, in, obj, r)
	return r
}

// TestBoundsBelowOptimum: every bound of package bounds is at most the optimum.
func TestBoundsBelowOptimum(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 3))
		in := randomInstance(rng, 1+rng.IntN(7))
		for _, obj := range objectives {
			r := mustSolve(t, in, obj, exact.Limits{})
			all, err := bounds.All(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range all {
				if b.Value.Cmp(r.Cost) > 0 {
					t.Errorf("seed %d, %v: %s = %v exceeds the optimum %v", seed, obj, b.Name, b.Value, r.Cost)
				}
			}
		}
	}
}

// TestRelations checks how optima move with the instance.
func TestRelations(t *testing.T) {
	for seed := range uint64(tier.Draws(80, 250)) {
		rng := rand.New(rand.NewPCG(seed, 4))
		n := 3 + rng.IntN(4)
		in := randomInstance(rng, n)
		jobs := schedtest.PermuteJobs(in, rng.Perm(n))
		servers := schedtest.PermuteServers(in, rng.Perm(len(in.Cluster.Servers)))
		larger := schedtest.AddServer(in, sched.Server{GPUs: 1 + rng.IntN(3)})
		shifted := schedtest.ShiftReleases(in, 777)
		scaled := schedtest.Scale(in, 3)
		for _, obj := range pick2(rng) {
			cost := mustSolve(t, in, obj, exact.Limits{}).Cost
			equal := func(name string, in *sched.Instance, want *big.Rat) {
				if got := mustSolve(t, in, obj, exact.Limits{}).Cost; got.Cmp(want) != 0 {
					t.Errorf("seed %d, %v: the optimum %v becomes %v %s, not %v", seed, obj, cost, got, name, want)
				}
			}
			equal("when jobs are permuted", jobs, cost)
			equal("when servers are permuted", servers, cost)
			moved := make([]sched.Time, n) // what the shift adds to each completion
			for i := range moved {
				moved[i] = 777
			}
			want := new(big.Rat).Set(cost)
			if obj != sched.TotalJCT && obj != sched.MeanJCT {
				want.Add(want, obj.Cost(in, moved))
			}
			equal("when releases move", shifted, want)
			// Running times are rounded up once, so that 3d − 2 ≤ d' ≤ 3d.
			if got := mustSolve(t, scaled, obj, exact.Limits{}).Cost; got.Cmp(new(big.Rat).Mul(cost, big.NewRat(3, 1))) > 0 {
				t.Errorf("seed %d, %v: the optimum %v becomes %v when time is scaled by 3", seed, obj, cost, got)
			}
			if got := mustSolve(t, larger, obj, exact.Limits{}).Cost; got.Cmp(cost) > 0 {
				t.Errorf("seed %d, %v: the optimum %v rises to %v with another server", seed, obj, cost, got)
			}
		}
	}
}

// TestPoolAgainstServers solves instances without placement-dependent jobs a
// second time as if one of them were, which makes the search track servers.
func TestPoolAgainstServers(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 5))
		in := randomInstance(rng, 4+rng.IntN(4))
		for i := range in.Jobs {
			j := &in.Jobs[i]
			j.Stages = []sched.Stage{{Replicas: j.Gang(), Compute: j.Stages[0].Compute}}
		}
		for _, obj := range pick2(rng) {
			want := mustSolve(t, in, obj, exact.Limits{}).Cost
			p, err := newProblem(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			patterns, err := partition.Patterns(in, p.jobs[0].id, 0)
			if err != nil {
				t.Fatal(err)
			}
			p.jobs[0].duration, p.sensitive = map[string]int64{}, 1
			var key patternKey
			var class []pattern
			for _, pt := range patterns {
				key.reset()
				var q pattern
				for i, n := range pt.Parts {
					kind := p.kind[slices.IndexFunc(in.Cluster.Servers, func(s sched.Server) bool { return s.GPUs == pt.Sizes[i] })]
					key.add(kind, n)
					q = append(q, need{n, kind})
				}
				p.jobs[0].duration[string(key.bytes())] = p.jobs[0].short
				class = append(class, q)
			}
			p.jobs[0].choices = []choice{{p.jobs[0].short, p.packer.extend(0, class)}}
			s := newSearch(t.Context(), p, exact.Limits{})
			s.improve(oneByOne(p))
			if err := s.run(number.Uint128{}); err != nil {
				t.Fatal(err)
			}
			if s.best.cost.Cmp(want) != 0 {
				t.Errorf("seed %d, %v: %v with servers, %v with a pool", seed, obj, s.best.cost, want)
			}
		}
	}
}

// TestWeights: weights that no common power of two makes small integers are
// rounded down in bounds, but the optimum stays exact.
func TestWeights(t *testing.T) {
	for seed := range uint64(tier.Draws(25, 200)) {
		rng := rand.New(rand.NewPCG(seed, 6))
		in := randomInstance(rng, 2+rng.IntN(3))
		for i := range in.Jobs {
			in.Jobs[i].Weight = []float64{0.1, 1.0 / 3, 1e-9 / 7, 1e9 / 7, math.Pi, 1e-300, 3}[rng.IntN(7)]
			if seed%2 == 0 { // equally heavy but for the last bits
				in.Jobs[i].Weight = 1 + float64(rng.IntN(3))*0x1p-52
			}
		}
		_, want := schedtest.BruteForce(in, sched.WeightedCompletion)
		if r := mustSolve(t, in, sched.WeightedCompletion, exact.Limits{}); r.Cost.Cmp(want) != 0 {
			t.Errorf("seed %d: cost %v, enumeration finds %v", seed, r.Cost, want)
		}
		if _, got := searchFrom(t, in, sched.WeightedCompletion); got.Cmp(want) != 0 {
			t.Errorf("seed %d: search finds %v, enumeration %v", seed, got, want)
		}
	}
	in := schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 5), schedtest.Job(0, 1, 5))
	in.Jobs[0].Weight, in.Jobs[1].Weight = 1, 1e-300
	if p, err := newProblem(in, sched.WeightedCompletion); err != nil || p.exact {
		t.Errorf("weights 300 orders of magnitude apart are exact: %v", err)
	}
}

// TestLimits: whatever ends a search, the result is a verified schedule and a
// bound below the optimum.
func TestLimits(t *testing.T) {
	var in *sched.Instance
	var full *exact.Result
	for _, w := range traceWindows(t, 10, 2, 4, 400_000_000) { // the hardest that is proven
		if r := mustSolve(t, w, sched.TotalJCT, exact.Limits{Nodes: 100_000}); r.Termination == milp.Optimal && (full == nil || r.Nodes > full.Nodes) {
			in, full = w, r
		}
	}
	if full.Nodes < 5000 {
		t.Fatalf("all searches end within %d nodes: the test needs a harder instance", full.Nodes)
	}
	short := mustSolve(t, in, sched.TotalJCT, exact.Limits{Nodes: 500})
	if short.Termination != milp.NodeLimit || short.Nodes != 500 {
		t.Errorf("%s after %d of 500 nodes", short.Termination, short.Nodes)
	}
	if again := mustSolve(t, in, sched.TotalJCT, exact.Limits{Nodes: 500}); !reflect.DeepEqual(again, short) {
		t.Errorf("a second search gives %+v after %+v", again, short)
	}
	root, err := bounds.Best(in, sched.TotalJCT)
	if err != nil || short.Bound.Cmp(root.Value) < 0 || short.Bound.Cmp(full.Bound) > 0 {
		t.Errorf("lower bound %v after 500 nodes, %v at the root, %v in the end", short.Bound, root.Value, full.Bound)
	}
	if r := mustSolve(t, in, sched.TotalJCT, exact.Limits{Time: time.Nanosecond}); r.Termination != milp.TimeLimit {
		t.Errorf("%s after a nanosecond", r.Termination)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := Solve(ctx, in, sched.TotalJCT, exact.Limits{})
	if err != nil || r.Termination != milp.Interrupted {
		t.Fatalf("%+v, %v when cancelled", r, err)
	}
	check(t, in, sched.TotalJCT, r)
}

// TestBoundAtLimits: wherever a search is stopped, no schedule costs less than
// the bound, which is that of the nodes left open and not only the root's.
func TestBoundAtLimits(t *testing.T) {
	stopped, better := 0, 0
	for seed := range uint64(tier.Draws(40, 120)) {
		r := rand.New(rand.NewPCG(seed, 24))
		in := spread(r, 6+r.IntN(2))
		for _, obj := range pick2(r) {
			full := mustSolve(t, in, obj, exact.Limits{})
			root, err := bounds.Best(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			for nodes := 1; nodes < full.Nodes; nodes *= 3 {
				short := mustSolve(t, in, obj, exact.Limits{Nodes: nodes})
				if short.Bound.Cmp(full.Cost) > 0 || short.Bound.Cmp(root.Value) < 0 {
					t.Errorf("seed %d, %v, %d nodes: lower bound %v, root %v, optimum %v", seed, obj, nodes, short.Bound, root.Value, full.Cost)
				}
				stopped++
				if short.Bound.Cmp(root.Value) > 0 {
					better++
				}
			}
		}
	}
	t.Logf("%d of %d stopped searches have more than the root's bound", better, stopped)
	if 2*better < stopped {
		t.Errorf("only %d of %d stopped searches have more than the root's bound", better, stopped)
	}
}

func TestUnsupported(t *testing.T) {
	plain := func() *sched.Instance {
		return schedtest.Plain(schedtest.Servers(2, 2), schedtest.Job(0, 1, 1000), schedtest.Job(0, 3, 1000))
	}
	cases := map[string]func(*sched.Instance) sched.Objective{
		"preemptive model":    func(in *sched.Instance) sched.Objective { in.Model = sched.ModelPreemptive; return sched.TotalJCT },
		"slots":               func(in *sched.Instance) sched.Objective { in.Slot = 1000; return sched.TotalJCT },
		"maximised objective": func(in *sched.Instance) sched.Objective { return sched.ScheduledWeight },
		"too many jobs": func(in *sched.Instance) sched.Objective {
			for len(in.Jobs) <= maxJobs {
				in.Jobs = append(in.Jobs, in.Jobs[0])
			}
			return sched.TotalJCT
		},
		"too many patterns": func(in *sched.Instance) sched.Objective {
			in.Cluster = sched.Uniform(60, 60, 1e9, 1e9)
			in.Jobs[0].Stages[0] = sched.Stage{Replicas: 60, Compute: 1, Params: 1}
			return sched.TotalJCT
		},
		"times too large": func(in *sched.Instance) sched.Objective {
			in.Cluster = sched.Uniform(1, 10_000, 1e9, 1e9)
			in.Jobs[0].Release = sched.MaxTime
			return sched.TotalJCT
		},
	}
	for name, change := range cases {
		in := plain()
		obj := change(in)
		if _, err := Solve(t.Context(), in, obj, exact.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestManyJobs: jobs that seldom compete are no obstacle.
func TestManyJobs(t *testing.T) {
	var jobs []sched.Job
	for i := range sched.Time(64) {
		jobs = append(jobs, schedtest.Job(i*1000, 1+int(i)%4, 1500))
	}
	in := schedtest.Plain(schedtest.Servers(4, 4), jobs...)
	if r := mustSolve(t, in, sched.TotalJCT, exact.Limits{Nodes: 100_000}); r.Termination != milp.Optimal {
		t.Errorf("%s", r.Termination)
	}
}

// TestBeyondMaxTime: where the jobs need more time than there is, the search
// refuses, and a job that ends at the last moment is found.
func TestBeyondMaxTime(t *testing.T) {
	const part = sched.MaxTime / 3
	in := &sched.Instance{Name: "long", Model: sched.ModelGang, Cluster: sched.Uniform(1, 1, 1e9, 1e9)}
	for range 3 {
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Iters: int64(part), Stages: []sched.Stage{{Replicas: 1, Compute: 1000}}})
	}
	for _, obj := range objectives {
		if r := mustSolve(t, in, obj, exact.Limits{}); r.Termination != milp.Optimal {
			t.Errorf("%v: %s", obj, r.Termination)
		}
	}
	in.Jobs[2].Release = 1
	in.Jobs[1].Release = 2
	in.Jobs[0].Release = 3
	for _, obj := range objectives {
		r, err := Solve(t.Context(), in, obj, exact.Limits{})
		if !errors.Is(err, sched.ErrNotApplicable) || !strings.Contains(err.Error(), "there is no time after") {
			t.Errorf("%v: %+v, %v", obj, r, err)
		}
	}
}
