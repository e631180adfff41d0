package score

import (
	"context"
	"errors"
	"math/big"

	"yardstick/bench"
	"yardstick/bounds"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// DivideVerified scores a schedule whose loads, pauses, places and choices are recorded and
// verified, of any class but those of elastic jobs: P with its loads, S with the instance's
// interference, M with its sizes. The bounds are those of the instance itself.
//
// Errors: as for Divide.
func DivideVerified(ctx context.Context, v *verify.Verified, objectives ...sched.Objective) ([]*Score, error) {
	in := v.Instance()
	scores := make([]*Score, len(objectives))
	for i, o := range objectives {
		s := &Score{Objective: o, Cost: v.Cost(o)}
		if s.Cost == nil {
			return nil, errors.New("score: jobs are left out of the schedule, so that it has no cost")
		}
		if err := s.all(ctx, in, v.Class()); err != nil {
			return nil, err
		}
		s.divide(v.Class())
		scores[i] = s
	}
	return scores, nil
}

// all evaluates every bound without a linear program that may divide the cost.
func (s *Score) all(ctx context.Context, in *sched.Instance, class sched.Class) error {
	closed := func(f func(*sched.Instance, sched.Objective) (bounds.Bound, error)) func() (bounds.Bound, error) {
		return func() (bounds.Bound, error) { return f(in, s.Objective) }
	}
	list := []func() (bounds.Bound, error){
		closed(bounds.LB0), closed(bounds.SRPT), closed(bounds.Ranked), closed(bounds.MeanBusyTime), closed(bounds.Area), closed(bounds.Energy), closed(bounds.Packing),
		closed(bounds.ThetaLB0), closed(bounds.ThetaSRPT), closed(bounds.ThetaRanked), closed(bounds.ThetaArea), closed(bounds.ThetaEEI),
		closed(bounds.MalleableLB0), closed(bounds.MalleableRanked), closed(bounds.MalleableEEI), closed(bounds.MalleableArea),
	}
	if len(in.Jobs) <= mostSearched {
		list = append(list, closed(bounds.PackedSRPT), closed(bounds.PackedBusyTime),
			func() (bounds.Bound, error) { return bounds.Hybrid(ctx, in, s.Objective, bounds.HybridOptions{}) },
			func() (bounds.Bound, error) { return bounds.ThetaHybrid(ctx, in, s.Objective, bounds.HybridOptions{}) },
			func() (bounds.Bound, error) {
				d, err := bounds.Lagrangian(ctx, in, s.Objective, bounds.LagrangianOptions{})
				if err != nil {
					return bounds.Bound{}, err
				}
				return d.Bound, nil
			})
	}
	for _, f := range list {
		b, err := f()
		switch {
		case errors.Is(err, sched.ErrNotApplicable):
		case err != nil:
			return err
		case b.Divides(class, s.Objective) == nil:
			b.Value = new(big.Rat).Set(b.Value)
			s.Bounds = append(s.Bounds, b)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(s.Bounds) == 0:
		return sched.ErrNotApplicable
	case len(in.Jobs) > mostCertified:
		return nil
	}
	return bench.Certify(in, "", []bench.Outcome{{Bounds: s.Bounds}})
}
