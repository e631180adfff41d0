package elastic_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"yardstick/bounds"
	"yardstick/formulate"
	"yardstick/formulate/elastic"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// shape varies everything that random elastic instances can.
func shape(r *rand.Rand, jobs int) schedtest.ElasticShape {
	return schedtest.ElasticShape{Jobs: jobs, Servers: 1 + r.IntN(3), Resources: 1 + r.IntN(3), WorkerTypes: 1 + r.IntN(2), ServerTypes: r.IntN(3),
		Workers: 4, Capacity: 4 + r.IntN(4), Slots: 4, Rings: r.IntN(2) == 0, Weights: true, Releases: sched.Time(r.IntN(3)) * 8 * sched.Second}
}

var es = sched.Class{Kind: sched.E, Slotted: true}

var totals = []sched.Objective{sched.WeightedCompletion, sched.TotalCompletion, sched.TotalJCT, sched.MeanJCT}

func costOf(t testing.TB, in *sched.Instance, obj sched.Objective, s *sched.Schedule) *big.Rat {
	t.Helper()
	return schedtest.Verify(t, in, s).Cost(obj)
}

// TestRoutes: branch and price, both integer programs and enumeration agree.
func TestRoutes(t *testing.T) {
	draws, tree := tier.Draws(50, 200), 0
	schedtest.EachSeed(t, draws, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 2+r.IntN(2)))
		obj := totals[r.IntN(len(totals))]
		s, want := schedtest.ElasticBruteForce(in, obj)
		if costOf(t, in, obj, s).Cmp(want) != 0 {
			t.Fatal("enumeration")
		}
		o, err := elastic.Solve(context.Background(), in, obj, lpsolve.LP{}, milp.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if !o.Optimal() || o.Bound.Cmp(want) != 0 || o.Cost.Cmp(want) != 0 || costOf(t, in, obj, o.Schedule).Cmp(want) != 0 {
			t.Fatalf("%v by branch and price: %v of at least %v, want %v\n%+v", obj, o.Cost, o.Bound, want, in)
		}
		if o.Nodes > 1 {
			tree++
		}
		if obj == sched.MeanJCT {
			return
		}
		for _, build := range []func(*sched.Instance, sched.Objective) (*formulate.Program, error){elastic.Listed, elastic.Compact} {
			p, err := build(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			r, err := branch.New(lpsolve.LP{}).Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Termination != milp.Optimal || r.Primal != milp.Proven || r.Dual != milp.Proven || p.Relation != formulate.Exact {
				t.Fatalf("%s: %s, %s, %s, %v", p.Model.Name, r.Termination, r.Primal, r.Dual, p.Relation)
			}
			s, err := p.Decode(r.X)
			if err != nil {
				t.Fatal(err)
			}
			if got := costOf(t, in, obj, s); got.Cmp(want) != 0 || new(big.Rat).SetFloat64(r.PrimalBound).Cmp(want) != 0 {
				t.Fatalf("%v by %s: %v, its schedule %v, want %v\n%+v", obj, p.Model.Name, r.PrimalBound, got, want, in)
			}
		}
	})
	if 20*tree < draws {
		t.Errorf("only %d trees have more than a node", tree)
	}
}

// all returns every bound for an objective, those of class F(min) last.
func all(t testing.TB, in *sched.Instance, obj sched.Objective) []bounds.Bound {
	t.Helper()
	var out []bounds.Bound
	must := func(b bounds.Bound, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	relaxed := func(r *elastic.Relaxation, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if r.LP.Termination != milp.Optimal {
			t.Fatalf("%s ends with %s", r.Name, r.LP.Termination)
		}
		out = append(out, r.Bound)
	}
	ctx, solver := context.Background(), lpsolve.LP{}
	relaxed(elastic.Conf(ctx, in, obj, solver, milp.Limits{}))
	relaxed(elastic.Aggregate(ctx, in, obj, solver, milp.Limits{}))
	late, _, err := elastic.Deadlines(ctx, in, obj, 30, milp.Limits{})
	must(late, err)
	tariff, err := elastic.Prices(ctx, in, obj, elastic.PricesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, tariff.Bound)
	for _, kind := range []sched.Class{es, {Kind: sched.FluidMin, Slotted: true}, {Kind: sched.FluidMin}} {
		must(elastic.MeanBusyTime(in, obj, kind))
		fine, _, err := elastic.Intervals(ctx, in, obj, kind, 1.3, solver, milp.Limits{})
		must(fine, err)
		coarse, _, err := elastic.Intervals(ctx, in, obj, kind, 2, solver, milp.Limits{})
		coarse.Name += "-2"
		must(coarse, err)
		must(elastic.Alone(in, obj, kind))
	}
	return out
}

// TestBounds: no bound exceeds the optimum, and each keeps, on a fixed family of
// instances, the share of it that it has shown.
func TestBounds(t *testing.T) {
	const n = 120
	names := []string{}
	mean, least := map[string]float64{}, map[string]float64{}
	var best float64
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 11))
		s := shape(r, 3)
		in := schedtest.Elastic(r, s)
		const obj = sched.WeightedCompletion
		schedule, optimum := schedtest.ElasticBruteForce(in, obj)
		class := schedule.Class
		largest := 0.0
		for _, b := range all(t, in, obj) {
			if err := b.Divides(class, obj); err != nil {
				t.Fatal(err)
			}
			if b.Value.Cmp(optimum) > 0 {
				t.Fatalf("seed %d: %s of class %v is %v, more than the optimum %v\n%+v", seed, b.Name, b.Class, b.Value, optimum, in)
			}
			name := b.Name + " " + b.Class.String()
			share, _ := new(big.Rat).Quo(b.Value, optimum).Float64()
			if _, known := least[name]; !known {
				names, least[name] = append(names, name), share
			}
			mean[name] += share / n
			least[name] = min(least[name], share)
			largest = max(largest, share)
		}
		best += largest / n
	}
	want := map[string]float64{"elastic-conf Es": 0.966, "elastic-aggregate Es": 0.941, "elastic-tariff Es": 0.938, "elastic-deadlines Es": 0.916, "elastic-mean-busy-time Es": 0.886,
		"elastic-intervals Es": 0.855, "elastic-intervals-2 Es": 0.841, "elastic-alone Es": 0.811,
		"elastic-mean-busy-time F(min)s": 0.763, "elastic-intervals F(min)s": 0.831, "elastic-intervals-2 F(min)s": 0.824, "elastic-alone F(min)s": 0.811,
		"elastic-mean-busy-time F(min)": 0.580, "elastic-intervals F(min)": 0.549, "elastic-intervals-2 F(min)": 0.543, "elastic-alone F(min)": 0.537}
	for _, name := range names {
		t.Logf("%-30s mean %.3f, least %.3f", name, mean[name], least[name])
		if w, known := want[name]; !known || mean[name] < w-0.002 {
			t.Errorf("%s is %.4f of the optimum on average: it was %.4f", name, mean[name], w)
		}
	}
	t.Logf("%-30s mean %.3f", "the largest", best)
}

// TestPreemptive: a job that may change its workers does in three slots of a GPU
// what takes it four otherwise. Two jobs then cost 3 slots, less than bounds of
// class Es, but not than those of class F(min).
func TestPreemptive(t *testing.T) {
	in := &sched.Instance{Name: "resized", Model: sched.ModelElastic, Slot: 10 * sched.Second, Cluster: sched.Uniform(1, 2, 1e9, 1e9),
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bw"}, Bandwidth: 1, Workers: []sched.Container{{Demand: []int64{1, 1}}}}}
	in.Cluster.Servers[0].Capacity = []int64{2, 2}
	for _, batches := range []int64{5, 2} { // of half a slot each
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Elastic: &sched.Elastic{Ring: true, MaxWorkers: 2, Batches: batches, Train: []sched.Duration{5e9}, Update: []sched.Duration{0}}})
	}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	const obj = sched.TotalCompletion
	_, optimum := schedtest.ElasticBruteForce(in, obj)
	one, two := in.ElasticPlacement(0, 0, []int{1}, nil), in.ElasticPlacement(0, 0, []int{2}, nil)
	resized := &sched.Schedule{Class: sched.Class{Kind: sched.EP, Slotted: true}, Segments: []sched.Segment{
		in.ElasticSegment(0, 0, 1, one), in.ElasticSegment(1, 0, 1, one), in.ElasticSegment(0, 1, 1, two)}}
	cost := costOf(t, in, obj, resized)
	if slot := big.NewRat(int64(in.Slot), 1); new(big.Rat).Quo(optimum, slot).Cmp(big.NewRat(4, 1)) != 0 || new(big.Rat).Quo(cost, slot).Cmp(big.NewRat(3, 1)) != 0 {
		t.Fatalf("optimum %v, resized %v", optimum, cost)
	}
	more := false
	for _, b := range all(t, in, obj) {
		divides := b.Divides(resized.Class, obj) == nil
		if divides != (b.Class.Kind == sched.FluidMin) || divides && b.Value.Cmp(cost) > 0 {
			t.Errorf("%s of class %v is %v, the schedule costs %v (%v)", b.Name, b.Class, b.Value, cost, divides)
		}
		more = more || b.Value.Cmp(cost) > 0
	}
	if !more {
		t.Error("no bound of class Es exceeds the cost")
	}
}

// TestRelations: scaling scales, permuting does nothing, another server or a
// later release does no harm.
func TestRelations(t *testing.T) {
	schedtest.EachSeed(t, 30, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 2+r.IntN(2)))
		const obj = sched.TotalJCT
		base := all(t, in, obj)
		solve := func(in *sched.Instance) *big.Rat {
			o, err := elastic.Solve(context.Background(), in, obj, lpsolve.LP{}, milp.Limits{})
			if err != nil || !o.Optimal() {
				t.Fatal(err)
			}
			costOf(t, in, obj, o.Schedule)
			return o.Cost
		}
		optimum := solve(in)
		scaled := schedtest.ScaleElastic(in, 3)
		if got := solve(scaled); got.Cmp(new(big.Rat).Mul(optimum, big.NewRat(3, 1))) != 0 {
			t.Errorf("optimum %v, %v in the third of the time unit", optimum, got)
		}
		permuted := *in
		permuted.Jobs = nil
		for _, i := range r.Perm(len(in.Jobs)) {
			permuted.Jobs = append(permuted.Jobs, in.Jobs[i])
		}
		if got := solve(&permuted); got.Cmp(optimum) != 0 {
			t.Errorf("optimum %v, %v with jobs permuted", optimum, got)
		}
		more := *in
		more.Cluster.Servers = append(append([]sched.Server(nil), in.Cluster.Servers...), in.Cluster.Servers[r.IntN(len(in.Cluster.Servers))])
		if got := solve(&more); got.Cmp(optimum) > 0 {
			t.Errorf("optimum %v, %v with another server", optimum, got)
		}
		for i, b := range all(t, scaled, obj) {
			if b.Name != base[i].Name || !near(b.Value, new(big.Rat).Mul(base[i].Value, big.NewRat(3, 1)), b.Class.Kind == sched.FluidMin) {
				t.Errorf("%s: %v, %v in the third of the time unit", b.Name, base[i].Value, b.Value)
			}
		}
	})
}

// near compares values but for what linear programs leave open, and what rounding
// microseconds down does.
func near(a, b *big.Rat, micro bool) bool {
	x, _ := a.Float64()
	y, _ := b.Float64()
	d := x - y
	return d*d <= 1e-12*(1+x*x) || micro && d*d <= 1e6
}

// TestRefused: what does not apply is an error.
func TestRefused(t *testing.T) {
	in := schedtest.Elastic(schedtest.Rand(1), schedtest.ElasticShape{Jobs: 2, Servers: 1, Resources: 1, WorkerTypes: 1, Workers: 2, Capacity: 4, Slots: 2})
	gang := schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 2, Servers: 1, GPUs: 2, Stages: 1})
	for _, c := range []struct {
		in  *sched.Instance
		obj sched.Objective
	}{{gang, sched.TotalCompletion}, {in, sched.Makespan}, {in, sched.ScheduledWeight}} {
		if _, err := elastic.Solve(context.Background(), c.in, c.obj, lpsolve.LP{}, milp.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s, %v: %v", c.in.Model, c.obj, err)
		}
		if _, err := elastic.Alone(c.in, c.obj, es); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s, %v: %v", c.in.Model, c.obj, err)
		}
	}
	if _, err := elastic.Alone(in, sched.TotalJCT, sched.Class{Kind: sched.E}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Error(err)
	}
	if _, err := elastic.Listed(in, sched.MeanJCT); err == nil {
		t.Error("the mean JCT was built")
	}
	if _, _, err := elastic.Intervals(context.Background(), in, sched.TotalJCT, es, 1, lpsolve.LP{}, milp.Limits{}); err == nil {
		t.Error("a grid that does not grow was accepted")
	}
	in.Jobs[0].Elastic.Batches = 1e15
	if _, err := elastic.Solve(context.Background(), in, sched.TotalJCT, lpsolve.LP{}, milp.Limits{}); err == nil {
		t.Error("a job that runs nowhere was accepted")
	}
}

// TestShortSlots: a horizon of so many slots that their capacities fill the memory is
// refused before any program is made of them.
func TestShortSlots(t *testing.T) {
	in := schedtest.Elastic(schedtest.Rand(1), schedtest.ElasticShape{Jobs: 2, Servers: 4, Resources: 3, WorkerTypes: 1, Workers: 2, Capacity: 4, Slots: 4})
	in.Slot /= 20_000
	for i := range in.Jobs {
		in.Jobs[i].Release -= in.Jobs[i].Release % in.Slot
	}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, solve := range map[string]func() error{
		"optimum": func() error {
			_, err := elastic.Solve(t.Context(), in, sched.TotalJCT, lpsolve.LP{}, milp.Limits{})
			return err
		},
		"conf": func() error {
			_, err := elastic.Conf(t.Context(), in, sched.TotalJCT, lpsolve.LP{}, milp.Limits{})
			return err
		},
	} {
		if err := solve(); !errors.Is(err, sched.ErrNotApplicable) || !strings.Contains(err.Error(), "choose longer slots") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
