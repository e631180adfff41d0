package columns

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/colgen"
	"yardstick/solvers/milp"
)

// Relaxation is what is known about the linear relaxation.
type Relaxation struct {
	// Bound is proven: no choice costs less. It is nil if nothing is.
	Bound *big.Rat
	// Prices are its certificate: Problem.Bound of them is Bound.
	Prices *pricing.Prices
	Rows   int
	// Master is the column generation. Its Objective, minus Bound, is what
	// rounding and early ends have cost.
	Master *colgen.Result
}

// Value returns the value of the relaxation as the solver claims it, NaN if it was
// not reached.
func (r *Relaxation) Value() float64 {
	if r.Master.Termination != milp.Optimal {
		return math.NaN()
	}
	return r.Master.Objective
}

// Relax solves the linear relaxation by column generation. Servers of equal
// capacities share their rows: spreading a schedule evenly over all permutations
// of them keeps its cost, so that the value is the same and prices are equal.
// Reaching a limit is not an error; Nodes counts rounds.
//
// Errors: a job that may not be left out has no schedule; those of the solver.
func (p *Problem) Relax(ctx context.Context, solver milp.LPSolver, limits milp.Limits) (*Relaxation, error) {
	m := p.master(true)
	if m.capacities() > 200 {
		m.nudge = 1e-6
	}
	for id := range p.Terms {
		if m.alone[id] == nil && !p.Terms[id].Optional {
			return nil, fmt.Errorf("columns: job %d of instance %q has no schedule by slot %d", id, p.Model.In.Name, p.Terms[id].Latest)
		}
	}
	root := m.Root()
	rows, constant := m.Rows(root)
	pricer := &pricer{m: m, node: root}
	r, err := colgen.Generate(ctx, solver, rows, constant, m.Start(root), pricer, limits)
	if err != nil {
		return nil, err
	}
	return &Relaxation{Bound: pricer.bound, Prices: pricer.prices, Rows: len(rows), Master: r}, nil
}

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
	cost := big.NewInt(c.Cost)
	reward := new(big.Rat).SetFloat64(s.p.Terms[id].Reward)
	if optional && s.prices.Value(cost).Cmp(reward) >= 0 {
		return true
	}
	s.units.Add(s.units, cost)
	s.reward.Add(s.reward, reward)
	return true
}

func (s *lagrangian) value() *big.Rat {
	v := s.prices.Value(s.units)
	return v.Sub(v, s.reward)
}

// master is the master program of column generation.
type master struct {
	p      *Problem
	groups [][]int           // servers that share rows
	group  []int             // of each server
	alone  []*pricing.Choice // each job's schedule in the empty cluster; nil if it has none
	worst  float64           // more than any choice costs
	nudge  float64           // by what share of its cost a column is made dearer, at most
}

func (p *Problem) master(grouped bool) *master {
	in := p.Model.In
	m := &master{p: p, worst: 1}
	for h := range in.Cluster.Servers {
		k := -1
		if grouped {
			k = slices.IndexFunc(m.groups, func(g []int) bool {
				return slices.Equal(in.Cluster.Servers[g[0]].Capacity, in.Cluster.Servers[h].Capacity)
			})
		}
		if k < 0 {
			k = len(m.groups)
			m.groups = append(m.groups, nil)
		}
		m.groups[k] = append(m.groups[k], h)
		m.group = append(m.group, k)
	}
	none := p.Model.Market(p.shares(), nil)
	late := int64(p.Slots)
	for id := range p.Terms {
		t := &p.Terms[id]
		c, ok := none.Cheapest(pricing.Query{Job: sched.JobID(id), Latest: t.Latest, TimeCost: 1 << 41})
		if !ok {
			m.alone = append(m.alone, nil)
			continue
		}
		m.alone = append(m.alone, &c)
		for i := range p.Model.Configs[id] {
			late = max(late, int64(p.Slots)+p.Model.Configs[id][i].Slots, in.FirstSlot(sched.JobID(id))+p.Model.Configs[id][i].Slots)
		}
	}
	for _, t := range p.Terms {
		m.worst += t.Reward + t.Time*float64(min(t.Latest, late))
	}
	return m
}

// row returns the row of a resource in slot 0; those of the other slots follow.
func (m *master) row(group, r int) int {
	return (group*len(m.p.Model.In.Elastic.Resources) + r) * m.p.Slots
}

// capacities returns the number of rows before those of the jobs.
func (m *master) capacities() int { return m.row(len(m.groups), 0) }

// column is a job's schedule.
type column struct {
	job sched.JobID
	*pricing.Choice
}

// column states a schedule as a column of the master program.
func (m *master) column(id sched.JobID, c *pricing.Choice) colgen.Column {
	t := &m.p.Terms[id]
	out := colgen.Column{Var: milp.Variable{Name: fmt.Sprintf("x%d", id), Upper: 2, Cost: t.Time*float64(c.End()) - t.Reward}, Tag: column{id, c}}
	out.Var.Cost += m.nudge * (t.Reward + t.Time*float64(c.End())) * fraction(c)
	use := map[int]int64{}
	var rows []int
	c.Use(m.p.Model.In, func(h, r int, amount int64) {
		row := m.row(m.group[h], r)
		if _, known := use[row]; !known {
			rows = append(rows, row)
		}
		use[row] += amount
	})
	slices.Sort(rows)
	for _, row := range rows {
		for t := c.Start; t < min(c.End(), int64(m.p.Slots)); t++ {
			out.Rows, out.Vals = append(out.Rows, row+int(t)), append(out.Vals, float64(use[row]))
		}
	}
	out.Rows, out.Vals = append(out.Rows, m.capacities()+int(id)), append(out.Vals, 1)
	return out
}

// fraction returns a number from 0 to 1 that is as good as random.
func fraction(c *pricing.Choice) float64 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
	x := uint64(c.Start)
	for _, v := range append([]int{c.Config, c.Host}, c.Workers...) {
		x = (bits.RotateLeft64(x, 23) ^ uint64(v)) * golden
	}
	return float64(x>>11) / (1 << 53)
}

// pricer implements colgen.Pricer for a node. It keeps the best bound.
type pricer struct {
	m      *master
	node   *node
	bound  *big.Rat
	prices *pricing.Prices
}

// Price implements colgen.Pricer. The duals of the jobs' rows only decide which
// columns are worth having.
func (q *pricer) Price(ctx context.Context, y []float64) (colgen.Pricing, error) {
	p := q.m.p
	prices := q.m.prices(y)
	market := p.Model.Market(prices, nil)
	sum := newLagrangian(p, prices)
	out := colgen.Pricing{Bound: math.Inf(1)}
	for id := range p.Terms {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		s := q.node.state(sched.JobID(id))
		if s.out {
			continue
		}
		query := p.query(sched.JobID(id), prices)
		query.Limits = s.limits
		c, ok := market.Cheapest(query)
		if !sum.add(sched.JobID(id), &c, ok, p.Terms[id].Optional && !s.in) {
			return colgen.Pricing{Bound: math.Inf(1)}, nil // the node is empty
		}
		if !ok {
			continue
		}
		col := q.m.column(sched.JobID(id), &c)
		pays, _ := prices.Value(big.NewInt(c.Cost - query.TimeCost*c.End())).Float64()
		if reduced := col.Var.Cost + pays - y[q.m.capacities()+id]; reduced < -1e-9*(pays+math.Abs(col.Var.Cost)) {
			out.Columns = append(out.Columns, col)
		}
	}
	value := sum.value()
	if q.bound == nil || value.Cmp(q.bound) > 0 {
		q.bound, q.prices = value, prices
	}
	out.Bound = down(value)
	return out, nil
}

// prices are those that duals of the capacity rows stand for.
func (m *master) prices(y []float64) *pricing.Prices {
	in := m.p.Model.In
	resources := len(in.Elastic.Resources)
	delta := make([]float64, 0, len(in.Cluster.Servers)*resources*m.p.Slots)
	for h := range in.Cluster.Servers {
		for r := range resources {
			row := m.row(m.group[h], r)
			for _, v := range y[row : row+m.p.Slots] {
				delta = append(delta, -v)
			}
		}
	}
	return pricing.Round(in, m.p.Slots, delta, m.worst)
}
