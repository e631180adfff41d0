package columns

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sort"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/colgen"
	"yardstick/solvers/milp"
)

// Optimum is what branch and price knows in the end.
type Optimum struct {
	// Choice is the best choice found, a schedule or nil per job, and Cost is
	// what it costs; both nil if none was found.
	Choice []*pricing.Choice
	Cost   *big.Rat
	// Tree has the termination, the proven bound and counts.
	Tree *colgen.Optimum[[]*pricing.Choice]
}

// Solve finds the best choice by branch and price. Nodes are split by, in this
// order: whether a job is left out; its configuration; its start; the workers on
// a server; the server that hosts the parameter servers. All of these keep the
// pricing exact.
//
// Errors: a job may complete after the last slot; those of the solver.
func (p *Problem) Solve(ctx context.Context, solver milp.LPSolver, limits milp.Limits) (*Optimum, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	t := p.master(false)
	relaxed, err := p.Relax(ctx, solver, limits)
	if err != nil {
		return nil, err
	}
	for _, c := range relaxed.Columns {
		t.seeds = append(t.seeds, column{c.Job, c.Choice})
	}
	r, err := colgen.Solve[*node, []*pricing.Choice](ctx, solver, t, colgen.TreeOptions{Limits: limits, IntegralCost: p.integral()})
	if err != nil {
		return nil, err
	}
	out := &Optimum{Tree: r}
	if r.Found {
		out.Choice, out.Cost = r.Solution, p.Cost(r.Solution)
	}
	return out, nil
}

// node is a part of the problem: what has been decided about each job.
type node struct {
	root bool
	jobs []state
}

// state is what has been decided about a job.
type state struct {
	in, out bool
	limits  *pricing.Limits // nil for none
}

// with returns the node with another decision about a job.
func (n *node) with(id sched.JobID, decide func(*state)) *node {
	c := &node{jobs: slices.Clone(n.jobs)}
	decide(&c.jobs[id])
	return c
}

// limited returns the node with other limits of a job.
func (n *node) limited(id sched.JobID, limit func(*pricing.Limits)) *node {
	return n.with(id, func(s *state) {
		l := pricing.Limits{Last: pricing.NoLimit}
		if s.limits != nil {
			l = *s.limits
		}
		limit(&l)
		s.limits = &l
	})
}

// Root implements colgen.Problem.
func (m *master) Root() *node { return &node{true, make([]state, len(m.p.Terms))} }

// Rows implements colgen.Problem.
func (m *master) Rows(n *node) ([]milp.Row, float64) {
	in := m.p.Model.In
	var rows []milp.Row
	for k, g := range m.groups {
		for r, capacity := range in.Cluster.Servers[g[0]].Capacity {
			for t := range m.p.Slots {
				rows = append(rows, milp.Row{Name: fmt.Sprintf("h%d_%d_%d", k, r, t), Sense: milp.LE, RHS: float64(capacity * int64(len(g)))})
			}
		}
	}
	for id := range m.p.Terms {
		row := milp.Row{Name: fmt.Sprintf("job%d", id), Sense: milp.EQ, RHS: 1}
		switch s := n.jobs[id]; {
		case s.out:
			row.RHS = 0
		case m.p.Terms[id].Optional && !s.in:
			row.Sense = milp.LE
		}
		rows = append(rows, row)
	}
	return rows, 0
}

// Start implements colgen.Problem. Jobs that need a schedule begin with one that
// takes nothing and costs too much, and at the root with the one that they would
// have alone.
func (m *master) Start(n *node) []colgen.Column {
	var out []colgen.Column
	for id := range m.p.Terms {
		s := &n.jobs[id]
		if s.out || m.p.Terms[id].Optional && !s.in {
			continue
		}
		out = append(out, colgen.Column{Var: milp.Variable{Name: fmt.Sprintf("none%d", id), Upper: 2, Cost: 1000 * m.worst}, Rows: []int{m.capacities() + id}, Vals: []float64{1}})
		if c := m.alone[id]; c != nil && s.limits == nil {
			out = append(out, m.state(column{sched.JobID(id), c}))
		}
	}
	if n.root {
		for _, c := range m.seeds {
			out = append(out, m.state(c))
		}
	}
	return out
}

// Allowed implements colgen.Problem.
func (m *master) Allowed(n *node, c *colgen.Column) bool {
	tag := c.Tag.(column)
	s := &n.jobs[tag.job]
	return !s.out && (s.limits == nil || s.limits.Allow(tag.Choice))
}

// Pricer implements colgen.Problem.
func (m *master) Pricer(n *node) colgen.Pricer { return &pricer{m: m, node: n} }

// Candidate implements colgen.Problem: the schedules of largest value that fit
// together, and then the other jobs, the most valuable first, as early as
// possible.
func (m *master) Candidate(_ *node, columns []colgen.Column, x []float64) ([]*pricing.Choice, float64, bool) {
	var order []int
	for i := range columns {
		if columns[i].Tag != nil && x[i] > 1e-6 {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return x[order[a]] > x[order[b]] })
	room := pricing.NewRoom(m.p.Model.In, m.p.Slots)
	out := make([]*pricing.Choice, len(m.p.Terms))
	var rest []sched.JobID
	for _, i := range order {
		tag := columns[i].Tag.(column)
		if out[tag.job] == nil && tag.End() <= int64(m.p.Slots) && room.Fits(tag.Choice) {
			room.Take(tag.Choice)
			out[tag.job] = tag.Choice
		}
	}
	for id := range out {
		if out[id] == nil {
			rest = append(rest, sched.JobID(id))
		}
	}
	slices.SortStableFunc(rest, func(a, b sched.JobID) int {
		ta, tb := &m.p.Terms[a], &m.p.Terms[b]
		return -new(big.Rat).SetFloat64(ta.Time + ta.Reward).Cmp(new(big.Rat).SetFloat64(tb.Time + tb.Reward))
	})
	if !m.p.fill(out, room, rest) {
		return nil, 0, false
	}
	return out, up(m.p.Cost(out)), true
}
