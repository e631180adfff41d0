package timeindexed

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/formulate"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// tight returns two equal servers (or, with unequal, others) and a few jobs of
// whole seconds that mostly run longer on more servers.
func tight(r *rand.Rand, jobs int, unequal bool) *sched.Instance {
	gpus := 2 + r.IntN(2)
	c := schedtest.Servers(gpus, gpus)
	if unequal {
		c = schedtest.Servers(gpus, gpus+1, 2)
	}
	in := &sched.Instance{Name: "tight", Model: sched.ModelGang, Cluster: c}
	in.Cluster.Intra = 1e18
	for range jobs {
		j := schedtest.Job(sched.Time(r.IntN(3))*sched.Second, 1+r.IntN(gpus+1), sched.Time(1+r.IntN(4))*sched.Second)
		j.Weight = float64(1 + r.IntN(5))
		if s := &j.Stages[0]; s.Replicas > 1 && r.IntN(3) > 0 {
			// An AllReduce of h bytes takes 2(k−1)/k·h·g/(x·10^9) seconds where g/x, the
			// size of a server over the part on it, is largest. Here x is 1, or 2 if k is 4.
			s.Params = sched.Bytes(500_000_000 * s.Replicas / (s.Replicas - 1) * max(1, s.Replicas-2))
			s.Compute -= 5 // nanoseconds, for the AllReduce on one server
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

func optimal(t *testing.T, m *milp.Model) *milp.Result {
	t.Helper()
	r, err := branch.New(lpsolve.LP{}).Solve(context.Background(), m, milp.Start{}, milp.Limits{Nodes: 20_000})
	if err != nil || r.Termination != milp.Optimal {
		t.Fatalf("%s: %+v, %v", m.Name, r, err)
	}
	return r
}

// linear solves the linear program; its bound is proven, its value near it.
func linear(t *testing.T, m *milp.Model) *milp.Result {
	t.Helper()
	lp, err := lpsolve.LP{}.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	r, err := lp.Solve(context.Background(), milp.Limits{})
	if err != nil || r.Termination != milp.Optimal {
		t.Fatalf("%s: %+v, %v", m.Name, r, err)
	}
	return r
}

var totals = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT}

type builder = func(*sched.Instance, sched.Objective, sched.Time, bool) (*formulate.Program, error)

// solved builds and solves a program.
func solved(t *testing.T, build builder, in *sched.Instance, obj sched.Objective, slot sched.Time, up bool) (*formulate.Program, *milp.Result) {
	t.Helper()
	p, err := build(in, obj, slot, up)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Model.Validate(); err != nil {
		t.Fatal(err)
	}
	return p, optimal(t, p.Model)
}

// On whole seconds: aggregated ≤ configurations ≤ servers = optimum of the
// search in continuous time, and the points with servers are schedules.
func TestLadderOfPrograms(t *testing.T) {
	r := schedtest.Rand(20)
	var gained, left int
	for k := range 90 {
		in := tight(r, 3+r.IntN(3), k%3 == 0)
		obj := totals[k%3]
		if p := problemOf(t, in, obj); !p.divides(sched.Second) {
			t.Fatalf("instance %d is not of whole seconds", k)
		}
		best, err := exhaustive.Solve(context.Background(), in, obj, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		optimum, _ := best.Cost.Float64()
		_, agg := solved(t, Build, in, obj, sched.Second, false)
		conf, c := solved(t, BuildConfigurations, in, obj, sched.Second, false)
		servers, s := solved(t, BuildServers, in, obj, sched.Second, false)
		if servers.Relation != formulate.Exact || agg.DualBound > c.DualBound || c.DualBound > s.DualBound || s.DualBound != optimum {
			t.Errorf("instance %d, %v: aggregated %v, configurations %v, servers %v (%v), optimum %v", k, obj, agg.DualBound, c.DualBound, s.DualBound, servers.Relation, optimum)
		}
		schedule, err := servers.Decode(s.X)
		if err != nil {
			t.Fatal(err)
		}
		if cost := schedtest.Verify(t, in, schedule).Cost(obj); cost.Cmp(best.Cost) != 0 {
			t.Errorf("instance %d, %v: the point decodes to cost %v, optimum %v", k, obj, cost, best.Cost)
		}
		if schedule, err = conf.Decode(c.X); err == nil {
			schedtest.Verify(t, in, schedule)
		}
		if agg.DualBound < c.DualBound {
			gained++
		}
		if c.DualBound < optimum {
			left++
		}
	}
	t.Logf("configurations raise the bound in %d of 90 instances and stay below the optimum in %d", gained, left)
	if gained < 5 {
		t.Error("configurations gain nothing: the test has lost its subject")
	}
}

// On any data, rounded down ≤ optimum ≤ rounded up, for every program.
func TestLadderRoundsSafely(t *testing.T) {
	r := schedtest.Rand(21)
	for k := range 45 {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 3 + r.IntN(2), Servers: 2, GPUs: 2 + r.IntN(2), Stages: 1 + r.IntN(2), Traffic: true, Weights: true, Uniform: k%2 == 0})
		obj := totals[k%3]
		best, err := exhaustive.Solve(context.Background(), in, obj, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, build := range []builder{Build, BuildConfigurations, BuildServers} {
			down, d := solved(t, build, in, obj, sched.Second/3, false)
			bound, evidence := down.DualBound(d)
			if evidence != milp.Proven || new(big.Rat).SetFloat64(bound).Cmp(best.Cost) > 0 {
				t.Errorf("instance %d, %v: bound %v (%v), optimum %v", k, obj, bound, evidence, best.Cost)
			}
			if down.Decode != nil {
				t.Errorf("instance %d: a program rounded down decodes", k)
			}
		}
		up, u := solved(t, BuildServers, in, obj, sched.Second/3, true)
		if up.Relation != formulate.Restriction || new(big.Rat).SetFloat64(u.DualBound).Cmp(best.Cost) < 0 {
			t.Errorf("instance %d, %v: rounded up %v (%v), optimum %v", k, obj, u.DualBound, up.Relation, best.Cost)
		}
		schedule, err := up.Decode(u.X)
		if err != nil {
			t.Fatal(err)
		}
		if cost := schedtest.Verify(t, in, schedule).Cost(obj); cost.Cmp(best.Cost) < 0 || cost.Cmp(new(big.Rat).SetFloat64(u.PrimalBound)) > 0 {
			t.Errorf("instance %d, %v: the schedule costs %v, the point %v, optimum %v", k, obj, cost, u.PrimalBound, best.Cost)
		}
	}
}

// On equal servers the linear program with servers is no stronger than the
// aggregated one: the latter's point, all servers taken alike, is a point of
// the former.
func TestServersAddNothingToTheBound(t *testing.T) {
	r := schedtest.Rand(22)
	fractional, stronger := 0, 0
	for k := range 60 {
		in := tight(r, 3+r.IntN(4), false)
		obj := totals[k%3]
		prog, err := BuildServers(in, obj, sched.Second, false)
		if err != nil {
			t.Fatal(err)
		}
		p := problemOf(t, in, obj)
		known := p.first().cost
		p.splitChoices()
		agg, err := p.buildTotal(grid{slot: sched.Second}, known, slices.Repeat([]bool{true}, len(p.jobs)))
		if err != nil {
			t.Fatal(err)
		}
		a, s := linear(t, agg.model), linear(t, prog.Model)
		if math.Abs(a.DualBound-s.DualBound) > 1e-9*math.Abs(a.DualBound) {
			t.Errorf("instance %d, %v: aggregated %v, servers %v", k, obj, a.DualBound, s.DualBound)
		}
		x := make([]float64, len(prog.Model.Vars))
		copy(x, a.X)
		m := agg
		if err := m.addServers(); err != nil {
			t.Fatal(err)
		}
		servers := float64(len(in.Cluster.Servers))
		for _, c := range m.parts {
			if q := m.pattern(&m.runs[m.cols[c.start].run]); q != nil {
				x[c.col] = x[c.start] * float64(count(q, in.Cluster.Servers[0].GPUs, c.part)) / servers
			} else {
				x[c.col] = x[c.start] * float64(m.p.jobs[m.runs[m.cols[c.start].run].job].gang) / servers
			}
		}
		relaxed := prog.Model.Relaxation()
		if err := milp.CheckWithin(relaxed, x, 1e-6); err != nil {
			t.Errorf("instance %d, %v: the average over all servers is not feasible: %v", k, obj, err)
		}
		for _, v := range a.X {
			if math.Abs(v-math.Round(v)) > 1e-6 {
				fractional++
				break
			}
		}
		conf, err := BuildConfigurations(in, obj, sched.Second, false)
		if err != nil {
			t.Fatal(err)
		}
		c := linear(t, conf.Model)
		if c.PrimalBound < a.DualBound-1e-6*math.Abs(a.DualBound) {
			t.Errorf("instance %d, %v: configurations %v below aggregated %v", k, obj, c.PrimalBound, a.DualBound)
		}
		if c.DualBound > a.PrimalBound+1e-6*math.Abs(a.PrimalBound) {
			stronger++
		}
	}
	t.Logf("%d of 60 points are fractional; configurations are stronger in %d", fractional, stronger)
	if fractional < 5 || stronger < 5 {
		t.Error("the test has lost its subject")
	}
}

// The aggregated program accepts the starts of clashExample, and so do
// configurations, which pack every slot; the program with servers does not.
func TestClashInPrograms(t *testing.T) {
	in := clashExample()
	for name, c := range map[string]struct {
		build builder
		want  bool
	}{"aggregated": {Build, true}, "configurations": {BuildConfigurations, true}, "servers": {BuildServers, false}} {
		prog, err := c.build(in, sched.TotalCompletion, sched.Second, false)
		if err != nil {
			t.Fatal(err)
		}
		m := *prog.Model
		m.Vars = slices.Clone(m.Vars)
		alone := 0.0 // what the jobs cost started at their releases, the least of all
		for i := range in.Jobs {
			p := problemOf(t, in, sched.TotalCompletion)
			alone += float64(p.jobs[i].release + p.jobs[i].least())
		}
		row := milp.Row{Name: "alone", Sense: milp.LE, RHS: alone}
		for j, v := range m.Vars {
			if v.Cost != 0 {
				row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, v.Cost)
			}
		}
		m.Rows = append(slices.Clone(m.Rows), row)
		r, err := branch.New(lpsolve.LP{}).Solve(context.Background(), &m, milp.Start{}, milp.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Termination == milp.Optimal; got != c.want || !got && (r.Termination != milp.Infeasible || r.Dual != milp.Proven) {
			t.Errorf("%s: %v (%v), want a point: %v", name, r.Termination, r.Dual, c.want)
		}
	}
}

// Solve closes clashExample by every program; with servers no clash has to be found.
func TestClashInSolves(t *testing.T) {
	in := clashExample()
	_, want := schedtest.BruteForce(in, sched.TotalCompletion)
	for x, clashes := range map[Program]bool{Starts: true, Configurations: true, Servers: false} {
		got, err := Solve(context.Background(), in, sched.TotalCompletion, branch.New(lpsolve.LP{}), Options{Slot: sched.Second, Program: x})
		if err != nil {
			t.Fatal(err)
		}
		if last := got.Programs[len(got.Programs)-1]; !got.Optimal() || got.Cost.Cmp(want) != 0 || last.Added > 0 != clashes {
			t.Errorf("%v: interval [%v, %v], optimum %v, %d clashes", x, got.Bound, got.Cost, want, last.Added)
		}
	}
}

// Every list schedule has a point in every program of a grid, which is feasible and
// costs no more rounded down, and what the grid says rounded up.
func TestPointsOfSchedules(t *testing.T) {
	r := schedtest.Rand(43)
	for k := range tier.Draws(20, 60) {
		in := tight(r, 3+r.IntN(4), k%2 == 0)
		if k%3 == 0 {
			in = schedtest.Gang(r, schedtest.Shape{Jobs: 4, Servers: 2, GPUs: 3, Stages: 1 + r.IntN(2), Traffic: true, Weights: true, Uniform: k%2 == 0})
		}
		obj := totals[k%len(totals)]
		for _, x := range []Program{Configurations, Servers} {
			for _, g := range []grid{{slot: sched.Second / 3}, {slot: sched.Second}, {slot: sched.Second, up: true}} {
				p := problemOf(t, in, obj)
				p.splitChoices()
				stays := p.on(g).listSchedule(r.Perm(len(p.jobs)))
				var late big.Rat
				late.SetInt64(1 << 40)
				m, err := p.build(g, p.deadlines(g, &late), p.every(), true)
				if err != nil {
					t.Fatal(err)
				}
				if err := m.extend(x); err != nil {
					t.Fatal(err)
				}
				point := m.pointOf(stays)
				if point == nil {
					t.Fatalf("instance %d, %v, %+v: a schedule has no point", k, x, g)
				}
				if err := milp.CheckWithin(m.model, point, 0); err != nil {
					t.Errorf("instance %d, %v, %+v: %v", k, x, g, err)
				}
				cost := 0.0
				for c, v := range point {
					cost += v * m.model.Vars[c].Cost
				}
				whole, _ := p.planOf(stays).cost.Float64()
				if !g.up && cost > whole*(1+1e-12) {
					t.Errorf("instance %d, %v, %+v: the point costs %v, the schedule %v", k, x, g, cost, whole)
				}
				for range 3 { // and so does what is made of a fractional point
					mean := make([]float64, len(m.model.Vars))
					for c := range mean {
						mean[c] = r.Float64()
					}
					if made := m.listedOn(mean); made == nil || milp.CheckWithin(m.model, made, 0) != nil {
						t.Errorf("instance %d, %v, %+v: a fractional point is rounded to none", k, x, g)
					}
				}
			}
		}
	}
}

func TestPartitions(t *testing.T) {
	for n, want := range []int{1, 1, 2, 3, 5, 7, 11, 15, 22, 30, 42, 56, 77} {
		list := partitions(n)
		if len(list) != want {
			t.Errorf("%d partitions of %d, want %d", len(list), n, want)
		}
		for _, p := range list {
			sum := 0
			for part, times := range p {
				sum += part * times
			}
			if sum != n {
				t.Errorf("%v is no partition of %d", p, n)
			}
		}
	}
}

// Programs that would be too large are refused.
func TestPatternProgramsTooLarge(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(20, 20), schedtest.Job(0, 30, sched.Second))
	in.Jobs[0].Stages[0].Params = 1e9
	if _, err := BuildConfigurations(in, sched.TotalCompletion, sched.Second, false); err == nil {
		t.Error("configurations of 20 GPUs were listed")
	}
}
