package maxweight

import (
	"context"
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

// Tighten improves prices, nil for 1/C of each resource on each server, by steps
// of subgradient descent, and returns the best bound found; without any steps
// that is Certify. Each step prices every job once; there are fewer if the context
// ends before.
//
// Shape: prices are for as many slots as the deadline has. Not in the source.
func Tighten(ctx context.Context, m *pricing.Model, prices *pricing.Prices, steps int) Bound {
	slots := int(m.In.DeadlineSlots())
	if prices == nil {
		prices = even(m.In, slots)
	}
	best := Certify(m, prices)
	if steps == 0 {
		return best
	}
	theta, _ := best.Theta.Float64()
	delta := make([]float64, len(prices.Of))
	for i := range delta {
		delta[i] = theta * prices.Float(i)
	}
	_, improved, ok := problem(m).Improve(ctx, pricing.Round(m.In, slots, delta, 0), steps)
	if !ok {
		return best
	}
	if b := Certify(m, improved); b.Value.Cmp(best.Value) < 0 {
		return b
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
