package elastic

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"

	"yardstick/bounds"
	"yardstick/formulate/maxweight/columns"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// PricesOptions say how long Prices climbs.
type PricesOptions struct {
	// Slots is how many slots have prices. Any number is right; 0 is as many as a list
	// schedule has.
	Slots int
	Steps int // evaluations, each of which prices every job once; 0 is 30
	// Upper is the cost of a schedule that is known, or nil for that of a list
	// schedule. It directs the steps, and proves nothing.
	Upper *big.Rat
}

// Tariff is a bound by prices of resources.
type Tariff struct {
	bounds.Bound
	Prices *pricing.Prices
	Starts []int64 // by job, the slot that it would start in at these prices
	// Interrupted reports that the context ended before the steps did.
	Interrupted bool
}

// maxPrices bounds the prices, and so the memory of the market and of the certificate.
const maxPrices = 4_000_000

// Prices is the bound of [Conf] without a linear program, at the best prices that
// subgradient steps find: a unit of a resource costs the same on all servers, so that
// there is one price for each resource and slot however many servers there are,
//
//	Σ_j min_l (w_j C(l) + cost of l) − Σ C δ.
//
// Jobs may use the configurations and placements that fit the empty cluster. Prices
// begin at 0, where the bound is that of Alone, and the best ones count. The bound
// is never better than Conf, and has the certificate of its prices.
//
// Errors: sched.ErrNotApplicable; a job that runs nowhere.
//
// Source: weak duality as in [Conf]; the steps are Polyak's, see package columns.
func Prices(ctx context.Context, in *sched.Instance, obj sched.Objective, o PricesOptions) (*Tariff, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, err
	}
	if o.Slots < 0 || o.Slots > maxSlots {
		return nil, fmt.Errorf("elastic: %w: prices for %d slots: from 0 to %d are possible", sched.ErrNotApplicable, o.Slots, maxSlots)
	}
	if o.Slots == 0 || o.Upper == nil {
		_, cost, makespan, err := p.greedy(ctx)
		if err != nil {
			return nil, err
		}
		if o.Slots == 0 {
			o.Slots = int(makespan)
		}
		if o.Upper == nil {
			o.Upper = p.objective(cost)
		}
	}
	if rows := len(in.Cluster.Servers) * len(in.Elastic.Resources) * o.Slots; rows > maxPrices {
		return nil, fmt.Errorf("elastic: %w: %d prices, for each server, resource and slot, are more than %d: choose longer slots", sched.ErrNotApplicable, rows, maxPrices)
	}
	slots := new(big.Rat).Quo(p.obj.ToBase(in, o.Upper), new(big.Rat).SetInt64(int64(in.Slot)))
	upper, _ := slots.Float64()
	c := p.climb(o.Slots, upper)
	out := &Tariff{}
	c.run(ctx, cmp.Or(o.Steps, 30))
	out.Interrupted = ctx.Err() != nil
	v := new(big.Rat)
	for id := range in.Jobs {
		v.Add(v, p.alone(sched.JobID(id)))
	}
	out.Bound = p.bound("elastic-tariff", v)
	out.Bound.Proof = &bounds.Proof{Kind: "elastic-alone"}
	out.Prices, out.Starts = c.prices, c.starts
	if exact, ok := (&columns.Problem{Model: p.model, Terms: p.columns(int64(o.Slots), nil).Terms, Slots: o.Slots}).Bound(c.prices); ok && exact.Cmp(v) > 0 {
		out.Bound = p.bound("elastic-tariff", exact)
		out.Bound.Proof = pricesProof(c.prices, len(in.Elastic.Resources))
	}
	return out, nil
}

// climb is a search for prices, by resource and slot.
type climb struct {
	p      *problem
	slots  int
	upper  float64
	worst  float64   // what the completion of a job costs at most
	total  []float64 // capacity of all servers, by resource
	at     []float64
	prices *pricing.Prices // the best ones
	starts []int64
	best   float64
	of     []float64 // of prices
	excess []float64 // scratch
}

func (p *problem) climb(slots int, upper float64) *climb {
	c := &climb{p: p, slots: slots, upper: upper, best: math.Inf(-1)}
	resources := len(p.in.Elastic.Resources)
	c.total = make([]float64, resources)
	for h := range p.in.Cluster.Servers {
		for r, v := range p.in.Cluster.Servers[h].Capacity {
			c.total[r] += float64(v)
		}
	}
	for id, list := range p.model.Configs {
		longest := int64(0)
		for i := range list {
			longest = max(longest, list[i].Slots)
		}
		c.worst = max(c.worst, p.weight[id]*float64(max(int64(slots), p.in.FirstSlot(sched.JobID(id)))+longest))
	}
	c.at, c.excess = make([]float64, resources*slots), make([]float64, resources*slots)
	return c
}

// run makes the steps: up where the cheapest schedules of all jobs take more than there
// is, down where they take less, by a share of Polyak's step, which is shortened when the
// bound has not improved for a while.
func (c *climb) run(ctx context.Context, steps int) {
	const patience, shorten, hardly = 5, 0.7, 1e-3
	share, idle := 1.0, 0
	for range steps {
		better, ok := c.evaluate(ctx)
		if !ok || share < hardly {
			return
		}
		if idle++; better {
			idle = 0
		}
		if idle == patience {
			share, idle = shorten*share, 0
			copy(c.at, c.of)
			continue
		}
		c.step(share)
	}
}

// evaluate prices every job, and reports whether the prices are the best so far; false if
// the context has ended, which it does not ask at first.
func (c *climb) evaluate(ctx context.Context) (better, ok bool) {
	in := c.p.in
	delta := make([]float64, 0, len(in.Cluster.Servers)*len(c.at))
	for range in.Cluster.Servers {
		delta = append(delta, c.at...)
	}
	prices := pricing.Round(in, c.slots, delta, c.worst)
	market := c.p.model.Market(prices, nil)
	units := big.NewInt(-prices.Total())
	for i := range c.excess {
		c.excess[i] = -c.total[i/c.slots]
	}
	starts := make([]int64, len(in.Jobs))
	for id := range in.Jobs {
		if ctx.Err() != nil && c.prices != nil {
			return false, false
		}
		x, found := market.Cheapest(pricing.Query{Job: sched.JobID(id), Latest: pricing.NoLimit, TimeCost: prices.Units(c.p.weight[id])})
		if !found {
			panic("elastic: a job that runs somewhere does not run alone")
		}
		units.Add(units, big.NewInt(x.Cost))
		starts[id] = x.Start
		x.Use(in, func(_, r int, amount int64) {
			for t := x.Start; t < min(x.End(), int64(c.slots)); t++ {
				c.excess[r*c.slots+int(t)] += float64(amount)
			}
		})
	}
	value, _ := prices.Value(units).Float64()
	if value > c.best {
		c.best, c.prices, c.starts, c.of = value, prices, starts, append(c.of[:0], c.at...)
		return true, true
	}
	return false, true
}

// step moves the prices.
func (c *climb) step(share float64) {
	norm := 0.0
	for i, v := range c.excess {
		if total := c.total[i/c.slots]; total > 0 && (v > 0 || c.at[i] > 0) {
			norm += v / total * v / total
		}
	}
	if norm == 0 {
		return
	}
	reach := share * max(c.upper-c.best, 0) / norm
	for i, v := range c.excess {
		if total := c.total[i/c.slots]; total > 0 {
			c.at[i] = max(0, c.at[i]+reach*v/total/total)
		}
	}
}
