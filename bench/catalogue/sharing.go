package catalogue

import (
	"context"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/bounds"
	formulation "yardstick/formulate/sharing"
	"yardstick/heuristics/pollux"
	"yardstick/heuristics/predict"
	"yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// bsbfPolicy makes SJF-BSBF, which shares where that lowers the sum of a pair's
// completion times.
func bsbfPolicy(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := sharing.Options{Recheck: p.flag("recheck")}
	p.text("condition", o.Condition.String(), &o.Condition)
	p.text("placement", o.Placement.String(), &o.Placement)
	replayed, predictions := p.predictor(predict.Perfect)
	replayed.New = func(_ context.Context, p bench.Problem) (sim.Policy, error) {
		return sharing.BSBF(p.Instance.Interference, o), nil
	}
	return bench.Configured(bench.Policy(ref, "1", replayed), o, predictions), p.finish()
}

// ffsPolicy makes SJF-FFS, which always shares.
func ffsPolicy(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	var rule sim.Rule
	p.text("placement", rule.String(), &rule)
	replayed, predictions := p.predictor(predict.Perfect)
	replayed.New = func(_ context.Context, p bench.Problem) (sim.Policy, error) {
		return sharing.FFS(p.Instance.Interference, rule), nil
	}
	return bench.Configured(bench.Policy(ref, "1", replayed), rule, predictions), p.finish()
}

func sharingFIFO(ref suite.MethodRef) (bench.Method, error) {
	replayed := bench.Replayed{New: always(func() sim.Policy { return sharing.FIFO() })}
	return bench.Policy(ref, "1", replayed), readParams(ref).finish()
}

func sharingSJF(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	strict := p.flag("strict")
	replayed, predictions := p.predictor(predict.Perfect)
	replayed.New = always(func() sim.Policy { return sharing.SJF(strict) })
	return bench.Configured(bench.Policy(ref, "1", replayed), strict, predictions), p.finish()
}

// polluxPolicy makes the malleable policy, of instances that list sizes.
func polluxPolicy(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := pollux.Default()
	p.text("interval", o.Interval.String(), &o.Interval)
	p.text("placement", o.Placement.String(), &o.Placement)
	if err := p.finish(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return bench.Configured(bench.Policy(ref, "1", bench.Replayed{New: always(func() sim.Policy { return pollux.New(o) })}), o), nil
}

// thetaHybrid is the combination of bounds for the sharing model.
func thetaHybrid(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
	b, err := bounds.ThetaHybrid(ctx, p.Instance, o, bounds.HybridOptions{})
	return b, searched(ctx), err
}

// tiresiasPolicy makes discretised least attained service, of the preemptive and
// the sharing model.
func tiresiasPolicy(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := sharing.DefaultLAS()
	p.text("interval", o.Interval.String(), &o.Interval)
	p.text("placement", o.Placement.String(), &o.Placement)
	threshold := o.Thresholds[0]
	p.text("threshold", threshold.String(), &threshold)
	o.Thresholds = []sched.Time{threshold}
	if err := p.finish(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return bench.Configured(bench.Policy(ref, "1", bench.Replayed{New: always(func() sim.Policy { return sharing.NewTiresias(o) })}), o), nil
}

// pairLP is the linear program over pairs of jobs, of the instance's kind of
// time.
func pairLP(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
	r, err := bounds.PairLP(ctx, p.Instance, o, p.Programs.Watch(lpsolve.LP{}), milp.Limits{Time: p.Limits.Solve}, bounds.PairOptions{Slotted: p.Instance.Slot > 0})
	if err != nil {
		return bounds.Bound{}, "", err
	}
	return r.Bound, ended(r.LP), nil
}

// sharingProgram is the integer program over the schedules in slots, proven by our own
// branch and bound.
func sharingProgram(ctx context.Context, in *sched.Instance, o sched.Objective, l exact.Limits) (*exact.Result, error) {
	return formulation.SolveProgram(ctx, in, o, branch.New(lpsolve.LP{}), l)
}
