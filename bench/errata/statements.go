package errata

import (
	"context"
	"errors"
	"math/big"

	"yardstick/bounds"
	"yardstick/bounds/theorems"
	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/lazer"
	"yardstick/heuristics/predict"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/exhaustive"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/milp"
)

// Statement is a statement of a paper about one instance.
type Statement struct {
	Paper  string
	Policy string // that was run on the instance; "" if the statement is about none
	Unit   string // of both sides
	Note   string // what the row stands for, where it is one of many
	theorems.Result
}

// Limits say how hard optima are searched for.
type Limits struct {
	milp.Limits
	Solver milp.LPSolver // of linear programs, for elastic instances
}

// about has a row for each model: what evaluates the statements of the paper that it
// comes from. A-SRPT's are evaluated on the preemptive model too.
var about = map[sched.Model][]func(context.Context, *sched.Instance, Limits) ([]Statement, error){
	sched.ModelGang:       {aboutASRPT},
	sched.ModelElastic:    {aboutPrimalDual},
	sched.ModelPreemptive: {aboutASRPT, aboutLazer},
	sched.ModelSharing:    {aboutPairs},
}

// Statements evaluates every statement of the paper that an instance's model comes
// from, in its printed and its corrected form, on runs of the policies it speaks
// of.
//
// Optima are proven as far as the limits allow; where they stay open a verdict may
// be Undecided.
func Statements(ctx context.Context, in *sched.Instance, l Limits) (list []Statement, err error) {
	for _, evaluate := range about[in.Model] {
		more, err := evaluate(ctx, in, l)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// forestSeed draws the random forest of a run's predictions.
const forestSeed = 1

// aboutASRPT runs A-SRPT with exact predictions and, if the instance has a
// history, with those of the random forest.
func aboutASRPT(ctx context.Context, in *sched.Instance, l Limits) ([]Statement, error) {
	opt, err := leastCompletion(ctx, in, l)
	if err != nil {
		return nil, err
	}
	list, err := runASRPT(ctx, in, asrpt.Perfect(asrpt.Options{}), nil, opt)
	if err != nil || len(in.History) == 0 {
		return list, err
	}
	p, err := predict.Options{Model: predict.Forest}.New(in, forestSeed)
	if err != nil {
		return nil, err
	}
	more, err := runASRPT(ctx, in, asrpt.New(asrpt.Options{}), p, opt)
	return append(list, more...), err
}

func runASRPT(ctx context.Context, in *sched.Instance, p *asrpt.Policy, predictor sim.Predictor, opt theorems.Interval) ([]Statement, error) {
	r, err := sim.Run(ctx, in, p, sim.Options{Predictor: predictor, Slotted: in.Slot > 0})
	if err != nil {
		return nil, err
	}
	v, err := verify.Check(in, r.Schedule)
	if err != nil {
		return nil, err
	}
	var predicted []int64
	if predictor != nil {
		predicted = make([]int64, len(in.Jobs))
		for _, q := range r.Predictions {
			predicted[q.Job] = q.Iters
		}
	}
	results, err := Theorems(v, p.Options(), predicted, opt)
	if err != nil {
		return nil, err
	}
	var list []Statement
	for _, x := range results {
		list = append(list, Statement{Paper: asrptPaper, Policy: p.Name(), Unit: "µs", Result: x})
	}
	return list, nil
}

// leastCompletion returns what can be proven about the least total completion
// time of class N, slotted if the instance is.
func leastCompletion(ctx context.Context, in *sched.Instance, l Limits) (theorems.Interval, error) {
	best, err := bounds.Best(in, sched.TotalCompletion)
	if err != nil {
		return theorems.Interval{}, err
	}
	known := theorems.Interval{Lower: best.Value}
	take := func(lower, upper *big.Rat) {
		if lower.Cmp(known.Lower) > 0 {
			known.Lower = lower
		}
		known.Upper = upper
	}
	if in.Slot == 0 {
		r, err := exhaustive.Solve(ctx, in, sched.TotalCompletion, l.Limits)
		if err == nil {
			take(r.Bound, r.Cost)
		} else if !errors.Is(err, sched.ErrNotApplicable) {
			return known, err
		}
		return known, nil
	}
	r, err := bouts.Search{NonPreemptive: true}.Solve(ctx, in, sched.TotalCompletion, l.Limits)
	if err == nil {
		take(r.Bound, r.Cost)
	} else if !errors.Is(err, sched.ErrNotApplicable) {
		return known, err
	}
	return known, nil
}

// aboutLazer runs Algorithms 1 and 2 to the letter and repaired, without
// deferrals. Jobs that are never started are left out of the schedule: that takes
// a deadline.
func aboutLazer(ctx context.Context, in *sched.Instance, _ Limits) ([]Statement, error) {
	open := *in
	open.Deadline = sched.MaxTime
	var list []Statement
	for _, run := range []struct {
		form, note string
		options    lazer.Options
	}{
		{theorems.Printed, "free GPUs are not counted", lazer.Options{NoFree: true}},
		{theorems.Printed, "only the GPUs of the completed job are offered", lazer.Options{OwnGPUs: true}},
		{theorems.Sharp, "", lazer.Options{}},
	} {
		out, err := leftOver(ctx, &open, run.options)
		if err != nil {
			return nil, err
		}
		list = append(list, Statement{Paper: lazerPaper, Policy: "srtf", Unit: "jobs never done", Note: run.note, Result: theorems.Progress(run.form, out)})
	}
	return list, nil
}

// leftOver returns how many jobs are never done, at least. A job that was preempted
// and is never started again stalls the run: then it is one or more.
func leftOver(ctx context.Context, in *sched.Instance, o lazer.Options) (int, error) {
	r, err := sim.Run(ctx, in, lazer.SRTF(o), sim.Options{Slotted: in.Slot > 0})
	if errors.Is(err, sim.ErrStalled) {
		return 1, nil
	}
	if err != nil {
		return 0, err
	}
	v, err := verify.Check(in, r.Schedule)
	if err != nil {
		return 0, err
	}
	return int(neverStarted(v).Num().Int64()), nil
}
