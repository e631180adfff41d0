package maxweight

import (
	"math"
	"math/big"
	"slices"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// Certify returns the bound that prices prove, multiplied by the best factor:
//
//	min_{θ ≥ 0}  θ K + Σ_j max(0, w_j − θ c_j),   K = Σ C δ.
//
// A factor changes no cheapest schedule, so that one pricing per job is enough.
// The function is convex and piecewise linear with bends at w_j/c_j, and least
// where the c_j of the jobs that pay for themselves no longer exceed K. θ = 0
// gives the weight of all jobs that can be done at all, so that no bound is
// greater. The evaluation is in exact arithmetic.
//
// The prices must be for as many slots as the deadline has.
func Certify(m *pricing.Model, prices *pricing.Prices) Bound {
	return certify(m, prices, cheapest(m, prices))
}

// offer is a job's cheapest schedule.
type offer struct {
	weight *big.Rat
	pricing.Choice
}

// cheapest prices all jobs in the empty cluster, and leaves those out that have
// no schedule.
func cheapest(m *pricing.Model, prices *pricing.Prices) []offer {
	market := m.Market(prices, nil)
	var out []offer
	for id := range m.In.Jobs {
		if c, ok := market.Cheapest(pricing.Query{Job: sched.JobID(id), Latest: m.In.DeadlineSlots()}); ok {
			out = append(out, offer{new(big.Rat).SetFloat64(m.In.Jobs[id].Weight), c})
		}
	}
	return out
}

func certify(m *pricing.Model, prices *pricing.Prices, offers []offer) Bound {
	slope := big.NewInt(prices.Total()) // of the function at θ, times the unit
	value := new(big.Rat)
	var paying []offer
	for _, o := range offers {
		value.Add(value, o.weight)
		if o.Cost > 0 {
			slope.Sub(slope, big.NewInt(o.Cost))
			paying = append(paying, o)
		}
	}
	bend := func(o *offer) *big.Rat { return new(big.Rat).Quo(o.weight, new(big.Rat).SetInt64(o.Cost)) }
	slices.SortStableFunc(paying, func(a, b offer) int { return bend(&a).Cmp(bend(&b)) })
	theta := new(big.Rat) // per unit
	for i := 0; i < len(paying) && slope.Sign() < 0; i++ {
		next := bend(&paying[i])
		step := new(big.Rat).Sub(next, theta)
		value.Add(value, step.Mul(step, new(big.Rat).SetInt(slope)))
		slope.Add(slope, big.NewInt(paying[i].Cost))
		theta = next
	}
	return Bound{Value: round(m.In, value), Prices: prices, Theta: theta.Quo(theta, prices.Value(big.NewInt(1)))}
}

// Tighten improves prices by steps of projected subgradient descent, and returns
// the best bound found; without any steps that is Certify. Each step prices every
// job once. nil prices stand for 1/C of each resource on each server.
//
// Shape: prices are for as many slots as the deadline has. Not in the source.
func Tighten(m *pricing.Model, prices *pricing.Prices, steps int) Bound {
	slots := int(m.In.DeadlineSlots())
	if prices == nil {
		prices = even(m.In, slots)
	}
	offers := cheapest(m, prices)
	best := certify(m, prices, offers)
	d := newDescent(m.In, slots, &best)
	for k := range steps {
		if !d.step(offers, 1/float64(k+2)) {
			break
		}
		prices = pricing.Round(m.In, slots, d.delta, 0)
		offers = cheapest(m, prices)
		if b := certify(m, prices, offers); b.Value.Cmp(best.Value) < 0 {
			best = b
		}
	}
	return best
}

// even returns prices of 1/C.
func even(in *sched.Instance, slots int) *pricing.Prices {
	var delta []float64
	for h := range in.Cluster.Servers {
		for _, capacity := range in.Cluster.Servers[h].Capacity {
			for range slots {
				delta = append(delta, 1/float64(capacity))
			}
		}
	}
	return pricing.Round(in, slots, delta, 0)
}

// descent is a subgradient descent under way. Costs of capacities are what
// moves: C δ for each resource, server and slot.
type descent struct {
	in     *sched.Instance
	slots  int
	delta  []float64 // prices, in the unit of weights
	weight float64   // of all jobs
	use    []float64
}

func newDescent(in *sched.Instance, slots int, b *Bound) *descent {
	d := &descent{in: in, slots: slots, use: make([]float64, len(b.Prices.Of))}
	theta, _ := b.Theta.Float64()
	for i := range b.Prices.Of {
		d.delta = append(d.delta, theta*b.Prices.Float(i))
	}
	for i := range in.Jobs {
		d.weight += in.Jobs[i].Weight
	}
	return d
}

// step moves the prices against a subgradient: up where the jobs that would pay
// take more than there is, and down where they take less. The step is the given
// share of all weights, divided by the length of the subgradient. It returns
// false if there is nothing to move.
func (d *descent) step(offers []offer, share float64) bool {
	resources := len(d.in.Elastic.Resources)
	clear(d.use)
	for i := range offers {
		if w, _ := offers[i].weight.Float64(); d.cost(&offers[i].Choice) >= w {
			continue
		}
		d.each(&offers[i].Choice, func(at int, amount int64) { d.use[at] += float64(amount) })
	}
	norm := 0.0
	for i := range d.use {
		capacity := d.in.Cluster.Servers[i/d.slots/resources].Capacity[i/d.slots%resources]
		if capacity == 0 {
			d.use[i] = 0
			continue
		}
		d.use[i] = d.use[i]/float64(capacity) - 1
		if d.use[i] > 0 || d.delta[i] > 0 {
			norm += d.use[i] * d.use[i]
		}
	}
	if norm == 0 {
		return false
	}
	length := share * d.weight / norm
	for i, g := range d.use {
		if g == 0 {
			continue
		}
		capacity := d.in.Cluster.Servers[i/d.slots/resources].Capacity[i/d.slots%resources]
		d.delta[i] = math.Max(0, d.delta[i]+length*g/float64(capacity))
	}
	return true
}

// cost returns about what a schedule costs at the present prices.
func (d *descent) cost(c *pricing.Choice) float64 {
	sum := 0.0
	d.each(c, func(at int, amount int64) { sum += d.delta[at] * float64(amount) })
	return sum
}

// each calls f for every price that a schedule pays.
func (d *descent) each(c *pricing.Choice, f func(at int, amount int64)) {
	resources := len(d.in.Elastic.Resources)
	c.Use(d.in, func(h, r int, amount int64) {
		for t := c.Start; t < c.End(); t++ {
			f((h*resources+r)*d.slots+int(t), amount)
		}
	})
}
