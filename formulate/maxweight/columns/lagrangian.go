package columns

import (
	"math/big"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// Bound returns the Lagrangian bound at the given prices: no choice costs less.
// It is exact but for costs of time, rounded down to the unit of the prices. It
// returns false if a job that may not be left out has no schedule.
func (p *Problem) Bound(prices *pricing.Prices) (*big.Rat, bool) {
	market := p.Model.Market(prices, nil)
	sum := newLagrangian(p, prices)
	for id := range p.Terms {
		c, ok := market.Cheapest(p.query(sched.JobID(id), prices))
		if !sum.add(sched.JobID(id), &c, ok, p.Terms[id].Optional) {
			return nil, false
		}
	}
	return sum.value(), true
}

// query asks for a job's cheapest schedule.
func (p *Problem) query(id sched.JobID, prices *pricing.Prices) pricing.Query {
	t := &p.Terms[id]
	return pricing.Query{Job: id, Latest: t.Latest, TimeCost: prices.Units(t.Time)}
}

// lagrangian adds up the bound.
type lagrangian struct {
	p      *Problem
	prices *pricing.Prices
	units  *big.Int // of schedules, less the total
	reward *big.Rat
}

func newLagrangian(p *Problem, prices *pricing.Prices) *lagrangian {
	return &lagrangian{p, prices, big.NewInt(-prices.Total()), new(big.Rat)}
}

// add adds a job with its cheapest schedule, if it has one. It returns false if
// it has none and needs one.
func (s *lagrangian) add(id sched.JobID, c *pricing.Choice, ok, optional bool) bool {
	if !ok {
		return optional
	}
	if optional && !s.pays(id, c) {
		return true
	}
	s.units.Add(s.units, big.NewInt(c.Cost))
	s.reward.Add(s.reward, new(big.Rat).SetFloat64(s.p.Terms[id].Reward))
	return true
}

// pays reports whether the reward exceeds the cost.
func (s *lagrangian) pays(id sched.JobID, c *pricing.Choice) bool {
	return s.prices.Value(big.NewInt(c.Cost)).Cmp(new(big.Rat).SetFloat64(s.p.Terms[id].Reward)) < 0
}

func (s *lagrangian) value() *big.Rat {
	v := s.prices.Value(s.units)
	return v.Sub(v, s.reward)
}
