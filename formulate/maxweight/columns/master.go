package columns

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/colgen"
	"yardstick/solvers/milp"
)

// master knows the rows of a program: one for each resource, of each group of
// servers, in each slot, and then one for each job.
type master struct {
	p      *Problem
	groups [][]int           // servers that share rows
	group  []int             // of each server
	alone  []*pricing.Choice // each job's first completion in the empty cluster; nil if it has none
	worst  float64           // more than any choice costs
	grain  int               // costs of master programs are multiplied by 2^grain
	whole  bool              // they are whole numbers then
	seeds  []column          // columns that the root begins with
}

// master returns the rows; grouped, servers of equal capacities share theirs.
func (p *Problem) master(grouped bool) *master {
	in := p.Model.In
	m := &master{p: p, worst: 1}
	m.grain, m.whole = p.grain()
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
	prices := p.shares()
	market := p.Model.Market(prices, nil)
	for id := range p.Terms {
		c, ok := market.Cheapest(pricing.Query{Job: sched.JobID(id), Latest: p.Terms[id].Latest, TimeCost: prices.Total() + 1})
		if !ok {
			m.alone = append(m.alone, nil)
			continue
		}
		m.alone = append(m.alone, &c)
		m.worst += p.Terms[id].Reward + p.worstTime(sched.JobID(id))
	}
	m.worst *= 1 + 1e-9 // whatever was rounded
	return m
}

// worstTime returns what a job's completion costs at most, if it is never later
// than it need be on an empty cluster after the last slot.
func (p *Problem) worstTime(id sched.JobID) float64 {
	latest := int64(0)
	for i := range p.Model.Configs[id] {
		latest = max(latest, max(int64(p.Slots), p.Model.In.FirstSlot(id))+p.Model.Configs[id][i].Slots)
	}
	return p.Terms[id].Time * float64(min(latest, p.Terms[id].Latest))
}

// row returns the row of a resource in slot 0; those of the other slots follow.
func (m *master) row(group, r int) int {
	return (group*len(m.p.Model.In.Elastic.Resources) + r) * m.p.Slots
}

// capacities returns the number of rows before those of the jobs.
func (m *master) capacities() int { return m.row(len(m.groups), 0) }

// capacity returns what the servers of a group have together.
func (m *master) capacity(group, r int) int64 {
	g := m.groups[group]
	return m.p.Model.In.Cluster.Servers[g[0]].Capacity[r] * int64(len(g))
}

// use calls f for every capacity row that a schedule takes from.
func (m *master) use(c *pricing.Choice, f func(row int, amount int64)) {
	taken := map[int]int64{}
	var rows []int
	c.Use(m.p.Model.In, func(h, r int, amount int64) {
		row := m.row(m.group[h], r)
		if _, known := taken[row]; !known {
			rows = append(rows, row)
		}
		taken[row] += amount
	})
	slices.Sort(rows)
	for _, row := range rows {
		for t := c.Start; t < min(c.End(), int64(m.p.Slots)); t++ {
			f(row+int(t), taken[row])
		}
	}
}

// prices turns prices of rows into prices of servers.
func (m *master) prices(of []float64) *pricing.Prices {
	in := m.p.Model.In
	resources := len(in.Elastic.Resources)
	delta := make([]float64, 0, len(in.Cluster.Servers)*resources*m.p.Slots)
	for h := range in.Cluster.Servers {
		for r := range resources {
			delta = append(delta, of[m.row(m.group[h], r):][:m.p.Slots]...)
		}
	}
	return pricing.Round(in, m.p.Slots, delta, m.worst)
}

// column is a job's schedule.
type column struct {
	job sched.JobID
	*pricing.Choice
}

// cost returns about what the column costs.
func (m *master) cost(c column) float64 {
	t := &m.p.Terms[c.job]
	return t.Time*float64(c.End()) - t.Reward
}

// key tells columns apart.
func (c *column) key() string {
	return fmt.Sprint(c.job, c.Config, c.Start, c.Workers, c.Host)
}

// state states a schedule as a column of the master program.
func (m *master) state(c column) colgen.Column {
	out := colgen.Column{Var: milp.Variable{Name: fmt.Sprintf("x%d", c.job), Upper: 2, Cost: math.Ldexp(m.cost(c), m.grain)}, Tag: c}
	m.use(c.Choice, func(row int, amount int64) {
		out.Rows, out.Vals = append(out.Rows, row), append(out.Vals, float64(amount))
	})
	out.Rows, out.Vals = append(out.Rows, m.capacities()+int(c.job)), append(out.Vals, 1)
	return out
}

// pricer implements colgen.Pricer for a node.
type pricer struct {
	m    *master
	node *node
}

// Price implements colgen.Pricer. Duals and bounds are of costs multiplied by
// 2^grain; prices are not. The bound comes from the prices of capacities
// alone; the duals of the jobs' rows only decide which columns are worth having.
func (q *pricer) Price(ctx context.Context, y []float64) (colgen.Pricing, error) {
	m, p := q.m, q.m.p
	of := make([]float64, m.capacities())
	for i := range of {
		of[i] = math.Ldexp(-y[i], -m.grain)
	}
	prices := m.prices(of)
	market := p.Model.Market(prices, nil)
	sum := newLagrangian(p, prices)
	var out colgen.Pricing
	for i := range p.Terms {
		id := sched.JobID(i)
		if err := ctx.Err(); err != nil {
			return out, err
		}
		s := &q.node.jobs[id]
		if s.out {
			continue
		}
		query := p.query(id, prices)
		query.Limits = s.limits
		c, ok := market.Cheapest(query)
		if !sum.add(id, &c, ok, p.Terms[id].Optional && !s.in) {
			return colgen.Pricing{Bound: math.Inf(1)}, nil // the node is empty
		}
		if !ok {
			continue
		}
		col := m.state(column{id, &c})
		pays, _ := m.scaled(prices.Value(big.NewInt(c.Cost - query.TimeCost*c.End()))).Float64()
		if reduced := col.Var.Cost + pays - y[m.capacities()+i]; reduced < -1e-9*(pays+math.Abs(col.Var.Cost)) {
			out.Columns = append(out.Columns, col)
		}
	}
	value := sum.value()
	if value.Cmp(new(big.Rat).SetFloat64(m.worst)) > 0 { // nothing costs as much: the node is empty
		return colgen.Pricing{Bound: math.Inf(1)}, nil
	}
	out.Bound = down(m.scaled(value))
	return out, nil
}

// scaled multiplies a cost by 2^grain, in place.
func (m *master) scaled(v *big.Rat) *big.Rat {
	return v.Mul(v, new(big.Rat).SetInt64(1<<m.grain))
}
