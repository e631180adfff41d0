package errata

import (
	"context"
	"fmt"
	"math/big"

	"yardstick/bounds"
	"yardstick/bounds/theorems"
	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Theorems evaluates every theorem about A-SRPT on one of its schedules: a row
// each. The options are those that the schedule was made with; predicted has the
// iterations that the policy was told for every job, nil if it was told the truth; opt
// is what is proven about the least total completion time of schedules of the
// same class, in microseconds.
//
// Errors: those of theorems.Evaluate; a job without stages.
func Theorems(v *verify.Verified, o asrpt.Options, predicted []int64, opt theorems.Interval) ([]theorems.Result, error) {
	return evaluate(v, v.Class(), o, predicted, opt)
}

// evaluate is Theorems for a schedule whose decisions were made as in the given
// class.
func evaluate(v *verify.Verified, class sched.Class, o asrpt.Options, predicted []int64, opt theorems.Interval) ([]theorems.Result, error) {
	in := v.Instance()
	o = asrpt.New(o).Options() // every parameter given
	run := theorems.Run{Class: class, Predicted: predicted, Tau: o.Tau, ReleaseFirst: o.Ties == asrpt.ByRelease, OptA: opt,
		AlphaTilde: make([]*big.Rat, len(in.Jobs))}
	for i, j := range v.Jobs() {
		run.Start, run.Completion = append(run.Start, j.Start), append(run.Completion, j.Completion)
		if !in.Model.Exclusive() {
			continue // the theorems do not apply
		}
		var err error
		if run.AlphaTilde[i], err = o.AlphaTilde(in, sched.JobID(i)); err != nil {
			return nil, fmt.Errorf("errata: job %d: %w", i, err)
		}
	}
	return theorems.Evaluate(in, run)
}

// table predicts the iterations that it lists.
type table []int64

func (p table) Predict(j sim.Job) (int64, error) { return p[j.ID], nil }
func (p table) Observe(sim.Job, int64)           {}

// measure runs A-SRPT, slotted if the instance is, and evaluates the theorems.
// The total completion time of better, in slots if the instance is, bounds OPT_A
// from above.
func measure(ctx context.Context, in *sched.Instance, o asrpt.Options, predicted []int64, better *sched.Schedule) (*Evidence, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	options := sim.Options{Slotted: in.Slot > 0}
	if predicted != nil {
		options.Predictor = table(predicted)
	}
	r, err := sim.Run(ctx, in, asrpt.New(o), options)
	if err != nil {
		return nil, err
	}
	decided, err := verify.Check(in, r.Schedule)
	if err != nil {
		return nil, err
	}
	e := &Evidence{Instance: in, Schedule: decided}
	if in.Slot > 0 {
		var starts []sched.Time
		for _, j := range decided.Jobs() {
			starts = append(starts, j.Start)
		}
		trimmed, err := startAt(in, starts...)
		if err != nil {
			return nil, err
		}
		if e.Schedule, err = verify.Check(in, trimmed); err != nil {
			return nil, err
		}
	}
	if e.Better, err = verify.Check(in, better); err != nil {
		return nil, err
	}
	lower, err := bounds.Best(in, sched.TotalCompletion)
	if err != nil {
		return nil, err
	}
	e.lower = lower.Value
	e.Results, err = evaluate(e.Schedule, decided.Class(), o, predicted, theorems.Interval{Lower: e.lower, Upper: e.Better.Cost(sched.TotalCompletion)})
	return e, err
}

// ratio returns how much worse A-SRPT is than the better schedule: at most its
// true ratio.
func (e *Evidence) ratio() *big.Rat {
	return new(big.Rat).Quo(e.Schedule.Cost(sched.TotalCompletion), e.Better.Cost(sched.TotalCompletion))
}

// flat returns a job whose running time does not depend on its placement.
func flat(release sched.Time, gang int, runs sched.Time) sched.Job {
	return sched.Job{Release: release, Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: gang, Compute: sched.Duration(runs) * 1000}}}
}

// oneServer returns an instance on one server, in which all placements are
// alike.
func oneServer(name string, gpus int, jobs ...sched.Job) *sched.Instance {
	return &sched.Instance{Name: name, Model: sched.ModelGang, Cluster: sched.Uniform(1, gpus, 1e9, 1e9), Jobs: jobs}
}

// startAt returns the schedule in which jobs start at the given times on the
// first server and hold their GPUs for as long as they run. With starts at slot
// boundaries that is the paper's slotted model (Eq. (8): t_i is a slot, and job i
// completes at t_i + n_i·alpha_i). Slotted schedules of package sched hold their
// GPUs to the end of the slot instead, which makes no difference to when jobs may
// start.
func startAt(in *sched.Instance, starts ...sched.Time) (*sched.Schedule, error) {
	s := &sched.Schedule{Class: sched.Class{Kind: sched.N}}
	for i, at := range starts {
		place := sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: in.Jobs[i].Gang()}}}
		d, err := in.RunTime(sched.JobID(i), &place)
		if err != nil {
			return nil, err
		}
		s.Segments = append(s.Segments, sched.Segment{Job: sched.JobID(i), Start: at, End: at + d, Phase: sched.Train, Place: place})
	}
	s.Sort()
	return s, nil
}

// exactly has A-SRPT never wait for a better placement.
func exactly() asrpt.Options { return asrpt.Options{Tau: new(big.Rat)} }
