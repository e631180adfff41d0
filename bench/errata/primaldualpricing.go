package errata

import (
	"context"
	"errors"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual/mincost"
	"yardstick/sched"
)

// containers returns an instance of two servers with 2 and 3 units of space, and
// more bandwidth than matters, and a job that needs the given number of workers for
// one slot. Its containers take a unit each; a worker sends as much as the given
// number of parameter servers receives.
func containers(workers int, bandwidth int64) *sched.Instance {
	in := &sched.Instance{Name: "containers", Model: sched.ModelElastic, Slot: sched.Second, Deadline: sched.Second, Cluster: sched.Uniform(2, 1, 1e9, 1e9),
		Elastic: &sched.ElasticTypes{Resources: []string{"space", "bandwidth"}, Bandwidth: 1,
			Workers: []sched.Container{{Demand: []int64{1, bandwidth}}}, Servers: []sched.Container{{Demand: []int64{1, 1}}}}}
	in.Cluster.Servers[0].Capacity, in.Cluster.Servers[1].Capacity = []int64{2, 100}, []int64{3, 100}
	in.Jobs = []sched.Job{{Weight: 1, Elastic: &sched.Elastic{MaxWorkers: workers, Batches: int64(workers),
		Train: []sched.Duration{sched.Duration(sched.Second) * 1000}, Update: []sched.Duration{0}}}}
	return in
}

func cheapestFirst() Erratum {
	return Erratum{
		Name: "cheapest-first",
		Passage: Passage{primalDualPaper, "Theorem 1, Section 5.3",
			"Algorithm 4 and Algorithm 5 yield an optimal solution of problem (13) in two scenarios, respectively."},
		Scope:      pricingScope(),
		Finding:    "Even with the counter of line 6 reset for every server and at least one parameter server: two servers of 2 and 3 units, containers of one unit at price 1, b = B. Three workers cost 4, as y = (1, 2) and s = (0, 1); the algorithm fills the first server and returns y = (2, 1), s = (0, 2) at cost 5. Two workers with b = 2B and prices (1, 2) cost 7, as y = (1, 1) and s = (0, 2); the algorithm finds nothing.",
		Correction: "Every worker beside the parameter servers saves b/B of these. Try every number of workers on their server, and then the cheapest servers for the rest: exact, and polynomial.",
		run: func(context.Context) (*Evidence, error) {
			dear, err := priceApart(containers(3, 1), 1, []int{1, 2}, 1)
			if err != nil {
				return nil, err
			}
			none, err := priceApart(containers(2, 2), 2, []int{1, 1}, 2)
			if err != nil {
				return nil, err
			}
			if none.Results[0].Left != nil {
				return nil, errors.New("the algorithm finds a schedule where it should not")
			}
			dear.Facts = append([]Fact{{What: "cost of Algorithm 4's schedule", Got: dear.Results[0].Left, Want: big.NewRat(5, 1)}},
				Fact{What: "cost of y = (1, 2), s = (0, 1)", Got: dear.Results[0].Right, Want: big.NewRat(4, 1)})
			none.Facts = []Fact{{What: "cost of y = (1, 1), s = (0, 2), where Algorithm 4 finds nothing", Got: none.Results[0].Right, Want: big.NewRat(7, 1)}}
			return join(dear, none), nil
		},
	}
}

// priceApart compares Algorithm 4, repaired, with a placement of workers, and of
// parameter servers on the second server. A unit of space costs 1 on the first
// server and the given price on the second.
func priceApart(in *sched.Instance, second int64, workers []int, servers int) (*Evidence, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	prices, err := pricing.NewPrices(in, 1, 0, []int64{1, 0, second, 0})
	if err != nil {
		return nil, err
	}
	total := workers[0] + workers[1]
	better := pricing.Choice{ElasticConfig: sched.ElasticConfig{Workers: total, Slots: 1}, Workers: workers, Host: 1, Servers: servers}
	place := better.Placement(in)
	if c, err := in.ReadElastic(0, &place); err != nil || c.Slots != 1 || c.OneServer {
		return nil, errors.Join(err, errors.New("the placement does not fit"))
	}
	clauses, err := pricingClauses(in, &better)
	if err != nil {
		return nil, err
	}
	p := theorems.Pricing{Optimum: new(big.Rat).SetInt64(prices.Cost(in, &better)), Saves: true}
	if c, ok := mincost.MinCost1(mincost.Query{In: in, Tau: 1, Prices: prices}, mincost.AtLeastOne); ok {
		p.Returned = new(big.Rat).SetInt64(c.Cost)
	}
	return &Evidence{Instance: in, Scope: clauses, Results: []theorems.Result{theorems.Pricing1(p)},
		Expected: []Expectation{{theorems.PrimalDualTheorem1, theorems.Printed, theorems.Violated}}}, nil
}

// pricingScope is what problem (13) asks of a placement where not all containers are
// on one server, the scenario of Algorithm 4.
func pricingScope() []string {
	return []string{"q_j = 0: containers on several servers, Eq. (13a)", "as many workers as the slots need, and at most D_j, Eqs. (13b), (13c)", "the parameter servers receive what all workers elsewhere send, Eqs. (13d), (13e)", "no server overdrawn"}
}

// pricingClauses checks pricingScope on a placement of the instance's only job.
func pricingClauses(in *sched.Instance, c *pricing.Choice) ([]Clause, error) {
	e, total, servers := in.Jobs[0].Elastic, 0, 0
	for h, y := range c.Workers {
		total += y
		if y > 0 || h == c.Host {
			servers++
		}
	}
	d, err := in.ElasticSlots(0, c.WorkerType, c.ServerType, total, false)
	if err != nil {
		return nil, err
	}
	b, received := in.Elastic.Workers[c.WorkerType].Demand[in.Elastic.Bandwidth], in.Elastic.Servers[c.ServerType].Demand[in.Elastic.Bandwidth]
	sent := int64(total-c.Workers[c.Host]) * b
	scope := pricingScope()
	return []Clause{{scope[0], servers > 1}, {scope[1], total <= e.MaxWorkers && d == c.Slots},
		{scope[2], c.Servers >= 1 && int64(c.Servers)*received >= sent}, {scope[3], fits(in, c.Workers, c.Host, c.Servers)}}, nil
}

// fits reports whether workers of the first type, and so many parameter servers of the
// first type on a host, overdraw no server.
func fits(in *sched.Instance, workers []int, host, servers int) bool {
	for h, y := range workers {
		for r, c := range in.Cluster.Servers[h].Capacity {
			used := int64(y) * in.Elastic.Workers[0].Demand[r]
			if h == host {
				used += int64(servers) * in.Elastic.Servers[0].Demand[r]
			}
			if used > c {
				return false
			}
		}
	}
	return true
}
