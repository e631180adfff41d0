package mincost_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual/mincost"
	"yardstick/internal/number"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// naive is Algorithms 4 and 7 line by line: every window is looked at, every sum
// made anew.
type naive struct {
	q     mincost.Query
	v     mincost.Variant
	best  pricing.Choice
	found bool
}

// omega is ω^r_h(t) at its least in the window.
func (x *naive) omega(h, r int, from, to int64) int64 {
	least := x.q.In.Cluster.Servers[h].Capacity[r]
	for t := from; t < to; t++ {
		least = min(least, x.q.Room.Free[(h*len(x.q.In.Elastic.Resources)+r)*x.q.Room.Slots+int(t)])
	}
	return least
}

// byCost lists the servers by Ω_h.
func (x *naive) byCost(demand []int64, from, to int64) (order []int) {
	cost := make([]*big.Int, len(x.q.In.Cluster.Servers))
	for h := range cost {
		cost[h] = new(big.Int)
		for r, e := range demand {
			for t := from; t < to; t++ {
				price := big.NewInt(x.q.Prices.Of[(h*len(demand)+r)*x.q.Prices.Slots+int(t)])
				cost[h].Add(cost[h], price.Mul(price, big.NewInt(e)))
			}
		}
		order = append(order, h)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cost[a].Cmp(cost[b]) })
	return order
}

// holds is ⌊ω/e⌋ at its least over the resources.
func (x *naive) holds(h int, demand []int64, from, to int64) int64 {
	least := int64(1 << 40)
	for r, e := range demand {
		if e > 0 {
			least = min(least, x.omega(h, r, from, to)/e)
		}
	}
	return least
}

func (x *naive) keep(c sched.ElasticConfig, start int64, y []int, host, servers int) {
	choice := pricing.Choice{ElasticConfig: c, Start: start, Workers: slices.Clone(y), Host: host, Servers: servers}
	choice.Cost = x.q.Prices.Cost(x.q.In, &choice)
	if !x.found || choice.Cost < x.best.Cost {
		x.best, x.found = choice, true
	}
}

// work is W_j θ in slots of one worker.
func (x *naive) work(m, p, n int) *big.Rat {
	w := x.q.In.BatchTime(x.q.Job, m, p, n, false)
	w.Mul(w, big.NewRat(x.q.In.Jobs[x.q.Job].Elastic.Batches*1_000_000, int64(x.q.In.Slot)))
	return w
}

func ceil(w *big.Rat, n int64) int64 {
	return number.CeilInt(new(big.Rat).Quo(w, big.NewRat(n, 1))).Int64()
}

// algorithm4 is MinCost1.
func (x *naive) algorithm4() (pricing.Choice, bool) {
	e, types := x.q.In.Jobs[x.q.Job].Elastic, x.q.In.Elastic
	first := x.q.In.FirstSlot(x.q.Job)
	for m := range e.Train {
		for p := range e.Update {
			work := x.work(m, p, 1)
			for l := ceil(work, int64(e.MaxWorkers)); l <= min(ceil(work, 1), x.q.Tau); l++ {
				n := int(ceil(work, l))
				c := sched.ElasticConfig{WorkerType: m, ServerType: p, Workers: n, Slots: l}
				left := n
				for from := first; from+l <= x.q.Tau; from++ {
					order := x.byCost(types.Workers[m].Demand, from, from+l)
					for _, host := range order {
						if x.v != mincost.Printed {
							left = n
						}
						x.window(c, from, order, host, &left)
					}
				}
			}
		}
	}
	return x.best, x.found
}

// window is lines 10 to 32 of Algorithm 4.
func (x *naive) window(c sched.ElasticConfig, from int64, order []int, host int, left *int) {
	types := x.q.In.Elastic
	worker, server := types.Workers[c.WorkerType].Demand, types.Servers[c.ServerType].Demand
	y := make([]int, len(order))
	servers := 0
	for _, h := range order {
		most := int(min(x.holds(h, worker, from, from+c.Slots), int64(*left)))
		y[h] = most
		for g := 0; h == host && g <= most; g++ {
			room := int64(1 << 40)
			for r, z := range server {
				if z > 0 {
					room = min(room, (x.omega(h, r, from, from+c.Slots)-int64(g)*worker[r])/z)
				}
			}
			need := int64(c.Workers-g) * worker[types.Bandwidth]
			if room*server[types.Bandwidth] >= need && (x.v != mincost.AtLeastOne || room >= 1) {
				y[h], servers = g, int(min(room, number.CeilDiv(need, server[types.Bandwidth])))
				if x.v == mincost.AtLeastOne {
					servers = max(servers, 1)
				}
			}
		}
		*left -= y[h]
	}
	if *left == 0 && servers >= 1 {
		x.keep(c, from, y, host, servers)
	}
}

// algorithm7 is RingMinCost2.
func (x *naive) algorithm7() (pricing.Choice, bool) {
	e, types := x.q.In.Jobs[x.q.Job].Elastic, x.q.In.Elastic
	for m := range e.Train {
		for n := 1; n <= e.MaxWorkers; n++ {
			d := ceil(x.work(m, 0, n), int64(n))
			left := int(d)
			for from := x.q.In.FirstSlot(x.q.Job); from+d <= x.q.Tau; from++ {
				if x.v != mincost.Printed {
					left = n
				}
				y := make([]int, len(x.q.In.Cluster.Servers))
				for _, h := range x.byCost(types.Workers[m].Demand, from, from+d) {
					y[h] = int(min(x.holds(h, types.Workers[m].Demand, from, from+d), int64(left)))
					left -= y[h]
				}
				if left == 0 {
					x.keep(sched.ElasticConfig{WorkerType: m, Workers: n, Slots: d}, from, y, -1, 0)
				}
			}
		}
	}
	return x.best, x.found
}

// TestNaive: what is left out, because no schedule there can be cheaper, never is
// what the algorithms as printed choose.
func TestNaive(t *testing.T) {
	unfit := 0
	for seed := range uint64(tier.Draws(600, 6000)) {
		r := rand.New(rand.NewPCG(seed, 0x4a17e))
		rings := seed%2 == 0
		q := random(r, rings, true)
		for _, v := range mincost.Variants() {
			x := naive{q: q, v: v}
			got, want := mincost.MinCost1, x.algorithm4
			if rings {
				got, want = mincost.RingMinCost2, x.algorithm7
			}
			g, ok := got(q, v)
			w, found := want()
			if ok != found || g.Cost != w.Cost || g.Start != w.Start || g.ElasticConfig != w.ElasticConfig || g.Host != w.Host && ok || g.Servers != w.Servers || !slices.Equal(g.Workers, w.Workers) {
				t.Fatalf("seed %d, %v: %+v, %v; line by line %+v, %v", seed, v, g, ok, w, found)
			}
			placed := 0
			for _, n := range g.Workers {
				placed += n
			}
			if ok && placed != g.ElasticConfig.Workers {
				unfit++
			}
		}
	}
	if unfit == 0 {
		t.Error("no schedule lacked workers: the printed variant was not tried where it differs")
	}
}
