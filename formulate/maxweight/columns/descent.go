package columns

import (
	"context"
	"math"
	"math/big"
	"slices"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// dual is a search for prices that prove much: the Lagrangian dual problem.
// Prices are by row of the master program.
type dual struct {
	m      *master
	bound  *big.Rat        // the best so far; nil if there is none
	prices *pricing.Prices // that prove it
	best   []float64       // the same, by row
	greedy float64         // what some choice costs, or NaN
}

func (m *master) dual(ctx context.Context) *dual {
	d := &dual{m: m, best: make([]float64, m.capacities()), greedy: math.NaN()}
	if choice, ok := m.p.Greedy(ctx, m.p.byDensity()); ok {
		d.greedy, _ = m.p.Cost(choice).Float64()
	}
	return d
}

// byDensity lists the jobs by reward, or cost of time, per slot alone.
func (p *Problem) byDensity() []sched.JobID {
	density := make([]float64, len(p.Terms))
	order := make([]sched.JobID, len(p.Terms))
	for id := range p.Terms {
		order[id] = sched.JobID(id)
		shortest := int64(math.MaxInt64)
		for i := range p.Model.Configs[id] {
			shortest = min(shortest, p.Model.Configs[id][i].Slots)
		}
		density[id] = (p.Terms[id].Time + p.Terms[id].Reward) / float64(shortest)
	}
	slices.SortStableFunc(order, func(a, b sched.JobID) int {
		switch {
		case density[a] > density[b]:
			return -1
		case density[a] < density[b]:
			return 1
		}
		return 0
	})
	return order
}

// price evaluates prices. It returns the bound and each job's cheapest schedule,
// of those that have one, and whether taking that improves the bound's sum; or an error
// if the context ends first, which is asked before each job.
func (d *dual) price(ctx context.Context, at []float64) (value float64, columns []column, pays []bool, err error) {
	p := d.m.p
	prices := d.m.prices(at)
	market := p.Model.Market(prices, nil)
	sum := newLagrangian(p, prices)
	for i := range p.Terms {
		if err := ctx.Err(); err != nil {
			return 0, nil, nil, err
		}
		id := sched.JobID(i)
		c, ok := market.Cheapest(p.query(id, prices))
		sum.add(id, &c, ok, p.Terms[i].Optional)
		if ok {
			columns = append(columns, column{id, &c})
			pays = append(pays, !p.Terms[i].Optional || sum.pays(id, &c))
		}
	}
	bound := sum.value()
	if d.bound == nil || bound.Cmp(d.bound) > 0 {
		d.bound, d.prices = bound, prices
		copy(d.best, at)
	}
	value, _ = bound.Float64()
	return value, columns, pays, nil
}

// descend moves prices along subgradients: up where the cheapest schedules of all
// jobs take more than there is, and down where they take less. The step is a
// share of that of Polyak, towards what some choice costs, and shortened whenever
// the bound has not improved for a while, until it is hardly any step at all.
// Every column priced is handed to see, with the share at that time. It ends early
// when the context does.
//
// Source: M. Held, P. Wolfe, H. P. Crowder, Validation of subgradient
// optimization, Math. Program. 6 (1974), with the greedy choice as target.
func (d *dual) descend(ctx context.Context, steps int, see func(share float64, c column)) {
	const patience, shorten, hardly = 4, 0.7, 1e-3
	at, excess := slices.Clone(d.best), make([]float64, len(d.best))
	best, share, idle := math.Inf(-1), 1.0, 0
	for range steps {
		value, columns, pays, err := d.price(ctx, at)
		if err != nil {
			return
		}
		if idle++; value > best {
			best, idle = value, 0
		}
		if idle == patience {
			share, idle = shorten*share, 0
		}
		if share < hardly {
			return
		}
		target := d.greedy
		if !(target > value) {
			target = value + math.Abs(value)/2
		}
		for row := range excess {
			excess[row] = -1
		}
		for i, c := range columns {
			see(share, c)
			if pays[i] {
				d.m.use(c.Choice, func(row int, amount int64) { excess[row] += float64(amount) / d.capacity(row) })
			}
		}
		norm := 0.0
		for row, v := range excess {
			if v > 0 || at[row] > 0 {
				norm += v * v
			}
		}
		if norm == 0 || target == value {
			return
		}
		for row, v := range excess {
			at[row] = max(0, at[row]+share*(target-value)/norm*v/d.capacity(row))
		}
	}
}

// capacity returns that of a row, at least 1: nothing takes from where there is
// nothing.
func (d *dual) capacity(row int) float64 {
	resources := len(d.m.p.Model.In.Elastic.Resources)
	return float64(max(1, d.m.capacity(row/d.m.p.Slots/resources, row/d.m.p.Slots%resources)))
}

// Improve moves prices, nil for none, by a number of subgradient steps. It
// returns the best bound found, with its prices; false if a job that may not be
// left out has no schedule, or the context ends before the first step. Each step
// prices every job once.
func (p *Problem) Improve(ctx context.Context, prices *pricing.Prices, steps int) (*big.Rat, *pricing.Prices, bool) {
	m := p.master(false)
	for id := range p.Terms {
		if m.alone[id] == nil && !p.Terms[id].Optional {
			return nil, nil, false
		}
	}
	d := m.dual(ctx)
	if prices != nil {
		for row := range d.best {
			d.best[row] = prices.Float(row)
		}
	}
	d.descend(ctx, steps+1, func(float64, column) {})
	return d.bound, d.prices, d.bound != nil
}
