package hunt

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// ErrNotShown means that none of the subsets of jobs shows as large a ratio, as far as
// their optima can be proven.
var ErrNotShown = errors.New("hunt: no few jobs show as large a ratio")

// mostReduced is how many jobs a subset may have: the optimum of more is rarely proven
// within the limits.
const mostReduced = 12

// Reduce finds few jobs of an instance on which a policy's cost is at least so many times the
// optimum. It takes the first of the subsets, lists of indices, of which that is proven, and
// leaves out jobs as long as it stays so. Jobs keep their times, their order and the
// cluster. Subsets of more than 12 jobs are passed over.
//
// Errors: ErrNotShown, with the largest ratio that was proven; those of Prove.
func Reduce(ctx context.Context, in *sched.Instance, subsets [][]int, obj sched.Objective, p Policy, least *big.Rat) (*Found, error) {
	if obj.Maximised() {
		return nil, fmt.Errorf("hunt: %v is maximised: ratios here are of costs", obj)
	}
	b := subsetBreed(in)
	e := &evaluator{breed: b, objective: obj, policy: p}
	var best *candidate
	for _, subset := range subsets {
		g := &genes{}
		for _, j := range subset {
			g.Jobs = append(g.Jobs, []int64{int64(j)})
		}
		if !b.fits(g) {
			continue
		}
		c, err := e.evaluate(ctx, g, 0)
		if err != nil {
			return nil, err
		}
		if c != nil && (best == nil || c.better(best)) {
			best = c
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if c != nil && c.cost.Cmp(new(big.Rat).Mul(least, c.optimum.cost)) >= 0 {
			return e.reduce(ctx, c, least)
		}
	}
	switch {
	case best != nil:
		return nil, fmt.Errorf("%w: at least %s is asked for, and %s is the largest of %d subsets", ErrNotShown, least.FloatString(4), new(big.Rat).Quo(best.cost, best.optimum.cost).FloatString(4), len(subsets))
	case e.failure != nil:
		return nil, fmt.Errorf("%w: the policy fails on them: %w", ErrNotShown, e.failure)
	}
	return nil, fmt.Errorf("%w: of none of %d subsets of at most %d jobs was the optimum proven", ErrNotShown, len(subsets), mostReduced)
}

// reduce leaves out jobs as long as the ratio stays large enough, and proves what is left.
func (e *evaluator) reduce(ctx context.Context, c *candidate, least *big.Rat) (*Found, error) {
	before := new(big.Rat).Quo(c.cost, c.optimum.cost)
	c, err := e.shrink(ctx, c, new(big.Rat).Quo(least, before))
	if err != nil {
		return nil, err
	}
	f, err := Prove(ctx, c.in, e.objective, e.policy)
	if err != nil {
		return nil, err
	}
	f.Before = before
	return f, nil
}

// subsetBreed makes instances of some of the jobs of one: the number of a job is its index,
// which stays.
func subsetBreed(in *sched.Instance) *breed {
	most := int64(len(in.Jobs) - 1)
	return &breed{species{job: []gene{{name: "job", high: most, fixed: true}}, jobs: mostReduced}, func(g *genes) *sched.Instance {
		some := *in
		some.Name, some.Jobs = in.Name+", some jobs", nil
		var indices []int64
		for _, j := range g.Jobs {
			indices = append(indices, j[0])
		}
		slices.Sort(indices)
		for _, j := range slices.Compact(indices) {
			some.Jobs = append(some.Jobs, in.Jobs[j])
		}
		return &some
	}}
}
