package elastic

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/bounds"
	"yardstick/formulate/maxweight"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Weight is an upper bound on the weight of the jobs done by the instance's
// deadline τ, the objective ScheduledWeight, of class Es, F(min) or F(min)s: the
// linear program
//
//	y[j,c] ≥ 0: job j completes by τ, in configuration c
//	max Σ w_j y[j,c]
//	Σ_c y[j,c] ≤ 1                                        each job j
//	Σ_{j,c: r_j ≥ t} V_c^r y[j,c] ≤ (τ − t) C^r           each release t and resource r
//
// where y[j,c] exists if r_j + d_c ≤ τ: the work of jobs that are released at t or
// later and done by τ is done in [t, τ]. Volumes and durations are those of
// [Intervals]. It sees neither servers nor single slots, and it is the only upper
// bound here for jobs that are stopped or resized. The value is what the duals
// prove in exact arithmetic, or the weight of all jobs that can be done at all if
// a limit ends the solver.
//
// Errors: sched.ErrNotApplicable, as for [maxweight.Relax] and for other classes;
// those of the solver.
func Weight(ctx context.Context, in *sched.Instance, class sched.Class, solver milp.LPSolver, limits milp.Limits) (bounds.Bound, milp.Termination, error) {
	best := bounds.Bound{Name: "elastic-intervals", Class: class, Objective: sched.ScheduledWeight}
	if err := maxweight.Check(in); err != nil {
		return best, "", err
	}
	p := ableToRun(in)
	w, err := p.workOf(class)
	if err != nil {
		return best, "", err
	}
	model, times := w.byDeadline(int64(in.Deadline / w.tick))
	all := new(big.Rat)
	for _, row := range model.Rows {
		if len(row.Cols) > 0 && row.Name == jobRow {
			all.Sub(all, new(big.Rat).SetFloat64(model.Vars[row.Cols[0]].Cost))
		}
	}
	best.Value, best.Proof = all, w.gridProof("weight-grid", nil, nil)
	duals, termination, err := duals(ctx, model, solver, limits)
	if err != nil {
		return best, "", err
	}
	if duals != nil {
		if v := new(big.Rat).Neg(milp.ExactBound(model, duals)); v.Cmp(best.Value) < 0 {
			best.Value, best.Proof = v, w.gridProof("weight-grid", times, duals)
		}
	}
	if sched.ScheduledWeight.Integral(in) {
		best.Value = new(big.Rat).SetInt(number.FloorInt(best.Value))
	}
	return best, termination, nil
}

// ableToRun states the problem of the jobs that some configuration fits.
func ableToRun(in *sched.Instance) *problem {
	able := *in
	able.Jobs = nil
	p := &problem{in: &able, obj: sched.ScheduledWeight, model: &pricing.Model{In: &able}}
	for id := range in.Jobs {
		if configs := in.ElasticConfigs(sched.JobID(id)); len(configs) > 0 {
			able.Jobs = append(able.Jobs, in.Jobs[id])
			p.model.Configs = append(p.model.Configs, configs)
			p.weight = append(p.weight, in.Jobs[id].Weight)
		}
	}
	return p
}

const jobRow = "job"

// byDeadline states the program, minimising minus the weight, with a deadline in
// ticks, and returns the times t too. Volumes are rounded down and limits up, which makes it weaker only.
func (w *work) byDeadline(deadline int64) (m *milp.Model, times []int64) {
	m = &milp.Model{Name: "by deadline"}
	if w.class.Slotted {
		deadline -= deadline % w.slot()
	}
	times = slices.Clone(w.release)
	slices.Sort(times)
	times = slices.DeleteFunc(slices.Compact(times), func(t int64) bool { return t >= deadline })
	for _, t := range times {
		for r, c := range w.capacity {
			limit := new(big.Rat).SetInt(new(big.Int).Mul(c, big.NewInt(deadline-t)))
			m.AddRow(milp.Row{Name: fmt.Sprintf("from%d_%d", t, r), Sense: milp.LE, RHS: -down(limit.Neg(limit))})
		}
	}
	resources := len(w.capacity)
	for id, weight := range w.p.weight {
		one := milp.Row{Name: jobRow, Sense: milp.LE, RHS: 1}
		for _, d := range w.demands[id] {
			if d.duration > math.MaxInt64-w.release[id] || w.complete(w.release[id]+d.duration) > deadline {
				continue
			}
			j := m.AddVar(milp.Variable{Name: "y", Upper: 1, Cost: -weight})
			one.Cols, one.Vals = append(one.Cols, j), append(one.Vals, 1)
			for k, t := range times {
				if t > w.release[id] {
					break
				}
				for r, v := range d.volume {
					if v.Sign() > 0 {
						row := &m.Rows[k*resources+r]
						row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, down(new(big.Rat).SetInt(v)))
					}
				}
			}
		}
		m.AddRow(one)
	}
	return m, times
}
