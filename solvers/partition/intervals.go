package partition

import (
	"fmt"
	"slices"

	"yardstick/sched"
)

// Intervals returns the best placement of those that give every part an interval of the
// replicas in the order of their stages: of all orders of the parts, one with the least
// time per iteration. The servers are distinct, in any order; every part is positive.
//
// Parts are told apart by their own and their servers' sizes. A state is how many parts
// of each kind are used; the replicas that they hold follow. With f(0) = 0 and
// beta(k, e) the greatest stage time of the interval that ends on GPU e in a part of
// kind k, which has g_k GPUs,
//
//	f(u) = min over kinds k with u_k > 0 of max(f(u − 1_k), beta(k, Σ u_k g_k)).
//
// Cost: O(Π (n_k + 1) · kinds).
//
// Errors: the parts do not make the gang or do not fit their servers; sched.ErrNotApplicable beyond
// 500,000 states or if the stages have too many different times; ErrNoPlacement if in
// every order a replica lies on two servers.
func Intervals(in *sched.Instance, id sched.JobID, servers, parts []int) (sched.Placement, error) {
	fail := func(err error) (sched.Placement, error) {
		return sched.Placement{}, fmt.Errorf("cuts: job %d: %w", id, err)
	}
	shares, err := sharesOf(in, id, servers, parts)
	if err != nil {
		return fail(err)
	}
	p, err := newPacking(in, id, shares, 0)
	if err != nil {
		return fail(err)
	}
	p.byAppearance()
	c, err := p.intervals()
	if err != nil {
		return fail(err)
	}
	for _, list := range c { // on servers alike, in the order of the servers
		slices.Reverse(list)
	}
	return p.assemble(c), nil
}

// byAppearance brings the lots into the order of their first shares, which decides
// between orders of equal time.
func (p *packing) byAppearance() {
	lots := slices.Clone(p.lots)
	first := func(l lot) int { return slices.Index(p.lotOf, p.find(l)) }
	slices.SortFunc(lots, func(a, b lot) int { return first(a) - first(b) })
	for i, k := range p.lotOf {
		l := p.lots[k]
		p.lotOf[i] = slices.Index(lots, l)
	}
	p.lots = lots
}
