package catalogue

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/bounds"
	formulation "yardstick/formulate/elastic"
	"yardstick/heuristics/offline"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

// Bracket is a search for both sides at once: a verified schedule and a proven bound, of
// one class and objective. Its rounds alternate: the bound with the cost of the schedule
// to climb to, then the schedule with the prices of the bound.
type Bracket struct {
	Instance  *sched.Instance
	Objective sched.Objective
	Class     sched.Class
	// Effort is the number of rounds, each of which works some times as hard as the
	// one before.
	Effort  int
	Seed    uint64
	Workers int // searches at a time; it changes nothing else
	// Policies reports whether the schedules of online policies are starts.
	Policies bool
	// Watch, if not nil, is told of every step that moved a side, and once at the
	// end of every step that moved none.
	Watch func(BracketStep)

	Lower   *bounds.Bound       // nil if nothing is proven
	Upper   *verify.Verified    // nil if no schedule is known
	LowerBy string              // of Lower
	UpperBy string              // of Upper
	Last    string              // the side that moved last: bound or schedule
	prices  *formulation.Tariff // of elastic jobs
	// Ended reports that the context ended before the rounds did. What there is holds
	// all the same.
	Ended bool
}

// BracketStep is what a step did.
type BracketStep struct {
	Round int
	Side  string // bound or schedule
	By    string
	Moved bool
}

// Cost is that of the best schedule known, or nil.
func (b *Bracket) Cost() *big.Rat {
	if b.Upper == nil {
		return nil
	}
	return b.Upper.Cost(b.Objective)
}

// Bound is the value of the best bound, or nil.
func (b *Bracket) Bound() *big.Rat {
	if b.Lower == nil {
		return nil
	}
	return b.Lower.Value
}

// Gap is how much more the schedule costs than the bound, as a share of the bound, or nil
// where a side is missing or the bound is 0 and the cost is not.
func (b *Bracket) Gap() *big.Rat {
	cost := b.Cost()
	switch {
	case cost == nil || b.Lower == nil:
		return nil
	case cost.Cmp(b.Lower.Value) == 0:
		return new(big.Rat)
	case b.Lower.Value.Sign() <= 0:
		return nil
	}
	return new(big.Rat).Quo(new(big.Rat).Sub(cost, b.Lower.Value), b.Lower.Value)
}

// closed reports whether the sides have met: the schedule is optimal.
func (b *Bracket) closed() bool {
	gap := b.Gap()
	return gap != nil && gap.Sign() == 0
}

// Run makes the rounds until the sides meet or the context ends.
//
// Errors: sched.ErrNotApplicable if the objective is maximised; a schedule that the
// verifier refuses, or a method that could not run.
func (b *Bracket) Run(ctx context.Context) error {
	if b.Objective.Maximised() {
		return fmt.Errorf("bracket: %w to %v: that is maximised", sched.ErrNotApplicable, b.Objective)
	}
	var relaxed *bounds.Dual // of class N, in which schedules are made
	for round := range max(1, b.Effort) + 1 {
		if ctx.Err() != nil || b.closed() {
			break
		}
		lower, err := b.bound(ctx, round)
		if err != nil {
			return err
		}
		switch {
		case lower != nil && lower.Starts != nil:
			relaxed = &bounds.Dual{Prices: lower.Prices, Starts: lower.Starts}
		case round == 0: // the bound is of another class, or there is none
			if relaxed, err = relaxation(ctx, b.Instance, b.Objective); err != nil {
				return err
			}
		}
		if round == 0 && (b.Policies || b.Instance.Model.Slotted()) {
			if err := b.policies(ctx); err != nil {
				return err
			}
		}
		if round > 0 && ctx.Err() == nil && !b.closed() {
			if err := b.search(ctx, round, relaxed); err != nil {
				return err
			}
			if err := b.beyond(ctx, round); err != nil {
				return err
			}
		}
	}
	b.Ended = ctx.Err() != nil && !b.closed()
	return nil
}

// bound looks for a better bound: by package bounds; of models whose jobs have no GPUs of
// their own by every other method that proves bounds too, in the first round; and later by
// prices of what elastic jobs hold.
func (b *Bracket) bound(ctx context.Context, round int) (*bounds.Lower, error) {
	lower, err := bounds.Bracketing(ctx, b.Instance, b.Objective, b.Class, bounds.Effort{Level: min(round, bounds.MaxLevel), Upper: b.Cost()})
	switch {
	case err == nil:
		b.step(round, "bound", lower.Name, b.raise(&lower.Bound, lower.Name))
	case !errors.Is(err, sched.ErrNotApplicable):
		return nil, err
	}
	if round > 0 && b.Instance.Model.Has(sched.E) {
		return lower, b.tariff(ctx, round)
	}
	if round > 0 || lower != nil && b.Instance.Model.Exclusive() {
		return lower, nil
	}
	problem := bench.Problem{Instance: b.Instance, Objectives: []sched.Objective{b.Objective}, Seed: b.Seed}
	for _, name := range b.others() {
		m, err := Resolve(Proving(name, b.Class))
		if err != nil {
			return nil, err
		}
		out, err := m.Run(ctx, problem)
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil
			}
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		moved := false
		for i := range out[0].Bounds {
			moved = out[0].Termination != milp.Skipped && b.raise(&out[0].Bounds[i], name) || moved
		}
		if moved {
			b.step(round, "bound", name, true)
		}
	}
	return lower, nil
}

// raise keeps a bound if it divides schedules of the class and is better than the last.
func (b *Bracket) raise(new *bounds.Bound, by string) bool {
	if new.Divides(b.Class, b.Objective) != nil || b.Lower != nil && new.Value.Cmp(b.Lower.Value) <= 0 {
		return false
	}
	b.Lower, b.LowerBy, b.Last = new, by, "bound"
	return true
}

// policies tries the online policies that the instance suits, for the cheapest schedule
// that shows what the class can reach.
func (b *Bracket) policies(ctx context.Context) error {
	in := b.Instance
	if b.Class.Kind == sched.P {
		in = in.Preemptible()
	}
	for _, ref := range OnlineRefs() {
		m, err := Resolve(ref)
		if err != nil {
			return err
		}
		if bench.Suits(m, in) != nil {
			continue
		}
		out, err := m.Run(ctx, bench.Problem{Instance: in, Objectives: []sched.Objective{b.Objective}, Seed: b.Seed})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil: // a policy that gets nowhere, as on jobs that outlast time, has no schedule to begin from
			continue
		}
		if err := b.offer(in, out[0].Schedule, ref.String()); err != nil {
			return err
		}
	}
	if b.Upper != nil {
		b.step(0, "schedule", b.UpperBy, true)
	}
	return nil
}

// search looks for a better schedule, from the best one of class N and the prices.
func (b *Bracket) search(ctx context.Context, round int, relaxed *bounds.Dual) error {
	o := offline.Options{Effort: min(round, offline.MaxEffort), Seed: 1000*b.Seed + uint64(round), Workers: b.Workers}
	if relaxed != nil {
		o.Prices, o.Starts = relaxed.Prices, relaxed.Starts
	}
	if b.Upper != nil && b.Upper.Class().Kind == sched.N {
		o.Schedules = []*sched.Schedule{b.Upper.Schedule()}
	}
	r, err := offline.Search(ctx, b.Instance, b.Objective, o)
	switch {
	case errors.Is(err, sched.ErrNotApplicable) || err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	before := b.Upper
	if err := b.offer(b.Instance, r.Schedule, "lns"); err != nil {
		return err
	}
	b.step(round, "schedule", "lns", b.Upper != before)
	return nil
}

// offer verifies a schedule and keeps it if its class shows what that of the bracket can
// reach, and it is cheaper than the last.
func (b *Bracket) offer(in *sched.Instance, s *sched.Schedule, by string) error {
	if s == nil || !s.Class.Reaches(b.Class) {
		return nil
	}
	v, err := verify.Check(in, s)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", by, bench.ErrInvalidSchedule, err)
	}
	cost := v.Cost(b.Objective)
	if cost != nil && (b.Upper == nil || cost.Cmp(b.Cost()) < 0) {
		b.Upper, b.UpperBy, b.Last = v, by, "schedule"
	}
	return nil
}

func (b *Bracket) step(round int, side, by string, moved bool) {
	if b.Watch != nil {
		b.Watch(BracketStep{round, side, by, moved})
	}
}

// bracketMethod is both sides as one method of a suite: a schedule, and a bound for the
// class of the instance's model.
func bracketMethod(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	effort, seed, policies := p.count("effort", 1, 1), uint64(p.count("seed", 1, 0)), p.flag("policies")
	if effort > offline.MaxEffort {
		p.refuse("effort", fmt.Errorf("it must be at most %d", offline.MaxEffort))
	}
	return bench.Configured(bench.Heuristic(ref, "1", func(ctx context.Context, problem bench.Problem, objective sched.Objective) (bench.Outcome, error) {
		b := Bracket{Instance: problem.Instance, Objective: objective, Class: problem.Instance.Class(), Effort: effort, Seed: seed, Policies: policies}
		if err := b.Run(ctx); err != nil {
			return bench.Outcome{}, err
		}
		out := bench.Outcome{Termination: bench.Completed, Message: fmt.Sprintf("schedule by %s, bound by %s", b.UpperBy, b.LowerBy)}
		if b.Ended {
			out.Termination = milp.Interrupted
		}
		if b.Upper != nil {
			out.Schedule = b.Upper.Schedule()
		}
		if b.Lower != nil {
			out.Bounds = []bounds.Bound{*b.Lower}
		}
		return out, nil
	}), effort, seed, policies), p.finish()
}
