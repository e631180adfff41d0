package exhaustive

import (
	"context"
	"errors"
	"math/big"

	"yardstick/bounds"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// The stages of a search, each of which is gone into only if those before leave the
// bound below the incumbent: the closed bounds; so many nodes of the tree; prices, plans
// that they lead to and what these are improved to, and so many nodes again; better
// prices, more such plans, and the tree until a limit ends it. Prices and plans take as
// long as thousands of nodes, which most instances of ten or twenty jobs do not need.
const (
	fewestPriced = 13        // jobs that make prices worth their time
	cheapNodes   = 20_000    // before there are prices
	pricedNodes  = 4_000_000 // before there are better ones, climbs included
	fewerPriced  = 400_000   // the same where nothing is climbed
)

// stage is what is done before the tree is searched for so many nodes; 0 is until a limit.
type stage struct {
	nodes  int
	subset int // nodes of each search over some jobs, for the makespan
	effort int // of the prices; 0 is none
	// Of the prices: plans that are tried, and how many of them are improved.
	trials, improved int
}

// improver is what Search.Improve is.
type improver = func(ctx context.Context, from *sched.Schedule, seed uint64) (*sched.Schedule, error)

// stages searches until the incumbent is proven optimal or a limit is reached.
func (s *search) stages(improve improver) error {
	closed, err := bounds.Best(s.in, s.obj)
	if err != nil {
		return err
	}
	s.root = closed.Value
	ctx := s.ctx
	if s.limits.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, s.began.Add(s.limits.Time))
		defer cancel()
	}
	list := []stage{{}}
	if len(s.jobs) >= fewestPriced {
		nodes := pricedNodes
		if s.makespan || s.sensitive != 0 {
			nodes = fewerPriced
		}
		list = []stage{{nodes: cheapNodes, subset: cheapNodes / 10}, {nodes: nodes, subset: cheapNodes, effort: 1, trials: 600, improved: 6}, {subset: fewerPriced, effort: 2, trials: 3_000, improved: 24}}
	}
	for _, g := range list {
		if s.proven() || s.stopped != "" {
			break
		}
		if g.effort > 0 {
			if err := s.prepare(ctx, g, improve); err != nil {
				return err
			}
		}
		if s.makespan && g.subset > 0 {
			if err := s.searchSubsets(g.subset); err != nil {
				return err
			}
		}
		if err := s.tree(g.nodes); err != nil {
			return err
		}
	}
	if !s.proven() && s.stopped == "" {
		s.stopped = milp.NodeLimit // there is no tree
	}
	return nil
}

// bound is what is proven of every schedule.
func (s *search) bound() *big.Rat {
	if lower := s.unscale(s.lower); lower.Cmp(s.root) > 0 {
		return lower
	}
	return s.root
}

// proven reports whether no schedule costs less than the incumbent.
func (s *search) proven() bool { return s.bound().Cmp(s.best.cost) >= 0 }

// tree searches the tree until so many more nodes have been visited, or a limit is
// reached if they are 0. There is no tree of more than maxTreeJobs jobs.
func (s *search) tree(nodes int) error {
	if s.proven() || s.stop() || len(s.jobs) > maxTreeJobs {
		return nil
	}
	limits := s.limits
	if most := s.nodes + nodes; nodes > 0 && (limits.Nodes == 0 || most < limits.Nodes) {
		s.limits.Nodes = most
	}
	err := s.run(s.rescale(s.bound()))
	switch {
	case s.stopped == "":
		s.root = s.best.cost
	case s.stopped == milp.NodeLimit && s.limits.Nodes != limits.Nodes:
		s.stopped = ""
	}
	s.limits = limits
	return err
}

// prepare looks for prices and for better plans: those that the prices lead to, and what
// the best of these and the incumbent are improved to.
func (s *search) prepare(ctx context.Context, g stage, improve improver) error {
	if err := s.price(ctx, g.effort); err != nil {
		return err
	}
	if s.makespan {
		s.reorder(ctx, uint64(g.effort), 10*g.trials)
	}
	plans := []plan{s.best.plan}
	for _, p := range s.pricedPlans(ctx, uint64(g.effort), g.trials, g.improved) {
		plans = append(plans, p.plan)
		s.improve(p.plan)
	}
	for k, pl := range plans {
		if improve == nil || ctx.Err() != nil || s.proven() {
			break
		}
		from, err := s.decode(pl)
		if err != nil {
			return err
		}
		better, err := improve(ctx, from, uint64(g.effort*1000+k))
		switch {
		case errors.Is(err, sched.ErrNotApplicable) || err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if pl, err = s.planOf(better); err != nil {
			return err
		}
		s.improve(pl)
	}
	return nil
}

// price looks for prices that fix starts, and raises the bound at the root by them.
func (s *search) price(ctx context.Context, effort int) error {
	if !s.obj.IsTotal() {
		return nil
	}
	d, err := bounds.Knapsack(ctx, s.in, s.obj, bounds.KnapsackOptions{Effort: effort, Upper: s.best.cost})
	switch {
	case errors.Is(err, sched.ErrNotApplicable) || err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	s.prices, s.excess = d.Prices, nil
	if d.Value.Cmp(s.root) > 0 {
		s.root = d.Value
	}
	if !s.exact {
		return nil
	}
	return s.charge()
}
