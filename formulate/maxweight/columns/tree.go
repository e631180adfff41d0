package columns

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/colgen"
	"yardstick/solvers/milp"
)

// Optimum is what is known after an exact solve.
type Optimum struct {
	Termination milp.Termination
	// Choice is the best choice found, a schedule or nil per job, and Cost is
	// what it costs; both nil if none was found.
	Choice []*pricing.Choice
	Cost   *big.Rat
	// Bound is proven: no choice costs less. It is nil if there is no choice, or a
	// limit came before any bound.
	Bound   *big.Rat
	Relaxed *Relaxation
	Nodes   int // of the tree; 0 if rounding settled it
	Columns int // generated in all
}

// Solve finds the best choice by branch and price. The columns of the relaxation
// are where it starts. Nodes are split by, in this order: whether a job is left
// out; its completion, which changes the bounds of both parts the most; its start;
// its configuration; the workers on a server; the server that hosts the parameter
// servers. All of these keep the pricing exact.
//
// Reaching a limit leaves Bound below Cost; it is not an error. Unless all terms
// are multiples of 2^−20, Optimal means within a relative 1e-9.
//
// Errors: a job may complete after the last slot, or one that may not be left out
// has no schedule; those of the solver.
func (p *Problem) Solve(ctx context.Context, solver milp.LPSolver, limits milp.Limits) (*Optimum, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	limited := ctx
	if limits.Time > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, limits.Time)
		defer cancel()
	}
	relaxed, err := p.Relax(limited, solver, milp.Limits{})
	if err != nil {
		return nil, err
	}
	m := p.master(false)
	out := &Optimum{Relaxed: relaxed, Columns: len(relaxed.Columns)}
	out.raise(p, relaxed.Bound)
	if choice, ok := p.Greedy(limited, p.byDensity()); ok {
		out.offer(p, choice)
	}
	var columns []colgen.Column
	var x []float64
	for _, c := range relaxed.Columns {
		m.seeds = append(m.seeds, column{c.Job, c.Choice})
		columns, x = append(columns, colgen.Column{Tag: column{c.Job, c.Choice}}), append(x, c.Value)
	}
	if choice, _, ok := m.Candidate(limited, nil, columns, x); ok {
		out.offer(p, choice)
	}
	if out.Cost != nil && out.Bound != nil && out.Bound.Cmp(out.Cost) >= 0 {
		out.Termination = milp.Optimal
		return out, nil
	}
	r, err := colgen.Solve[*node, []*pricing.Choice](limited, solver, m, colgen.TreeOptions{Limits: milp.Limits{Nodes: limits.Nodes}, IntegralCost: m.whole})
	if err != nil {
		return nil, err
	}
	out.Termination, out.Nodes = r.Termination, r.Nodes
	out.Columns += r.Columns
	if r.Termination == milp.Interrupted && ctx.Err() == nil {
		out.Termination = milp.TimeLimit
	}
	if r.Found {
		out.offer(p, r.Solution)
	}
	switch {
	case math.IsInf(r.DualBound, 1) && out.Cost != nil:
		return nil, errors.New("columns: no node of the tree has the choice that was found")
	case math.IsInf(r.DualBound, 1): // the tree was empty
		out.Bound = nil
	case !math.IsInf(r.DualBound, -1):
		bound := new(big.Rat).SetFloat64(r.DualBound)
		out.raise(p, bound.Quo(bound, new(big.Rat).SetInt64(1<<m.grain)))
	}
	if out.Cost != nil && out.Bound != nil && out.Bound.Cmp(out.Cost) >= 0 {
		out.Termination = milp.Optimal
	}
	return out, nil
}

// offer keeps a choice if it is the best.
func (o *Optimum) offer(p *Problem, choice []*pricing.Choice) {
	if cost := p.Cost(choice); o.Cost == nil || cost.Cmp(o.Cost) < 0 {
		o.Choice, o.Cost = choice, cost
	}
}

// raise keeps a bound if it is the best, rounded up to what choices can cost.
func (o *Optimum) raise(p *Problem, bound *big.Rat) {
	if bound == nil {
		return
	}
	if k, ok := p.grain(); ok {
		unit := big.NewRat(1, 1<<k)
		scaled := new(big.Rat).Quo(bound, unit)
		q, rest := new(big.Int).DivMod(scaled.Num(), scaled.Denom(), new(big.Int))
		if rest.Sign() > 0 {
			q.Add(q, big.NewInt(1))
		}
		bound = unit.Mul(unit, new(big.Rat).SetInt(q))
	}
	if o.Bound == nil || bound.Cmp(o.Bound) > 0 {
		o.Bound = bound
	}
}

// node is a part of the problem: what has been decided about each job.
type node struct{ jobs []state }

// state is what has been decided about a job.
type state struct {
	in, out bool
	limits  *pricing.Limits // nil for none
}

// with returns the node with another decision about a job.
func (n *node) with(id sched.JobID, decide func(*state)) *node {
	c := &node{slices.Clone(n.jobs)}
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
func (m *master) Root() *node { return &node{make([]state, len(m.p.Terms))} }

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

// Start implements colgen.Problem: the columns of the relaxation, and for jobs that
// need a schedule one that takes nothing and costs too much.
func (m *master) Start(n *node) []colgen.Column {
	var out []colgen.Column
	for id := range m.p.Terms {
		if s := &n.jobs[id]; s.in || !m.p.Terms[id].Optional {
			out = append(out, colgen.Column{Var: milp.Variable{Name: fmt.Sprintf("none%d", id), Upper: 2, Cost: math.Ldexp(tooDear*m.worst, m.grain)}, Rows: []int{m.capacities() + id}, Vals: []float64{1}})
		}
	}
	for _, c := range m.seeds {
		if n.allows(c) {
			out = append(out, m.state(c))
		}
	}
	return out
}

// tooDear times more than any choice costs is what a job costs that has no
// schedule, but needs one.
const tooDear = 1000

// allows reports whether a column belongs to the node.
func (n *node) allows(c column) bool {
	s := &n.jobs[c.job]
	return !s.out && (s.limits == nil || s.limits.Allow(c.Choice))
}

// Allowed implements colgen.Problem.
func (m *master) Allowed(n *node, c *colgen.Column) bool { return n.allows(c.Tag.(column)) }

// Pricer implements colgen.Problem.
func (m *master) Pricer(n *node) colgen.Pricer { return &pricer{m: m, node: n} }

// Candidate implements colgen.Problem: the schedules of largest value that fit
// together, and then the other jobs, the most valuable first, as early as
// possible.
func (m *master) Candidate(ctx context.Context, _ *node, columns []colgen.Column, x []float64) ([]*pricing.Choice, float64, bool) {
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
	if !m.p.fill(ctx, out, room, rest) {
		return nil, 0, false
	}
	return out, up(m.scaled(m.p.Cost(out))), true
}
