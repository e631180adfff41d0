package bounds

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"yardstick/sched"
)

// Effort says how hard [Bracketing] tries. Work is counted, so that results do not
// depend on the machine's speed.
type Effort struct {
	// Level is from 0 to MaxLevel; each level doubles the slots, the evaluations and
	// the limits of both climbs, which begin anew.
	Level int
	// Upper is the cost of a known schedule, or nil. It directs the search, and
	// proves nothing.
	Upper *big.Rat
}

// MaxLevel is the highest level of an Effort.
const MaxLevel = 8

// Lower is the lower side of a bracket.
type Lower struct {
	Bound                    // the largest one found; its Proof makes the certificate
	Tried       []Bound      // every one found, in the order of their making
	Prices      *Prices      // of GPUs, those of the row bound; nil where there is none
	Starts      []sched.Time // see [Dual]
	Interrupted bool         // the context ended before the search did; what was found is proven
}

// Bracketing returns the best lower bound, of those of this package, on the cost of
// every schedule of the class.
//
// Prices are found for the objectives that are totals on exclusive GPUs, also where
// the class has a better bound, as they direct the making of schedules.
//
// Errors: sched.ErrNotApplicable if no bound holds for the class and the objective;
// a level that is out of range.
func Bracketing(ctx context.Context, in *sched.Instance, obj sched.Objective, class sched.Class, e Effort) (*Lower, error) {
	if e.Level < 0 || e.Level > MaxLevel {
		return nil, fmt.Errorf("bounds: an effort of level %d: it must be between 0 and %d", e.Level, MaxLevel)
	}
	const (
		iterations = 300         // of the row bound: thousands of jobs still gain from the last hundred
		packing    = 200_000_000 // steps of knapsacks: from a thousand jobs on more gain little
	)
	out := &Lower{}
	add := func(b Bound, err error) error {
		switch {
		case errors.Is(err, sched.ErrNotApplicable):
			return nil
		case err != nil:
			return err
		}
		if b.Divides(class, obj) == nil {
			out.Tried = append(out.Tried, b)
			if out.Value == nil || b.Value.Cmp(out.Value) > 0 {
				out.Bound = b
			}
		}
		return nil
	}
	for _, f := range closedBounds() {
		if err := add(f(in, obj)); err != nil {
			return nil, err
		}
	}
	for _, kind := range []sched.Kind{sched.N, sched.P0, sched.Fluid} {
		if !class.Reaches(sched.Class{Kind: kind}) {
			continue
		}
		d, err := Lagrangian(ctx, in, obj, LagrangianOptions{Class: kind, Slots: LagrangianSlots << e.Level, Iterations: iterations << e.Level, Steps: 1_000_000_000 << e.Level, Upper: e.Upper})
		if err == nil {
			out.Prices, out.Starts, out.Interrupted, err = d.Prices, d.Starts, d.Interrupted, add(d.Bound, nil)
		}
		if err != nil && !errors.Is(err, sched.ErrNotApplicable) {
			return nil, err
		}
		break // those of the classes beyond are no larger
	}
	for _, kind := range []sched.Kind{sched.N, sched.P0} {
		if !class.Reaches(sched.Class{Kind: kind}) || out.Prices == nil {
			continue
		}
		d, err := Knapsack(ctx, in, obj, KnapsackOptions{Class: kind, Effort: e.Level, Steps: packing << e.Level, Upper: e.Upper})
		if err == nil {
			out.Interrupted = out.Interrupted || d.Interrupted
			err = add(d.Bound, nil)
		}
		if err != nil && !errors.Is(err, sched.ErrNotApplicable) {
			return nil, err
		}
		break
	}
	if class.Reaches(sched.Class{Kind: sched.SP0}) && in.Model.Has(sched.S) {
		const slots, iterations, steps = 96, 200, 2_000_000_000 // more slots gain little
		d, err := Places(ctx, in, obj, KnapsackOptions{Slots: slots << min(e.Level, 2), Iterations: iterations << e.Level, Steps: steps << e.Level, Upper: e.Upper})
		if err == nil {
			out.Interrupted = out.Interrupted || d.Interrupted
			err = add(d.Bound, nil)
		}
		if err != nil && !errors.Is(err, sched.ErrNotApplicable) {
			return nil, err
		}
	}
	if out.Value == nil {
		return nil, fmt.Errorf("bounds: %w: no bound on %v holds for schedules of class %v", sched.ErrNotApplicable, obj, class)
	}
	return out, nil
}

// closedBounds lists the closed bounds. Those that do not apply to an instance say so.
func closedBounds() []func(*sched.Instance, sched.Objective) (Bound, error) {
	return []func(*sched.Instance, sched.Objective) (Bound, error){
		LB0, Ranked, MeanBusyTime, Energy, Packing, PackedSRPT, PackedBusyTime,
		ThetaLB0, ThetaRanked, ThetaEEI, ThetaArea,
		MalleableLB0, MalleableRanked, MalleableEEI, MalleableArea,
	}
}
