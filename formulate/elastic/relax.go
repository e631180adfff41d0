package elastic

import (
	"context"
	"math/big"
	"slices"

	"yardstick/bounds"
	"yardstick/formulate/maxweight/columns"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Relaxation is a lower bound of class Es from a linear program over schedules.
type Relaxation struct {
	bounds.Bound
	Slots int // with finite capacities; what happens later is free
	LP    *columns.Relaxation
}

// Conf is the configuration program: the linear relaxation of the choice of one
// schedule per job,
//
//	min Σ_{j,l} w_j C(l) x[j,l],  Σ_l x[j,l] = 1,  capacities of each server, resource and slot,
//
// by column generation. The bound is the Lagrangian one at the last prices,
// Σ_j min_l (w_j C(l) + cost of l) − Σ C δ. Capacities end with a good list
// schedule; later ones are not counted, which a horizon may be without harm.
// Reaching a limit leaves a weaker bound; it is not an error.
//
// Errors: sched.ErrNotApplicable; a job that runs nowhere; those of
// the solver.
func Conf(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.LPSolver, limits milp.Limits) (*Relaxation, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, err
	}
	within, cancel := limited(ctx, limits)
	defer cancel()
	_, _, makespan, err := p.greedy(within)
	if err != nil {
		return nil, err
	}
	return p.relax(ctx, within, "elastic-conf", p.columns(makespan, nil), solver, limits.Nodes)
}

// Aggregate is Conf with all servers merged into one, where a configuration takes
// N e + z in each of its slots: a relaxation, since every schedule has at least one
// parameter server, and what fits the servers fits their sum. It has a row per
// resource and slot only. Limits and errors are those of Conf.
func Aggregate(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.LPSolver, limits milp.Limits) (*Relaxation, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, err
	}
	within, cancel := limited(ctx, limits)
	defer cancel()
	_, _, makespan, err := p.greedy(within)
	if err != nil {
		return nil, err
	}
	merged := *in
	merged.Cluster.Servers = []sched.Server{{Capacity: make([]int64, len(in.Elastic.Resources))}}
	for h := range in.Cluster.Servers {
		for r, c := range in.Cluster.Servers[h].Capacity {
			merged.Cluster.Servers[0].Capacity[r] += c
		}
	}
	q := p.columns(makespan, nil)
	q.Model = &pricing.Model{In: &merged}
	for _, list := range p.model.Configs {
		list = slices.Clone(list)
		for i := range list {
			list[i].OneServer = true
		}
		q.Model.Configs = append(q.Model.Configs, list)
	}
	return p.relax(ctx, within, "elastic-aggregate", q, solver, limits.Nodes)
}

// relax solves a relaxation within a context, that of the caller with a limit in time.
func (p *problem) relax(ctx, within context.Context, name string, q *columns.Problem, solver milp.LPSolver, rounds int) (*Relaxation, error) {
	r, err := q.Relax(within, solver, milp.Limits{Nodes: rounds})
	if err != nil {
		return nil, err
	}
	r.Termination = ended(ctx, r.Termination)
	v := new(big.Rat)
	for id := range p.in.Jobs {
		v.Add(v, p.alone(sched.JobID(id)))
	}
	proof := &bounds.Proof{Kind: "elastic-alone"}
	if r.Bound != nil && r.Bound.Cmp(v) > 0 {
		v, proof = r.Bound, pricesProof(r.Prices, len(p.in.Elastic.Resources))
		if q.Model.In != p.in {
			proof = nil // the prices are of another cluster
		}
	}
	b := p.bound(name, v)
	b.Proof = proof
	return &Relaxation{Bound: b, Slots: q.Slots, LP: r}, nil
}
