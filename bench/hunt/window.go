package hunt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/bench/catalogue"
	"yardstick/bounds"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Windows is a search for the window of a trace on which a policy is worst.
type Windows struct {
	Policy    Policy
	Objective sched.Objective // minimised
	Count     int
	// Build makes the instance of a window, the same one every time.
	Build func(window int) (*sched.Instance, error)
	// Watch is called whenever a window has been looked at; best is nil before the first
	// ratio.
	Watch func(done int, best *big.Rat)
}

// Worst is what a search over windows came to.
type Worst struct {
	Window int
	Found  *Found
	// AtMost is what the ratio of the window is at most: its ratio, where the optimum is
	// proven, and otherwise the policy's cost over a bound. It is nil where there is no bound.
	AtMost *big.Rat
	// Looked is how many windows have a ratio; of the others a bound showed that they are no
	// worse, or the policy failed, or the search was ended.
	Looked int
	// Beyond is how many windows may still be worse, and Most what their ratios are at most;
	// nil where that is not known.
	Beyond  int
	Most    *big.Rat
	Failed  int
	Failure error // the first of the policy
}

// window is one that is yet to be looked at.
type window struct {
	index int
	cost  *big.Rat
	most  *big.Rat // the ratio; nil if there is no bound
}

// mostProven is how many jobs a window may have whose optimum is to be proven.
const mostProven = 12

// ErrNoWindow means that no window has a ratio.
var ErrNoWindow = errors.New("hunt: none of the windows has a ratio")

// Run replays every window under the policy, bounds it from below, and goes through them from
// the largest ratio to the bound on: of up to 12 jobs it proves the optimum, and of more it
// takes the schedule of a bracket in its place. It ends where no bound leaves room for a worse
// window, or when the context ends, with what there is.
//
// Errors: ErrNoWindow; a schedule that breaks a rule; windows that cannot be built; more jobs
// in a model that has no brackets.
func (w *Windows) Run(ctx context.Context) (*Worst, error) {
	if w.Objective.Maximised() {
		return nil, fmt.Errorf("hunt: %v is maximised: ratios here are of costs", w.Objective)
	}
	out := &Worst{}
	list, err := w.bounded(ctx, out)
	if err != nil {
		return nil, err
	}
	for i := range list {
		one := &list[i]
		if ctx.Err() != nil {
			break
		}
		if out.Found != nil && one.most != nil && one.most.Cmp(out.Found.Ratio()) <= 0 {
			break // nor is any that comes after it
		}
		found, most, err := w.look(ctx, one)
		if err != nil && ctx.Err() != nil {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("window %d: %w", one.index, err)
		}
		out.Looked++
		one.most = most
		if out.Found == nil || found.Ratio().Cmp(out.Found.Ratio()) > 0 {
			out.Window, out.Found, out.AtMost = one.index, found, most
		}
		w.watch(i+1, out.Found.Ratio())
	}
	if out.Found == nil {
		return nil, cmp.Or(out.Failure, ErrNoWindow)
	}
	out.leave(list)
	return out, nil
}

func (w *Windows) watch(done int, best *big.Rat) {
	if w.Watch != nil {
		w.Watch(done, best)
	}
}

// bounded replays all windows, and returns them by falling ratio to a bound, those without a
// bound first.
func (w *Windows) bounded(ctx context.Context, out *Worst) ([]window, error) {
	var list []window
	for i := range w.Count {
		if ctx.Err() != nil {
			break
		}
		in, err := w.Build(i)
		if err != nil {
			return nil, err
		}
		if !in.Model.Exclusive() && len(in.Jobs) > mostProven {
			return nil, fmt.Errorf("hunt: in the %s model windows have at most %d jobs: larger ones have no bracket", in.Model, mostProven)
		}
		v, err := checked(ctx, in, w.Policy)
		if bad(err) {
			return nil, fmt.Errorf("hunt: window %d: %w", i, err)
		}
		if err != nil || v.Cost(w.Objective) == nil || v.Cost(w.Objective).Sign() <= 0 {
			out.Failed++
			out.Failure = cmp.Or(out.Failure, err)
			continue
		}
		one := window{index: i, cost: v.Cost(w.Objective)}
		if b, err := bounds.Best(in, w.Objective); err == nil {
			one.limit(&b, v)
		}
		list = append(list, one)
		w.watch(0, nil)
	}
	slices.SortStableFunc(list, func(a, b window) int {
		switch {
		case a.most == nil || b.most == nil:
			return cmp.Compare(known(a.most), known(b.most))
		}
		return b.most.Cmp(a.most)
	})
	return list, nil
}

func known(v *big.Rat) int {
	if v == nil {
		return 0
	}
	return 1
}

// limit notes what the ratio is at most by a bound.
func (one *window) limit(b *bounds.Bound, v *verify.Verified) {
	if b.Divides(v.Class(), b.Objective) != nil || b.Value.Sign() <= 0 {
		return
	}
	if most := new(big.Rat).Quo(one.cost, b.Value); one.most == nil || most.Cmp(one.most) < 0 {
		one.most = most
	}
}

// look finds the ratio of a window: over the optimum, or over another schedule. It also says
// what the ratio to the optimum is at most.
func (w *Windows) look(ctx context.Context, one *window) (*Found, *big.Rat, error) {
	in, err := w.Build(one.index)
	if err != nil {
		return nil, nil, err
	}
	if len(in.Jobs) <= mostProven {
		found, err := Prove(ctx, in, w.Objective, w.Policy)
		if err == nil {
			return found, found.Ratio(), nil
		}
		if !errors.Is(err, errOpen) || !in.Model.Exclusive() {
			return nil, nil, err
		}
	}
	mine, err := checked(ctx, in, w.Policy)
	if err != nil {
		return nil, nil, err
	}
	b := catalogue.Bracket{Instance: in, Objective: w.Objective, Class: mine.Class(), Effort: 1, Seed: 1, Workers: 1, Policies: true}
	if err := b.Run(ctx); err != nil {
		return nil, nil, err
	}
	if b.Lower != nil {
		one.limit(b.Lower, mine)
	}
	best, by := mine, "the policy"
	if b.Upper != nil && b.Upper.Class().Reaches(mine.Class()) && b.Upper.Cost(w.Objective).Cmp(one.cost) < 0 {
		best, by = b.Upper, "bracket"
	}
	found, err := compared(in, w.Objective, mine, best, by)
	return found, one.most, err
}

// leave counts the windows that may be worse than the one that was found.
func (out *Worst) leave(list []window) {
	least := out.Found.Ratio()
	unknown := false
	for i := range list {
		one := &list[i]
		if one.index == out.Window || one.most != nil && one.most.Cmp(least) <= 0 {
			continue
		}
		out.Beyond++
		if one.most == nil {
			unknown = true
		} else if out.Most == nil || one.most.Cmp(out.Most) > 0 {
			out.Most = one.most
		}
	}
	if unknown {
		out.Most = nil
	}
}
