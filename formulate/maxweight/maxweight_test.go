package maxweight_test

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/formulate"
	"yardstick/formulate/maxweight"
	"yardstick/formulate/maxweight/pricing"
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
		Workers: 4, Capacity: 4 + r.IntN(4), Slots: 4, Rings: r.IntN(2) == 0, Weights: true, Releases: sched.Time(r.IntN(3)) * 8 * sched.Second, Deadline: 2 + r.Int64N(6)}
}

// solve solves a program and returns its objective, and the weight of what it
// decodes to.
func solve(t testing.TB, in *sched.Instance, p *formulate.Program) *big.Rat {
	t.Helper()
	r, err := branch.New(lpsolve.LP{}).Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Termination != milp.Optimal || r.Primal != milp.Proven || r.Dual != milp.Proven || p.Relation != formulate.Exact {
		t.Fatalf("%s, %s, %s, %v", r.Termination, r.Primal, r.Dual, p.Relation)
	}
	s, err := p.Decode(r.X)
	if err != nil {
		t.Fatal(err)
	}
	weight := weightOf(t, in, s)
	if got := new(big.Rat).SetFloat64(-r.PrimalBound); got.Cmp(weight) != 0 {
		t.Fatalf("%s: the point is worth %v, its schedule %v", p.Model.Name, got, weight)
	}
	return weight
}

func weightOf(t testing.TB, in *sched.Instance, s *sched.Schedule) *big.Rat {
	t.Helper()
	return schedtest.Verify(t, in, s).Cost(sched.ScheduledWeight)
}

// TestRoutes: branch and price, both integer programs and enumeration agree, and
// every bound is on the right side.
func TestRoutes(t *testing.T) {
	schedules := 0
	var worst, sum float64
	schedtest.EachSeed(t, tier.Draws(50, 200), func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 2+r.IntN(2)))
		s, want := schedtest.ElasticBruteForce(in, sched.ScheduledWeight)
		if weightOf(t, in, s).Cmp(want) != 0 {
			t.Fatal("enumeration")
		}
		o, err := maxweight.Solve(context.Background(), in, lpsolve.LP{}, milp.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if !o.Optimal() || o.Cost.Cmp(want) != 0 || weightOf(t, in, o.Schedule).Cmp(want) != 0 {
			t.Fatalf("branch and price: %v of at most %v, want %v\n%+v", o.Cost, o.Bound, want, in)
		}
		for _, build := range []func(*sched.Instance) (*formulate.Program, error){maxweight.Listed, maxweight.Compact} {
			p, err := build(in)
			if err != nil {
				t.Fatal(err)
			}
			if got := solve(t, in, p); got.Cmp(want) != 0 {
				t.Fatalf("%s: %v, want %v\n%+v", p.Model.Name, got, want, in)
			}
		}
		lp, err := maxweight.Relax(context.Background(), in, lpsolve.LP{}, milp.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if lp.Value.Cmp(want) < 0 {
			t.Fatalf("the relaxation is %v, less than %v", lp.Value, want)
		}
		if f, _ := want.Float64(); f > 0 {
			schedules++
			sum += lp.LP / f
			worst = math.Max(worst, lp.LP/f)
		}
	})
	t.Logf("LP/IP of %d instances: mean %.3f, greatest %.3f", schedules, sum/float64(schedules), worst)
}

// TestRelaxation: column generation finds the value of the linear program with
// all columns, and its certificate proves it.
func TestRelaxation(t *testing.T) {
	rounds, generated, all := 0, 0, 0
	schedtest.EachSeed(t, 200, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 2+r.IntN(4)))
		if r.IntN(3) == 0 {
			for h := range in.Cluster.Servers {
				in.Cluster.Servers[h] = in.Cluster.Servers[0]
			}
		}
		got, err := maxweight.Relax(context.Background(), in, lpsolve.LP{}, milp.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := maxweight.Listed(in)
		if err != nil {
			t.Fatal(err)
		}
		lp, err := lpsolve.LP{}.Open(p.Model.Relaxation())
		if err != nil {
			t.Fatal(err)
		}
		want, err := lp.Solve(context.Background(), milp.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.LP+want.PrimalBound) > 1e-7*(1+got.LP) {
			t.Fatalf("%v, want %v\n%+v", got.LP, -want.PrimalBound, in)
		}
		m := pricing.New(in)
		proven, _ := new(big.Rat).Neg(got.Master.Bound).Float64()
		if proven < got.LP-1e-7*(1+got.LP) || proven > got.LP+1e-7*(1+got.LP) {
			t.Fatalf("proven %v, claimed %v", proven, got.LP)
		}
		if b := maxweight.Certify(m, got.Prices); b.Value.Cmp(got.Value) > 0 {
			t.Fatalf("the certificate proves %v, not %v", b.Value, got.Value)
		}
		rounds += got.Master.Rounds
		generated += len(got.Master.Columns)
		all += len(p.Model.Vars)
	})
	t.Logf("%d of %d columns generated in %d rounds", generated, all, rounds)
}
