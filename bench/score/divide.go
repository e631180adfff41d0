package score

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bench"
	"yardstick/bounds"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// How many jobs there may be for the bounds that search, and for those that sort once for
// each of several dual-feasible functions.
const (
	mostSearched = 20_000
	mostPacked   = 100_000
)

// mostCertified is how many jobs a certificate is made for.
const mostCertified = 100_000

// Score is what a schedule costs, and what no schedule of its class can cost less than.
type Score struct {
	Objective sched.Objective
	Cost      *big.Rat
	Bounds    []bounds.Bound // all that may divide the cost; none is larger than it
	Best      *bounds.Bound  // the largest
	Ratio     *big.Rat       // Cost / Best.Value; nil if that is 0
	Violation *Violation     // the cost is below a bound; there is no ratio then
}

// Divide scores a record that has passed its check, for each of the objectives.
//
// The bounds are those of the pooled cluster, one server with all GPUs, whose lengths are
// the jobs' (docs/classes.md): all that docs/bounds.md proves for the class, but for those
// that search where there are more than 20,000 jobs, and those that sort many times where
// there are more than 100,000.
//
// Errors: sched.ErrNotApplicable where an objective has no bounds; the record has
// violations; the context has ended.
func Divide(ctx context.Context, c *Checked, objectives ...sched.Objective) ([]*Score, error) {
	if c.Broken > 0 {
		return nil, errors.New("score: what breaks rules has no ratio")
	}
	p, err := newPool(c)
	if err != nil {
		return nil, err
	}
	scores := make([]*Score, len(objectives))
	for i, o := range objectives {
		scores[i] = &Score{Objective: o, Cost: o.Cost(p.in, p.ends)}
	}
	if err := p.verify(c, scores); err != nil {
		return nil, err
	}
	for _, s := range scores {
		if err := s.bound(ctx, p, c.Class); err != nil {
			return nil, err
		}
		p.inMicroseconds(s)
		s.divide(c.Class)
	}
	return scores, nil
}

// divide finds the largest bound and divides by it.
func (s *Score) divide(class sched.Class) {
	for i := range s.Bounds {
		if b := &s.Bounds[i]; s.Best == nil || b.Value.Cmp(s.Best.Value) > 0 {
			s.Best = b
		}
	}
	switch {
	case s.Cost.Cmp(s.Best.Value) < 0:
		s.Violation = &Violation{Rule: RuleBound, Detail: fmt.Sprintf("the schedule has a %v of %s µs, and none of class %v has less than %s µs (%s)",
			s.Objective, s.Cost.FloatString(0), class, s.Best.Value.FloatString(0), s.Best.Name)}
	case s.Best.Value.Sign() > 0:
		s.Ratio = new(big.Rat).Quo(s.Cost, s.Best.Value)
	}
}

// verify has package verify check intervals and costs once more, where they are those of
// an instance.
func (p *pool) verify(c *Checked, scores []*Score) error {
	if c.Class.Kind == sched.Fluid || !p.real() {
		return nil
	}
	in, schedule := p.schedule(c)
	v, err := verify.Check(in, schedule)
	if err != nil {
		return fmt.Errorf("score: internal error: what was checked is refused: %w", err)
	}
	for _, s := range scores {
		if cost := v.Cost(s.Objective); cost == nil || cost.Cmp(s.Cost) != 0 {
			return fmt.Errorf("score: internal error: the cost is %v, and %v once verified", s.Cost, cost)
		}
	}
	return nil
}

// bound evaluates the bounds of the class, in ticks.
func (s *Score) bound(ctx context.Context, p *pool, class sched.Class) error {
	all, err := bounds.All(p.in, s.Objective)
	if err != nil {
		return err
	}
	var more []func() (bounds.Bound, error)
	if class.Kind != sched.Fluid && len(p.in.Jobs) <= mostPacked {
		more = append(more, func() (bounds.Bound, error) { return bounds.PackedSRPT(p.in, s.Objective) },
			func() (bounds.Bound, error) { return bounds.PackedBusyTime(p.in, s.Objective) })
	}
	if len(p.in.Jobs) <= mostSearched {
		more = append(more, func() (bounds.Bound, error) { return bounds.Hybrid(ctx, p.in, s.Objective, bounds.HybridOptions{}) })
		if class.Kind == sched.N {
			more = append(more, func() (bounds.Bound, error) {
				d, err := bounds.Lagrangian(ctx, p.in, s.Objective, bounds.LagrangianOptions{})
				if err != nil {
					return bounds.Bound{}, err
				}
				return d.Bound, nil
			})
		}
	}
	for _, f := range more {
		b, err := f()
		switch {
		case err == nil:
			all = append(all, b)
		case !errors.Is(err, sched.ErrNotApplicable):
			return err
		}
	}
	for i := range all {
		if all[i].Divides(class, s.Objective) == nil {
			s.Bounds = append(s.Bounds, all[i])
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return p.certify(s)
}

// certify has the certificates of the bounds checked where the pool is an instance.
func (p *pool) certify(s *Score) error {
	if len(p.in.Jobs) > mostCertified || !p.real() {
		return nil
	}
	outcomes := []bench.Outcome{{Bounds: s.Bounds}}
	return bench.Certify(p.in, "", outcomes)
}

// inMicroseconds turns cost and bounds from ticks into microseconds.
func (p *pool) inMicroseconds(s *Score) {
	tick := new(big.Rat).SetInt64(int64(p.tick))
	s.Cost = new(big.Rat).Mul(s.Cost, tick)
	for i := range s.Bounds {
		s.Bounds[i].Value = new(big.Rat).Mul(s.Bounds[i].Value, tick)
	}
}

// RatioTo shows the cost over a bound, rounded to four decimals; "" if the bound is not
// positive.
func (s *Score) RatioTo(b *bounds.Bound) string {
	if b.Value.Sign() <= 0 {
		return ""
	}
	return new(big.Rat).Quo(s.Cost, b.Value).FloatString(4)
}
