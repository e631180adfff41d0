package certify

import (
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
)

// resourceData are prices of resources: a unit of resource r on server h costs
// Price[h][r][t]·2^−Exponent in slot t, and nothing after the last.
type resourceData struct {
	Slots    int         `json:"slots"`
	Exponent int         `json:"exponent"`
	Price    [][][]int64 `json:"price"`
}

// elasticPrices is the Lagrangian bound for jobs that keep their configuration (Es):
// whatever the prices δ are,
//
//	Σ w_j C_j ≥ Σ_j min over schedules l of j { w_j C(l) + what l pays } − Σ C δ,
//
// as the schedules together use no more than there is. The minimum is over
// configurations, starts, and where the workers are: with parameter servers on one
// host, beside some of the workers, and the other workers on the cheapest servers.
func (c *Checker) elasticPrices(d *document) (proof, error) {
	var data resourceData
	if err := d.read(&data); err != nil {
		return proof{}, err
	}
	x, err := c.elasticTotals(d)
	if err != nil {
		return proof{}, err
	}
	if x.class.Kind != sched.E {
		return proof{}, refuted("it holds for class Es, not %v", d.Class)
	}
	t, err := c.newMarket(&data)
	if err != nil {
		return proof{}, err
	}
	sum := new(big.Int).Neg(t.total)
	for i := range c.in.Jobs {
		w := floor2(d.weight(&c.in.Jobs[i]), data.Exponent)
		if w.BitLen() > 61 {
			return proof{}, tooHard("the units of the prices are too small")
		}
		least := t.cheapest(i, small(w), math.MaxInt64)
		if least == nil {
			return proof{}, tooHard("job %d would run for more than %v", i, sched.MaxTime)
		}
		sum.Add(sum, least)
	}
	return x.state(c, d, scaled2(sum, data.Exponent)), nil
}

// floor2 returns the largest number of units 2^-exponent that is at most v, and
// scaled2 the number that so many units are.
func floor2(v *big.Rat, exponent int) *big.Int {
	if exponent >= 0 {
		return floor(v, uint(exponent))
	}
	n := new(big.Rat).Mul(v, scaled(big.NewInt(1), uint(-exponent)))
	return floor(n, 0)
}

func scaled2(n *big.Int, exponent int) *big.Rat {
	if exponent >= 0 {
		return scaled(n, uint(exponent))
	}
	return new(big.Rat).SetInt(n.Lsh(n, uint(-exponent)))
}

// market is the prices, added up over time: workers[h][m][t] is what a worker of
// type m costs on server h in the slots before t.
type market struct {
	c       *Checker
	slots   int64
	total   *big.Int // Σ C δ
	workers [][][]int64
	servers [][][]int64
}

func (c *Checker) newMarket(data *resourceData) (*market, error) {
	const most, far = 1 << 20, 1000
	if data.Slots < 0 || data.Slots > most || data.Exponent < -far || data.Exponent > far || len(data.Price) != len(c.in.Cluster.Servers) {
		return nil, refuted("prices of %d slots on %d servers, with exponent %d", data.Slots, len(data.Price), data.Exponent)
	}
	t := &market{c: c, slots: int64(data.Slots), total: new(big.Int)}
	for h, byResource := range data.Price {
		capacity := c.in.Cluster.Servers[h].Capacity
		if len(byResource) != len(capacity) {
			return nil, refuted("server %d has prices of %d resources", h, len(byResource))
		}
		for r, list := range byResource {
			if len(list) != data.Slots {
				return nil, refuted("resource %d of server %d has prices in %d slots", r, h, len(list))
			}
			for _, v := range list {
				if v < 0 {
					return nil, refuted("resource %d of server %d has a price of %d", r, h, v)
				}
				t.total.Add(t.total, new(big.Int).Mul(big.NewInt(v), big.NewInt(capacity[r])))
			}
		}
		var err error
		for _, list := range []struct {
			types []sched.Container
			into  *[][][]int64
		}{{c.in.Elastic.Workers, &t.workers}, {c.in.Elastic.Servers, &t.servers}} {
			var all [][]int64
			for _, k := range list.types {
				sums, e := c.sums(h, k.Demand, byResource, data.Slots)
				if e != nil {
					err = e
				}
				all = append(all, sums)
			}
			*list.into = append(*list.into, all)
		}
		if err != nil {
			return nil, err
		}
	}
	if t.total.BitLen() > 61 {
		return nil, tooHard("all resources together cost more than 2^61 units")
	}
	return t, nil
}

// sums returns what a container costs on a server in the slots before each; nil if
// the server holds none.
func (c *Checker) sums(h int, demand []int64, price [][]int64, slots int) ([]int64, error) {
	if c.holds(h, demand, 1) == 0 {
		return nil, nil
	}
	out := make([]int64, slots+1)
	for t := range slots {
		cost := new(big.Int)
		for r, v := range demand {
			cost.Add(cost, new(big.Int).Mul(big.NewInt(v), big.NewInt(price[r][t])))
		}
		if cost.Add(cost, big.NewInt(out[t])); cost.BitLen() > 61 {
			return nil, tooHard("a container costs more than 2^61 units")
		}
		out[t+1] = small(cost)
	}
	return out, nil
}

// over returns what a container costs from a slot on for some slots.
func (t *market) over(sums []int64, from, slots int64) int64 {
	return sub(sums[min(add(from, slots), t.slots)], sums[min(from, t.slots)])
}

// cheapest returns min { w C(l) + what l pays } over the schedules of a job that
// complete by the latest slot, in units; nil if there is none.
func (t *market) cheapest(i int, w, latest int64) *big.Int {
	c, j := t.c, &t.c.in.Jobs[i]
	first := int64(c.nextSlot(j.Release) / c.in.Slot)
	var best *big.Int
	for _, k := range c.undominated(j) {
		for at := first; at <= sub(latest, k.slots); at = add(at, 1) {
			wait := new(big.Int).Mul(big.NewInt(w), big.NewInt(add(at, k.slots)))
			if best != nil && wait.Cmp(best) >= 0 {
				break
			}
			if pays := t.place(j, &k, at); pays < math.MaxInt64 {
				if wait.Add(wait, big.NewInt(pays)); best == nil || wait.Cmp(best) < 0 {
					best = wait
				}
			}
			if at >= t.slots {
				break // nothing costs less later
			}
		}
	}
	return best
}

// place returns the least that the containers of a configuration cost from a slot
// on, or MaxInt64.
func (t *market) place(j *sched.Job, k *slottedConfig, at int64) int64 {
	c := t.c
	type offer struct {
		cost int64
		room int
		h    int
	}
	var offers []offer // of workers
	worker := c.in.Elastic.Workers[k.m].Demand
	for h := range c.in.Cluster.Servers {
		if room := c.holds(h, worker, k.n); room > 0 {
			offers = append(offers, offer{t.over(t.workers[h][k.m], at, k.slots), room, h})
		}
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return sign(a.cost, b.cost) })
	// fill returns what n workers cost on the cheapest servers but one.
	fill := func(n, but int) int64 {
		sum := int64(0)
		for _, o := range offers {
			if o.h != but && n > 0 {
				x := min(n, o.room)
				sum = add(sum, mul(int64(x), o.cost))
				n -= x
			}
		}
		if n > 0 {
			return math.MaxInt64
		}
		return sum
	}
	best := int64(math.MaxInt64)
	if j.Elastic.Ring {
		if !k.one {
			return fill(k.n, -1)
		}
		for _, o := range offers {
			if o.room == k.n {
				best = min(best, mul(int64(k.n), o.cost))
			}
		}
		return best
	}
	for h := range c.in.Cluster.Servers {
		if t.servers[h][k.p] == nil {
			continue
		}
		host := t.over(t.servers[h][k.p], at, k.slots)
		own := int64(0)
		if sums := t.workers[h][k.m]; sums != nil {
			own = t.over(sums, at, k.slots)
		}
		least, most := 0, k.n-1
		if k.one {
			least, most = k.n, k.n
		}
		for g := least; g <= most; g++ {
			s := c.servers(k.m, k.p, k.n-g)
			if !c.hosts(h, k.m, g, k.p, s) {
				continue
			}
			if rest := fill(k.n-g, h); rest < math.MaxInt64 {
				best = min(best, add(add(mul(int64(g), own), mul(s, host)), rest))
			}
		}
	}
	return best
}
