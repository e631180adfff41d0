package elastic

import (
	"context"
	"math/big"

	"yardstick/bounds"
	"yardstick/formulate/maxweight"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Deadlines is Σ_{t ≥ 0} (W − UB(t)), where W is the weight of all jobs and UB(t) an
// upper bound on the weight done by slot t, from prices ([maxweight.Tighten] with
// the given number of steps), of class Es: Σ w_j C_j = Σ_{t ≥ 0} (weight not done by t).
// Each slot of a list schedule costs one pricing of all jobs per step. A limit in
// time leaves later slots out, which weakens the bound; it is not an error.
//
// Errors: as for Conf, but for those of the solver.
//
// Source: the identity is that of time-indexed formulations; the paper's price
// certificate, section 5.2, gives UB.
func Deadlines(ctx context.Context, in *sched.Instance, obj sched.Objective, steps int, limits milp.Limits) (bounds.Bound, milp.Termination, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return bounds.Bound{}, "", err
	}
	within, cancel := limited(ctx, limits)
	defer cancel()
	_, _, makespan, err := p.greedy(within)
	if err != nil {
		return bounds.Bound{}, "", err
	}
	copied := *in
	copied.Jobs = append([]sched.Job(nil), in.Jobs...)
	all := new(big.Rat)
	for id := range copied.Jobs {
		copied.Jobs[id].Weight = p.weight[id]
		all.Add(all, new(big.Rat).SetFloat64(p.weight[id]))
	}
	model := &pricing.Model{In: &copied, Configs: p.model.Configs}
	sum, termination := new(big.Rat), milp.Optimal
	for t := range makespan { // after the list schedule's end everything can be done
		if within.Err() != nil {
			break
		}
		undone := new(big.Rat).Set(all)
		if t > 0 {
			copied.Deadline = sched.Time(t) * in.Slot
			undone.Sub(undone, maxweight.Tighten(within, model, nil, steps).Value)
		}
		if undone.Sign() > 0 {
			sum.Add(sum, undone)
		}
	}
	switch {
	case ctx.Err() != nil:
		termination = milp.Interrupted
	case within.Err() != nil:
		termination = milp.TimeLimit
	}
	return p.bound("elastic-deadlines", sum), termination, nil
}
