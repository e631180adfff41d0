package maxweight_test

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/formulate/maxweight"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// TestCertify: what random prices prove is at least the optimum, and the best
// factor is the best of all bends and of many other factors.
func TestCertify(t *testing.T) {
	schedtest.EachSeed(t, 200, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 2+r.IntN(2)))
		for i := range in.Jobs {
			in.Jobs[i].Weight += 0.5 // nothing is rounded
		}
		_, optimum := schedtest.ElasticBruteForce(in, sched.ScheduledWeight)
		m := pricing.New(in)
		slots := int(in.DeadlineSlots())
		delta := make([]float64, len(in.Cluster.Servers)*len(in.Elastic.Resources)*slots)
		for i := range delta {
			delta[i] = float64(r.IntN(4)) / 16
		}
		prices := pricing.Round(in, slots, delta, 0)
		b := maxweight.Certify(m, prices)
		if b.Value.Cmp(optimum) < 0 {
			t.Fatalf("certified %v, optimum %v\n%+v", b.Value, optimum, in)
		}
		costs := map[int]*big.Rat{}
		market := m.Market(prices, nil)
		for id := range in.Jobs {
			if c, ok := market.Cheapest(pricing.Query{Job: sched.JobID(id), Latest: in.DeadlineSlots()}); ok {
				costs[id] = prices.Value(big.NewInt(c.Cost))
			}
		}
		at := func(theta *big.Rat) *big.Rat { // the definition
			sum := prices.Value(big.NewInt(prices.Total()))
			sum.Mul(sum, theta)
			for id, cost := range costs {
				gain := new(big.Rat).Mul(cost, theta)
				if gain.Sub(new(big.Rat).SetFloat64(in.Jobs[id].Weight), gain); gain.Sign() > 0 {
					sum.Add(sum, gain)
				}
			}
			return sum
		}
		if at(b.Theta).Cmp(b.Value) != 0 {
			t.Fatalf("the factor %v proves %v, not %v", b.Theta, at(b.Theta), b.Value)
		}
		for k := range int64(30) {
			theta := big.NewRat(k*k, 12)
			if v := at(theta); v.Cmp(b.Value) < 0 {
				t.Fatalf("the factor %v proves %v, better than %v with %v", theta, v, b.Value, b.Theta)
			}
		}
	})
}

// TestTighten: steps do not harm, and the bound stays one.
func TestTighten(t *testing.T) {
	const n = 150
	var first, later float64
	count := 0
	schedtest.EachSeed(t, n, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 3))
		_, optimum := schedtest.ElasticBruteForce(in, sched.ScheduledWeight)
		m := pricing.New(in)
		none, some := maxweight.Tighten(context.Background(), m, nil, 0), maxweight.Tighten(context.Background(), m, nil, 50)
		again := maxweight.Tighten(context.Background(), m, none.Prices, 50)
		for _, b := range []maxweight.Bound{none, some, again} {
			if b.Value.Cmp(optimum) < 0 {
				t.Fatalf("certified %v, optimum %v\n%+v", b.Value, optimum, in)
			}
			if c := maxweight.Certify(m, b.Prices); c.Value.Cmp(b.Value) != 0 {
				t.Fatalf("the certificate proves %v, not %v", c.Value, b.Value)
			}
		}
		if some.Value.Cmp(none.Value) > 0 || again.Value.Cmp(none.Value) > 0 {
			t.Fatalf("%v without steps, %v and %v with", none.Value, some.Value, again.Value)
		}
		if optimum.Sign() > 0 {
			count++
			a, _ := new(big.Rat).Quo(none.Value, optimum).Float64()
			b, _ := new(big.Rat).Quo(some.Value, optimum).Float64()
			first, later = first+a, later+b
		}
	})
	t.Logf("certificate over optimum, %d instances: mean %.3f with prices 1/C, %.3f after 50 steps", count, first/float64(count), later/float64(count))
	if later >= first {
		t.Error("steps are in vain")
	}
}

// TestLimits: what a limit leaves is an interval around the optimum.
func TestLimits(t *testing.T) {
	wide := 0
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 4)
		s.Servers, s.Deadline = 2, 4
		in := schedtest.Elastic(r, s)
		o, err := maxweight.Solve(context.Background(), in, lpsolve.LP{}, milp.Limits{})
		if err != nil || !o.Optimal() {
			t.Fatal(o, err)
		}
		for rounds := 1; rounds < 4; rounds++ {
			b, err := maxweight.Relax(context.Background(), in, lpsolve.LP{}, milp.Limits{Nodes: rounds})
			if err != nil || b.Value.Cmp(o.Cost) < 0 || b.Master.Rounds > rounds {
				t.Fatalf("%d rounds: %+v, %v; optimum %v", rounds, b, err, o.Cost)
			}
		}
		one, err := maxweight.Solve(context.Background(), in, lpsolve.LP{}, milp.Limits{Nodes: 1})
		if err != nil || one.Bound.Cmp(o.Cost) < 0 || one.Cost.Cmp(o.Cost) > 0 || one.Optimal() != (one.Termination == milp.Optimal) {
			t.Fatalf("one node: %+v, %v; optimum %v", one, err, o.Cost)
		}
		weightOf(t, in, one.Schedule)
		if !one.Optimal() {
			wide++
		}
		stopped, cancel := context.WithCancel(context.Background())
		cancel()
		none, err := maxweight.Solve(stopped, in, lpsolve.LP{}, milp.Limits{})
		if err != nil || none.Bound.Cmp(o.Cost) < 0 || none.Cost.Cmp(o.Cost) > 0 {
			t.Fatalf("stopped: %+v, %v", none, err)
		}
		weightOf(t, in, none.Schedule)
	})
	if wide == 0 {
		t.Error("one node settles every instance")
	}
}

// TestRelations: permuting does nothing; another server, a later deadline or an
// earlier release does no harm; weights scale; nothing fits before the first slot
// ends.
func TestRelations(t *testing.T) {
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 2+r.IntN(3)))
		solve := func(in *sched.Instance) *big.Rat {
			t.Helper()
			o, err := maxweight.Solve(context.Background(), in, lpsolve.LP{}, milp.Limits{})
			if err != nil || !o.Optimal() || weightOf(t, in, o.Schedule).Cmp(o.Cost) != 0 {
				t.Fatal(o, err)
			}
			return o.Cost
		}
		optimum := solve(in)
		other := func() *sched.Instance {
			c := *in
			c.Jobs = append([]sched.Job(nil), in.Jobs...)
			c.Cluster.Servers = append([]sched.Server(nil), in.Cluster.Servers...)
			return &c
		}
		permuted := other()
		for k, i := range r.Perm(len(in.Jobs)) {
			permuted.Jobs[k] = in.Jobs[i]
		}
		heavier := other()
		for i := range heavier.Jobs {
			heavier.Jobs[i].Weight *= 0.25
		}
		if got := solve(permuted); got.Cmp(optimum) != 0 {
			t.Errorf("%v, %v permuted", optimum, got)
		}
		if got := solve(heavier); got.Mul(got, big.NewRat(4, 1)).Cmp(optimum) != 0 {
			t.Errorf("%v, %v with a quarter of the weights, times four", optimum, got)
		}
		server, later, earlier, never := other(), other(), other(), other()
		server.Cluster.Servers = append(server.Cluster.Servers, in.Cluster.Servers[0])
		later.Deadline += in.Slot
		for i := range earlier.Jobs {
			earlier.Jobs[i].Release /= 2
		}
		never.Deadline = in.Slot - 1
		for what, c := range map[string]*sched.Instance{"another server": server, "a later deadline": later, "earlier releases": earlier} {
			if got := solve(c); got.Cmp(optimum) < 0 {
				t.Errorf("%v, %v with %s", optimum, got, what)
			}
		}
		if got := solve(never); got.Sign() != 0 {
			t.Errorf("%v in no slot", got)
		}
	})
}

// TestSymmetric: with many servers alike, the relaxation merges them and the tree
// does not.
func TestSymmetric(t *testing.T) {
	schedtest.EachSeed(t, 40, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 4)
		s.Servers, s.Capacity = 1, 4
		in := schedtest.Elastic(r, s)
		for range 1 + r.IntN(2) {
			in.Cluster.Servers = append(in.Cluster.Servers, in.Cluster.Servers[0])
		}
		p, err := maxweight.Listed(in)
		if err != nil {
			t.Fatal(err)
		}
		want := solve(t, in, p)
		o, err := maxweight.Solve(context.Background(), in, lpsolve.LP{}, milp.Limits{})
		if err != nil || !o.Optimal() || o.Cost.Cmp(want) != 0 || weightOf(t, in, o.Schedule).Cmp(want) != 0 {
			t.Fatalf("%+v, %v; want %v", o, err, want)
		}
	})
}

// TestRefused: what does not apply is an error.
func TestRefused(t *testing.T) {
	in := schedtest.Elastic(schedtest.Rand(1), schedtest.ElasticShape{Jobs: 1, Servers: 1, Resources: 1, WorkerTypes: 1, Workers: 1, Capacity: 4, Slots: 2})
	gang := schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 2, Servers: 1, GPUs: 2, Stages: 1})
	late := *in
	late.Slot, late.Deadline = 1, sched.MaxTime
	for _, c := range []*sched.Instance{in, gang, &late} {
		if _, err := maxweight.Solve(context.Background(), c, lpsolve.LP{}, milp.Limits{}); err == nil {
			t.Errorf("%s with the deadline %v was accepted", c.Model, c.Deadline)
		}
		if _, err := maxweight.Compact(c); err == nil {
			t.Errorf("%s with the deadline %v was accepted", c.Model, c.Deadline)
		}
	}
}
