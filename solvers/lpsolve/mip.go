//go:build cgo

package lpsolve

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/draffensperger/golp"

	"yardstick/solvers/milp"
)

func solveMIP(ctx context.Context, m *milp.Model, l milp.Limits) (*milp.Result, error) {
	runtime.LockOSThread() // for its processor time
	defer runtime.UnlockOSThread()
	start, cpu := time.Now(), milp.ThreadTime()
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
	h, err := load(scaled(c))
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
	res.Stats = milp.Stats{Nodes: out.nodes, Iterations: out.iter, Wall: time.Since(start), CPU: milp.ThreadTime() - cpu}
	return res, nil
}

// scaled returns m with all costs multiplied by one power of two, which brings
// the largest near 1000. No optimal point changes, and no cost is rounded
// unless it is smaller than the largest by 300 orders of magnitude.
//
// The tolerances of lp_solve's branch and bound are absolute. With costs in
// microseconds, 10^8 and more, it declares every second time-indexed program
// infeasible, all of which have points.
func scaled(m *milp.Model) *milp.Model {
	largest := 0.0
	for _, v := range m.Vars {
		largest = max(largest, math.Abs(v.Cost))
	}
	c := *m
	if largest == 0 {
		return &c
	}
	_, exp := math.Frexp(largest)
	c.Vars = slices.Clone(m.Vars)
	for j := range c.Vars {
		c.Vars[j].Cost = math.Ldexp(c.Vars[j].Cost, 10-exp)
	}
	return &c
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
