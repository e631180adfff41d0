//go:build cgo

package lpsolve

import (
	"context"
	"slices"
	"time"

	"github.com/draffensperger/golp"

	"yardstick/solvers/milp"
)

func solveMIP(ctx context.Context, m *milp.Model, l milp.Limits) (*milp.Result, error) {
	start := time.Now()
	c, err := normal(m)
	if err != nil {
		return nil, err
	}
	crossed := slices.ContainsFunc(c.Vars, func(v milp.Variable) bool { return v.Lower > v.Upper })
	switch {
	case ctx.Err() != nil:
		return milp.NoResult(milp.Interrupted), nil
	case crossed || contradiction(c) >= 0:
		return infeasible(milp.Proven), nil
	case c.Integers() == 0:
		return solveLP(ctx, c, l)
	}
	h, err := load(c)
	if err != nil {
		return nil, err
	}
	defer h.free()
	h.noDepthLimit()
	out := h.solve(ctx, rest(l, start), 0)
	res := judgeMIP(c, h, out)
	if res.Termination == milp.Infeasible {
		// Cheap to try: the relaxation may have a proof.
		if r, err := solveLP(ctx, c, rest(l, start)); err == nil && r.Termination == milp.Infeasible {
			res.Dual = r.Dual
		}
	}
	res.Stats = milp.Stats{Nodes: out.nodes, Iterations: out.iter, Wall: time.Since(start)}
	return res, nil
}

// solveLP solves the relaxation of m.
func solveLP(ctx context.Context, m *milp.Model, l milp.Limits) (*milp.Result, error) {
	p, err := openLinear(m)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Solve(ctx, l)
}

func judgeMIP(m *milp.Model, h handle, out outcome) *milp.Result {
	res := milp.NoResult(out.stopped)
	switch out.status {
	case golp.OPTIMAL:
		res.Termination = milp.Optimal
	case golp.SUBOPTIMAL:
		if out.stopped == "" {
			res.Termination = milp.Numerical
		}
	case golp.INFEASIBLE:
		if out.stopped == "" {
			return infeasible(milp.Claimed)
		}
		return res
	case golp.NOMEMORY:
		res.Termination = milp.MemoryLimit
		return res
	default:
		if out.stopped == "" {
			res.Termination = milp.Numerical
		}
		return res
	}

	x := h.primal()
	point, err := milp.Certify(m, x)
	switch {
	case err == nil:
		res.X, res.Primal = point, milp.Proven
	case milp.CheckWithin(m, x, Tolerance) == nil:
		res.X, res.Primal = x, milp.Claimed
	default:
		res.Termination = milp.Numerical
		return res
	}
	res.PrimalBound = m.Objective(res.X)
	if res.Termination == milp.Optimal {
		res.Dual, res.DualBound = milp.Claimed, res.PrimalBound
	}
	return res
}
