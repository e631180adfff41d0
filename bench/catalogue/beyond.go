package catalogue

import (
	"context"
	"errors"
	"slices"

	"yardstick/bench"
	formulation "yardstick/formulate/elastic"
	"yardstick/heuristics/offline/pairs"
	"yardstick/heuristics/offline/reinsert"
	"yardstick/heuristics/offline/walk"
	"yardstick/sched"
)

// beyond looks for a better schedule by moves of the class itself, where those of class N
// leave something: jobs that share GPUs, and elastic jobs.
func (b *Bracket) beyond(ctx context.Context, round int) error {
	o := walk.Options{Moves: moves(round), Seed: 1000*b.Seed + uint64(round)}
	if b.Upper != nil {
		o.Schedules = []*sched.Schedule{b.Upper.Schedule()}
	}
	s, by, err := ownClass(ctx, b.Instance, b.Objective, o, b.prices)
	switch {
	case errors.Is(err, sched.ErrNotApplicable) || err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	before := b.Upper
	if err := b.offer(b.Instance, s, by); err != nil {
		return err
	}
	b.step(round, "schedule", by, b.Upper != before)
	return nil
}

// moves is how many a search of a round makes: each has three times as many as the one
// before.
func moves(round int) int {
	n := 2000
	for range min(round, 5) {
		n *= 3
	}
	return n
}

// ownClass searches for a schedule of the class that the model is about, and says by what.
//
// Errors: sched.ErrNotApplicable where that is no search's.
func ownClass(ctx context.Context, in *sched.Instance, obj sched.Objective, o walk.Options, prices *formulation.Tariff) (*sched.Schedule, string, error) {
	if in.Model.Has(sched.E) {
		const dearer = 30 // moves of jobs that share, to one of elastic jobs, in time
		o.Moves = max(1, o.Moves/dearer)
		r := reinsert.Options{Options: o}
		if prices != nil {
			r.Prices, r.Starts = prices.Prices, prices.Starts
		}
		s, err := reinsert.Search(ctx, in, obj, r)
		return s, "reinsert", err
	}
	s, err := pairs.Search(ctx, in, obj, o)
	return s, "pairs", err
}

// others lists the methods that prove bounds besides those of package bounds. Linear
// programs over pairs of jobs, or over servers and slots, are left out where there are
// many: nothing would end them.
func (b *Bracket) others() []string {
	const (
		pairs = 100   // jobs
		cells = 3_000 // servers times jobs
	)
	in := b.Instance
	switch {
	case in.Model.Has(sched.S) && len(in.Jobs) > pairs:
		return []string{"theta-hybrid"}
	case in.Model.Has(sched.E) && len(in.Cluster.Servers)*len(in.Jobs) > cells:
		return []string{"elastic-alone", "elastic-mean-busy-time"}
	}
	return slices.DeleteFunc(NamesOf(bench.Bound), func(name string) bool { return name == "elastic-tariff" })
}
