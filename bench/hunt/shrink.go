package hunt

import (
	"context"
	"math/big"
	"slices"
)

// shrink makes an instance smaller as long as its ratio stays at least the given
// part of what it was, nil for all of it: it leaves out jobs, divides all times by common
// factors, and lowers numbers, the largest steps first. Each change makes the
// number of jobs, or else the sum of all numbers, smaller, so that it ends.
func (e *evaluator) shrink(ctx context.Context, c *candidate, keep *big.Rat) (*candidate, error) {
	least := new(big.Rat).Quo(c.cost, c.optimum.cost)
	if keep != nil && c.shown == nil {
		least.Mul(least, keep)
	}
	if keep != nil && c.shown != nil { // of the excess
		least.Add(big.NewRat(1, 1), new(big.Rat).Mul(keep, c.shown.Excess()))
	}
	for {
		smaller, err := e.smaller(ctx, c, least)
		if err != nil {
			return nil, err
		}
		if smaller == nil {
			return c, nil
		}
		c = smaller
	}
}

// smaller returns the first smaller instance that keeps the ratio, or nil.
func (e *evaluator) smaller(ctx context.Context, c *candidate, least *big.Rat) (*candidate, error) {
	floor, _ := least.Float64()
	for _, g := range e.breed.smaller(c.genes) {
		next, err := e.evaluate(ctx, g, floor*(1-1e-9))
		if err != nil {
			return nil, err
		}
		if next != nil && (next.shown == nil || next.shown.Violated()) && new(big.Rat).Quo(next.cost, next.optimum.cost).Cmp(least) >= 0 {
			return next, nil
		}
	}
	return nil, nil
}

// smaller lists smaller genes, those that save most first.
func (s *species) smaller(g *genes) []*genes {
	var out []*genes
	add := func(change func(*genes) bool) {
		if h := g.clone(); change(h) && s.fits(h) {
			out = append(out, h)
		}
	}
	for i := len(g.Jobs) - 1; i >= 0 && len(g.Jobs) > 1; i-- {
		add(func(h *genes) bool { h.Jobs = slices.Delete(h.Jobs, i, i+1); return true })
	}
	for _, d := range []int64{10, 5, 3, 2} { // all times at once
		add(func(h *genes) bool { return s.divide(h, d, true) })
		add(func(h *genes) bool { return s.divide(h, d, false) })
	}
	for _, lower := range []func(v, low int64) int64{
		func(_, low int64) int64 { return low },
		func(v, _ int64) int64 { return v / 2 },
		func(v, _ int64) int64 { return v - v/10 },
		func(v, _ int64) int64 { return v - 1 },
	} {
		for k := range s.shared {
			add(func(h *genes) bool { return reduce(&h.Shared[k], s.shared[k].low, lower) })
		}
		for k := range s.job { // equal numbers together, then one by one
			if s.job[k].fixed {
				continue
			}
			var seen []int64
			for i := range g.Jobs {
				v := g.Jobs[i][k]
				if slices.Contains(seen, v) {
					continue
				}
				seen = append(seen, v)
				add(func(h *genes) bool {
					changed := false
					for _, j := range h.Jobs {
						if j[k] == v {
							changed = reduce(&j[k], s.job[k].low, lower) || changed
						}
					}
					return changed
				})
			}
			for i := range g.Jobs {
				add(func(h *genes) bool { return reduce(&h.Jobs[i][k], s.job[k].low, lower) })
			}
		}
	}
	return out
}

func reduce(v *int64, low int64, lower func(v, low int64) int64) bool {
	next := max(lower(*v, low), low)
	changed := next < *v
	*v = next
	return changed
}

// divide divides all times of the jobs, exactly or rounding down, and reports
// whether that made any smaller.
func (s *species) divide(g *genes, d int64, exact bool) bool {
	changed := false
	for _, j := range g.Jobs {
		for k := range s.job {
			if !s.job[k].time || j[k] == 0 {
				continue
			}
			if exact && j[k]%d != 0 {
				return false
			}
			next := max(j[k]/d, s.job[k].low)
			changed = changed || next < j[k]
			j[k] = next
		}
	}
	return changed
}
