//go:build cgo

package lpsolve

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/draffensperger/golp"

	"yardstick/solvers/milp"
)

// Solve implements milp.LP. If the answer does not pass the checks, it solves
// again from scratch, by the other simplex method and with another scaling, and at
// last from scratch by the first method if that had started from a basis.
//
// lp_solve sometimes cycles on degenerate programs, in one method and not in
// the other. The limits of iterations are several times what it needs at most
// on programs that it solves, about 10(m+n).
func (p *linear) Solve(ctx context.Context, l milp.Limits) (*milp.Result, error) {
	start := time.Now()
	stats := milp.Stats{}
	res, sure := p.trivial(ctx)
	warm := !p.cold && !p.broken
	size := len(p.m.Rows) + len(p.m.Vars)
	for attempt := 0; !sure && attempt < 3; attempt++ {
		method, most := p.method, 30*size+1000
		switch attempt {
		case 1:
			method, most = method.other(), 100*size+10_000
		case 2:
			if !warm {
				continue
			}
		}
		// lp_solve may crash in a primal phase 1 that starts from a basis.
		if attempt > 0 || p.broken || method == primalFirst && !p.cold {
			if err := p.rebuild(); err != nil {
				return nil, err
			}
		}
		if attempt == 1 {
			p.h.setScaling(false)
		}
		p.h.setSimplex(method)
		out := p.h.solve(ctx, milp.Limits{Time: rest(l, start).Time}, most)
		stats.Iterations += out.iter
		p.cold, p.broken = false, out.stopped != ""
		res, sure = p.judge(ctx, out, rest(l, start))
	}
	p.broken = p.broken || !sure
	res.Stats = stats
	res.Stats.Wall = time.Since(start)
	return res, nil
}

// trivial returns the result, and true, where none of lp_solve is needed.
func (p *linear) trivial(ctx context.Context) (*milp.Result, bool) {
	if ctx.Err() != nil {
		return milp.NoResult(milp.Interrupted), true
	}
	for j := range p.m.Vars {
		if p.m.Vars[j].Lower > p.m.Vars[j].Upper {
			return infeasible(milp.Proven), true
		}
	}
	if i := contradiction(p.m); i >= 0 {
		res := infeasible(milp.Proven)
		res.RowDuals = make([]float64, len(p.m.Rows))
		res.RowDuals[i] = math.Copysign(1, p.m.Rows[i].RHS)
		return res, true
	}
	if len(p.m.Vars) == 0 {
		return &milp.Result{Termination: milp.Optimal, Primal: milp.Proven, Dual: milp.Proven, X: []float64{},
			PrimalBound: p.m.Constant, DualBound: p.m.Constant, RowDuals: make([]float64, len(p.m.Rows))}, true
	}
	return nil, false
}

func infeasible(e milp.Evidence) *milp.Result {
	res := milp.NoResult(milp.Infeasible)
	res.Dual, res.DualBound = e, math.Inf(1)
	return res
}

// judge turns lp_solve's answer into a result. It returns false if another
// attempt may do better.
func (p *linear) judge(ctx context.Context, out outcome, l milp.Limits) (*milp.Result, bool) {
	switch out.stopped {
	case "":
	case milp.IterationLimit:
		return failure(fmt.Sprintf("the simplex method cycles: %d iterations", out.iter)), false
	default:
		return milp.NoResult(out.stopped), true
	}
	switch out.status {
	case golp.OPTIMAL, golp.SUBOPTIMAL:
		return p.optimal()
	case golp.INFEASIBLE:
		return p.infeasible(ctx, l)
	case golp.NOMEMORY:
		return milp.NoResult(milp.MemoryLimit), true
	}
	// NUMFAILURE, ACCURACYERROR (25), PRESOLVED (9), and UNBOUNDED, which a
	// program with finite bounds never is.
	return failure("lp_solve ends with " + out.status.String()), false
}

func failure(message string) *milp.Result {
	res := milp.NoResult(milp.Numerical)
	res.Message = message
	return res
}

func (p *linear) optimal() (*milp.Result, bool) {
	res := milp.NoResult(milp.Optimal)
	res.RowDuals = p.h.duals()
	p.m.CleanDuals(res.RowDuals)
	res.Dual, res.DualBound = milp.Proven, p.bound.Bound(res.RowDuals)
	if math.IsInf(res.DualBound, -1) {
		res.Dual = milp.None
	}

	x := p.h.primal()
	for j, v := range p.m.Vars {
		x[j] = min(max(x[j], v.Lower), v.Upper)
	}
	res.X, res.Primal = x, milp.Proven
	if milp.Check(p.m, x) != nil {
		res.Primal = milp.Claimed
		if err := milp.CheckWithin(p.m, x, Tolerance); err != nil {
			res.X, res.Primal = nil, milp.None
			res.Termination, res.Message = milp.Numerical, "lp_solve's point is not feasible: "+err.Error()
			return res, false
		}
	}
	res.PrimalBound = p.m.Objective(x)
	if gap := res.PrimalBound - res.DualBound; gap > p.allowedGap(res.PrimalBound) {
		res.Termination, res.Message = milp.Numerical, fmt.Sprintf("lp_solve's duals leave a gap of %g", gap)
		return res, false
	}
	return res, true
}

// allowedGap is what primal and dual value may differ by if the point is
// right to Tolerance and every reduced cost to lp_solve's 1e-9.
func (p *linear) allowedGap(value float64) float64 {
	gap := Tolerance * max(1, math.Abs(value))
	for _, v := range p.m.Vars {
		gap += 1e-9 * max(1, math.Abs(v.Cost)) * (v.Upper - v.Lower)
	}
	return gap
}
