package lazer

import (
	"context"
	"fmt"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Warm has a predictor learn from a replay of an instance's past, under the policy with
// the same options, until it has had so many outcomes. It learns what it would have
// learnt if it had been at work before the instance's epoch, and is told how long the past
// jobs took, which is known by then.
//
// Not in the source, which does not say from what state its predictor starts.
//
// Errors: sched.ErrNotApplicable where the past is too short for so many outcomes; those
// of the replay.
func Warm(ctx context.Context, in *sched.Instance, p *Predictor, o Options, outcomes int) error {
	w := &warming{predictor: p, left: outcomes}
	if len(in.Past) > 0 {
		past := &sched.Instance{Name: in.Name, Model: in.Model, Cluster: in.Cluster, Slot: in.Slot, Keys: in.Keys, Jobs: in.Past}
		if _, err := sim.Run(ctx, past, Deferring(o, w), sim.Options{Slotted: in.Slot > 0}); err != nil {
			return fmt.Errorf("lazer: replay of the past: %w", err)
		}
	}
	if w.left > 0 {
		return fmt.Errorf("lazer: instance %q: %w: warmup is %d preemptions, and a replay of its %d past jobs has %d with an outcome: lower warmup, or raise past in the suite",
			in.Name, sched.ErrNotApplicable, outcomes, len(in.Past), outcomes-w.left)
	}
	p.quality = Quality{}
	return nil
}

// warming is a predictor until it has had enough outcomes; from then on it never defers.
type warming struct {
	predictor *Predictor
	left      int
}

func (w *warming) Defer(c Context) (sched.Time, error) {
	if w.left == 0 {
		return 0, nil
	}
	return w.predictor.Defer(c)
}

func (w *warming) Observe(o Outcome) error {
	if w.left == 0 {
		return nil
	}
	w.left--
	return w.predictor.Observe(o)
}
