package primaldual

import (
	"context"
	"fmt"

	"yardstick/formulate/maxweight"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// alone returns the problem's jobs as an instance of their own, with the
// horizon as its deadline.
func (p *Problem) alone() *pricing.Model {
	in := *p.Model.In
	in.Deadline = sched.Time(p.Horizon) * in.Slot
	in.Jobs = nil
	m := &pricing.Model{In: &in}
	for _, id := range p.Jobs {
		in.Jobs = append(in.Jobs, p.Model.In.Jobs[id])
		m.Configs = append(m.Configs, p.Model.Configs[id])
	}
	return m
}

// Certify returns the bound that prices prove on the weight of every schedule
// of the problem, as [maxweight.Certify] does:
//
//	OPT ≤ theta·Σ C δ + Σ_j max(0, w_j − theta·c_j),
//
// where c_j is the cost of the cheapest schedule of job j in the empty cluster, and
// theta is the best there is. Everything is exact.
//
// After the given number of steps of [maxweight.Tighten] it is no worse.
func Certify(p Problem, prices *pricing.Prices, steps int) maxweight.Bound {
	if steps == 0 {
		return maxweight.Certify(p.alone(), prices)
	}
	return maxweight.Tighten(context.Background(), p.alone(), prices, steps)
}

// Exact solves maximum weighted schedule problems to optimality, by branch and
// price, if its limits allow. A_dual then needs one of them (alpha = 1), and
// A_online is 4-competitive.
type Exact struct {
	Context context.Context
	Solver  milp.LPSolver
	Limits  milp.Limits // of one problem
}

// Name implements MaxWeight.
func (e Exact) Name() string { return "exact" }

// Solve implements MaxWeight. After a limit the schedule may be short of the
// bound.
func (e Exact) Solve(p Problem) (*Batch, error) {
	m := p.alone()
	best, err := maxweight.Solve(e.Context, m.In, e.Solver, e.Limits)
	if err != nil {
		return nil, fmt.Errorf("%d jobs in %d slots: %w", len(p.Jobs), p.Horizon, err)
	}
	b := &Batch{Upper: best.Bound}
	for i := range best.Schedule.Segments {
		x := &best.Schedule.Segments[i]
		b.Runs = append(b.Runs, Run{Job: p.Jobs[x.Job], Start: int64(x.Start / m.In.Slot), End: int64(x.End / m.In.Slot), Place: x.Place})
	}
	return b, nil
}
