package elastic

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// Greedy returns a schedule of class Es for the objective ScheduledWeight, by
// density: jobs in order of weight over least volume, the densest first, each on
// the schedule of least volume that completes by the deadline and fits beside
// those before it, of equal ones the one that starts last; a job that has none is
// left out. The volume of a schedule is the sum of the shares of the servers'
// capacities that it takes over its slots, rounded down per unit of a resource so
// that volumes are whole numbers; equal densities go to the lower number.
//
// It knows the whole instance, and proves nothing. Cost: O(log tau) pricing
// queries per job (package pricing), tau the deadline in slots.
//
// Source: Section 7.2 of the primal-dual paper compares with "an algorithm from
// recent literature [44] which proposes a greedy strategy to schedule jobs with
// deadlines in the offline scenario"; N. Jain, I. Menache, J. Naor and J. Yaniv,
// "Near-optimal scheduling mechanisms for deadline-sensitive jobs in large
// computing clusters", allocate in order of value density, from the deadline
// backwards. Not in the source: their jobs are malleable, these keep their
// containers.
//
// Errors: an instance of another model or without a deadline of at least a slot;
// one so large that a unit of a resource has no volume.
func Greedy(in *sched.Instance) (*sched.Schedule, error) {
	if in.Model != sched.ModelElastic || in.Deadline < in.Slot {
		return nil, fmt.Errorf("elastic: greedy: instance %q of the %s model with a deadline of %v: an elastic one with a deadline of at least a slot is needed", in.Name, in.Model, in.Deadline)
	}
	tau := in.DeadlineSlots()
	prices, err := volumePrices(in, int(tau))
	if err != nil {
		return nil, err
	}
	g := greedy{model: pricing.New(in), prices: prices, room: pricing.NewRoom(in, int(tau)), tau: tau}
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}, Segments: []sched.Segment{}}
	market := g.model.Market(prices, nil)
	type dense struct {
		job     sched.JobID
		density *big.Rat
	}
	var order []dense
	for id := range in.Jobs {
		if c, ok := market.Cheapest(pricing.Query{Job: sched.JobID(id), Latest: tau}); ok {
			w := new(big.Rat).SetFloat64(in.Jobs[id].Weight)
			order = append(order, dense{sched.JobID(id), w.Quo(w, new(big.Rat).SetInt64(max(1, c.Cost)))})
		}
	}
	slices.SortStableFunc(order, func(a, b dense) int { return cmp.Or(b.density.Cmp(a.density), cmp.Compare(a.job, b.job)) })
	market = g.model.Market(prices, g.room)
	for _, x := range order {
		if c, ok := g.latest(market, x.job); ok {
			g.room.Take(&c)
			s.Segments = append(s.Segments, c.Segment(in, x.job))
			market = g.model.Market(prices, g.room)
		}
	}
	s.Sort()
	return s, nil
}

// volumePrices returns prices by which a schedule costs its volume.
func volumePrices(in *sched.Instance, slots int) (*pricing.Prices, error) {
	whole := (int64(1) << 59) / int64(len(in.Cluster.Servers)*len(in.Elastic.Resources)) / int64(slots) // all of a resource of a server for a slot
	var of []int64
	for h := range in.Cluster.Servers {
		for _, c := range in.Cluster.Servers[h].Capacity {
			price := int64(0)
			if c > 0 {
				if price = whole / c; price == 0 {
					return nil, fmt.Errorf("elastic: greedy: a unit of a resource is too small a share of %d units in %d slots: use larger units", c, slots)
				}
			}
			of = append(of, slices.Repeat([]int64{price}, slots)...)
		}
	}
	return pricing.NewPrices(in, slots, 0, of)
}

type greedy struct {
	model  *pricing.Model
	prices *pricing.Prices
	room   *pricing.Room
	tau    int64
}

// latest returns, of the job's cheapest schedules that fit, one that starts
// last: whether one starts in or after a slot is monotone in the slot.
func (g *greedy) latest(market *pricing.Market, id sched.JobID) (pricing.Choice, bool) {
	limits := pricing.Limits{Last: g.tau}
	q := pricing.Query{Job: id, Latest: g.tau, Limits: &limits}
	best, ok := market.Cheapest(q)
	if !ok {
		return best, false
	}
	for after := g.tau; best.Start+1 < after; { // one starts in best.Start, none in or after that slot
		limits.First = best.Start + (after-best.Start+1)/2
		if c, ok := market.Cheapest(q); ok && c.Cost == best.Cost {
			best = c
		} else {
			after = limits.First
		}
	}
	return best, true
}
