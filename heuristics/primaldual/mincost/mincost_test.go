package mincost_test

import (
	"math/rand/v2"
	"testing"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual/mincost"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// counterexample is an instance of one job of N workers for one slot, on two
// servers of 2 and 3 units; each container takes a unit, and a worker b Mbit/s,
// a parameter server 1.
func counterexample(workers int, b int64, prices [2]int64) mincost.Query {
	in := &sched.Instance{Name: "theorem 1", Model: sched.ModelElastic, Slot: sched.Second, Cluster: sched.Uniform(2, 1, 1e9, 1e9),
		Elastic: &sched.ElasticTypes{Resources: []string{"unit", "bw"}, Bandwidth: 1,
			Workers: []sched.Container{{Demand: []int64{1, b}}}, Servers: []sched.Container{{Demand: []int64{1, 1}}}},
		Jobs: []sched.Job{{Weight: 1, Elastic: &sched.Elastic{MaxWorkers: workers, Batches: int64(workers), Train: []sched.Duration{1e9}, Update: []sched.Duration{0}}}}}
	in.Cluster.Servers[0].Capacity = []int64{2, 100}
	in.Cluster.Servers[1].Capacity = []int64{3, 100}
	p, err := pricing.NewPrices(in, 1, 0, []int64{prices[0], 0, prices[1], 0})
	if err != nil {
		panic(err)
	}
	return mincost.Query{In: in, Tau: 1, Prices: p}
}

// exact is the least cost of problem (12) with q_j given, from all numbers of
// workers. Where q_j = 0, the containers may be on one server.
func exact(q mincost.Query, one bool) (pricing.Choice, bool) {
	m := &pricing.Model{In: q.In, Configs: make([][]sched.ElasticConfig, 1)}
	e := q.In.Jobs[q.Job].Elastic
	for w := range e.Train {
		for p := range e.Update {
			for n := 1; n <= e.MaxWorkers; n++ {
				c := sched.ElasticConfig{WorkerType: w, ServerType: p, OneServer: one, Workers: n}
				d, err := q.In.ElasticSlots(q.Job, w, p, n, one)
				if err == nil && m.Fitter().Fits(q.Job, c) {
					c.Slots = d
					m.Configs[q.Job] = append(m.Configs[q.Job], c)
				}
			}
		}
	}
	return m.Market(q.Prices, q.Room).Cheapest(pricing.Query{Job: q.Job, Latest: q.Tau})
}

// TestTheorem1: two counterexamples to "Algorithm 4 yields an optimal solution".
func TestTheorem1(t *testing.T) {
	q := counterexample(3, 1, [2]int64{1, 1})
	if err := q.In.Validate(); err != nil {
		t.Fatal(err)
	}
	if c, ok := exact(q, false); !ok || c.Cost != 4 || c.Workers[0] != 1 || c.Workers[1] != 2 || c.Host != 1 || c.Servers != 1 {
		t.Errorf("the optimum is %+v, %v", c, ok)
	}
	for _, v := range []mincost.Variant{mincost.Reset, mincost.AtLeastOne} {
		if c, ok := mincost.MinCost1(q, v); !ok || c.Cost != 5 || c.Workers[0] != 2 || c.Workers[1] != 1 || c.Host != 1 || c.Servers != 2 {
			t.Errorf("%v: %+v, %v", v, c, ok)
		}
	}
	q = counterexample(2, 2, [2]int64{1, 2})
	if c, ok := exact(q, false); !ok || c.Cost != 6 || c.Workers[1] != 2 || c.Host != 1 || c.Servers != 1 {
		t.Errorf("the optimum is %+v, %v", c, ok)
	}
	apart := pricing.Choice{ElasticConfig: sched.ElasticConfig{Workers: 2, Slots: 1}, Workers: []int{1, 1}, Host: 1, Servers: 2}
	place := apart.Placement(q.In)
	if _, err := q.In.ReadElastic(0, &place); err != nil || q.Prices.Cost(q.In, &apart) != 7 {
		t.Errorf("on two servers: cost %d, %v", q.Prices.Cost(q.In, &apart), err)
	}
	for _, v := range mincost.Variants() {
		if c, ok := mincost.MinCost1(q, v); ok {
			t.Errorf("%v: %+v", v, c)
		}
	}
}

// TestPrintedStateIsKept: without resetting N̂, a later window is priced as if no
// workers were needed.
func TestPrintedStateIsKept(t *testing.T) {
	q := counterexample(2, 1, [2]int64{1, 1})
	c, ok := mincost.MinCost1(q, mincost.Printed)
	if !ok || c.Workers[0]+c.Workers[1] != 0 || c.ElasticConfig.Workers != 2 {
		t.Errorf("%+v, %v", c, ok)
	}
}

// tally counts what a variant does wrong.
type tally struct{ feasible, infeasible, unfit, phantom, missed, worse int }

// random returns a job of one window, problem (13), or of several, problem (12).
func random(r *rand.Rand, rings, several bool) mincost.Query {
	for {
		s := schedtest.ElasticShape{Jobs: 1, Servers: 2 + r.IntN(3), Resources: 1 + r.IntN(3), WorkerTypes: 1, ServerTypes: 1, Workers: 5, Capacity: 6, Slots: 5}
		if rings {
			s.ServerTypes = 0
		}
		if several {
			s.WorkerTypes, s.ServerTypes = 1+r.IntN(2), min(s.ServerTypes, 1)*(1+r.IntN(2))
		}
		in := schedtest.Elastic(r, s)
		q := mincost.Query{In: in, Tau: 1 + r.Int64N(7)}
		if !several { // all D_j workers, for as long as they need
			d, err := in.ElasticSlots(0, 0, 0, in.Jobs[0].Elastic.MaxWorkers, false)
			if err != nil || in.Jobs[0].Elastic.MaxWorkers < 2 {
				continue
			}
			q.Tau = d
		}
		of := make([]int64, len(in.Cluster.Servers)*s.Resources*int(q.Tau))
		for i := range of {
			of[i] = r.Int64N(5)
		}
		p, err := pricing.NewPrices(in, int(q.Tau), 0, of)
		if err != nil {
			panic(err)
		}
		q.Prices, q.Room = p, pricing.NewRoom(in, int(q.Tau))
		for i := range q.Room.Free {
			if r.IntN(4) == 0 {
				q.Room.Free[i] = r.Int64N(q.Room.Free[i] + 1)
			}
		}
		return q
	}
}

// compare counts, and fails if the algorithm finds more than there is, or if it
// is one that must be exact.
func (n *tally) compare(t *testing.T, seed uint64, q mincost.Query, one, mustBeExact bool, got pricing.Choice, ok bool) {
	t.Helper()
	want, feasible := exact(q, one)
	if feasible {
		n.feasible++
	} else {
		n.infeasible++
	}
	workers := 0
	for _, y := range got.Workers {
		workers += y
	}
	switch {
	case ok && workers != got.ElasticConfig.Workers && feasible:
		n.unfit++
	case ok && workers != got.ElasticConfig.Workers:
		n.phantom++
	case ok:
		place := got.Placement(q.In)
		if _, err := q.In.ReadElastic(q.Job, &place); err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, got, err)
		}
		if !q.Room.Fits(&got) || !feasible || got.Cost < want.Cost {
			t.Fatalf("seed %d: %+v; the optimum is %+v, %v", seed, got, want, feasible)
		}
		if got.Cost > want.Cost {
			n.worse++
		}
	case feasible:
		n.missed++
	}
	if mustBeExact && (n.unfit > 0 || n.phantom > 0 || n.missed > 0 || n.worse > 0) {
		t.Fatalf("seed %d: %+v, %v; the optimum is %+v, %v\n%+v", seed, got, ok, want, feasible, q.In)
	}
}

// TestErrorRates measures how often the algorithms are wrong, and that those
// that are exact are not.
func TestErrorRates(t *testing.T) {
	const seeds = 1000
	for _, several := range []bool{false, true} {
		var four [4]tally
		var five, six tally
		var seven [4]tally
		for seed := range uint64(seeds) {
			q := random(rand.New(rand.NewPCG(seed, 1)), false, several)
			for _, v := range mincost.Variants() {
				c, ok := mincost.MinCost1(q, v)
				four[v].compare(t, seed, q, false, false, c, ok)
			}
			c, ok := mincost.MinCost2(q)
			five.compare(t, seed, q, true, true, c, ok)
			q = random(rand.New(rand.NewPCG(seed, 2)), true, several)
			c, ok = mincost.RingMinCost1(q)
			six.compare(t, seed, q, true, true, c, ok)
			for _, v := range mincost.Variants() {
				c, ok := mincost.RingMinCost2(q, v)
				seven[v].compare(t, seed, q, false, false, c, ok)
			}
		}
		share := func(n, of int) float64 { return 100 * float64(n) / float64(of) }
		for _, v := range mincost.Variants() {
			for i, n := range []tally{four[v], seven[v]} {
				t.Logf("several windows %v, Algorithm %d %-12v: of %d feasible, %.1f %% too few workers, %.1f %% called infeasible, %.1f %% too dear; of %d infeasible, %.1f %% too few workers",
					several, 4+3*i, v, n.feasible, share(n.unfit, n.feasible), share(n.missed, n.feasible), share(n.worse, n.feasible), n.infeasible, share(n.phantom, n.infeasible))
			}
		}
		if five.feasible < 100 || six.feasible < 100 {
			t.Errorf("only %d and %d feasible problems on one server", five.feasible, six.feasible)
		}
		if n := four[mincost.Printed]; share(n.unfit, n.feasible) < 50 {
			t.Errorf("Algorithm 4 as printed is rarely unfit: %+v", n)
		}
		if n := four[mincost.AtLeastOne]; n.unfit+n.phantom != 0 || n.worse == 0 || n.missed == 0 && !several {
			t.Errorf("Algorithm 4 with at least one parameter server: %+v", n)
		}
		if n := seven[mincost.Reset]; n.unfit+n.phantom != 0 || n.missed != 0 {
			t.Errorf("Algorithm 7, reset: %+v", n)
		}
	}
}
