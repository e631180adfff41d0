package partition

import (
	"math/big"
	"slices"

	"yardstick/sched"
)

// evenSpread returns the best placement of a single stage of k replicas, more
// than fit one server. AllReduce waits for the x replicas on a server of g GPUs
// with the largest g/x, so g/x is to be minimised over the candidates.
//
// Errors: ErrNoPlacement.
func (z *minimizer) evenSpread(id sched.JobID) (sched.Placement, error) {
	j := &z.in.Jobs[id]
	k, own := j.Stages[0].Replicas, j.Slices(0)
	type ratio struct{ gpus, replicas int }
	var candidates []ratio
	for _, c := range z.sizes {
		for x := 1; x <= min(c.gpus/own, k-1); x++ {
			candidates = append(candidates, ratio{c.gpus, x})
		}
	}
	slices.SortFunc(candidates, func(a, b ratio) int { return a.gpus*b.replicas - b.gpus*a.replicas })
	i, ok := slices.BinarySearchFunc(candidates, 0, func(r ratio, _ int) int {
		if z.spread(k, own, r.gpus, r.replicas) != nil {
			return 0
		}
		return -1
	})
	if !ok {
		return sched.Placement{}, ErrNoPlacement
	}
	var p sched.Placement
	for m, x := range z.spread(k, own, candidates[i].gpus, candidates[i].replicas) {
		if x > 0 {
			sh := sched.Share{Server: m, GPUs: x * own}
			if own > 1 {
				sh.Stages = []int{x}
			}
			p.Shares = append(p.Shares, sh)
		}
	}
	return p, nil
}

// spread returns how many of k replicas of own GPUs each server takes if none in
// use takes fewer than part/gpus replicas per GPU, or nil if that cannot be.
//
// Some servers, with floor and most replicas each, must have Σ floor ≤ k ≤ Σ most.
// The least Σ floor for every Σ most is a knapsack.
func (z *minimizer) spread(k, own, gpus, part int) []int {
	const none = 1 << 40
	type bundle struct{ class, servers int }
	var bundles []bundle // 1, 2, 4, … servers of a size at once make every number
	floor := make([]int, len(z.sizes))
	for i, c := range z.sizes {
		floor[i] = (c.gpus*part + gpus - 1) / gpus
		if floor[i]*own > c.gpus {
			continue
		}
		for left, n := c.count, 1; left > 0; n *= 2 {
			n = min(n, left)
			left -= n
			bundles = append(bundles, bundle{i, n})
		}
	}
	least := slices.Repeat([]int{none}, k+1) // Σ floor by Σ most, k meaning k or more
	least[0] = 0
	from := make([][]int, len(bundles)) // of each bundle, the Σ most before it
	for b, u := range bundles {
		from[b] = slices.Repeat([]int{-1}, k+1)
		most := u.servers * (z.sizes[u.class].gpus / own)
		for have := k; have >= 0; have-- {
			if to, v := min(k, have+most), least[have]+u.servers*floor[u.class]; v < least[to] {
				least[to], from[b][to] = v, have
			}
		}
	}
	if least[k] > k {
		return nil
	}
	chosen := make([]int, len(z.sizes)) // servers
	for b, at := len(bundles)-1, k; b >= 0; b-- {
		if from[b][at] >= 0 {
			chosen[bundles[b].class] += bundles[b].servers
			at = from[b][at]
		}
	}
	out := make([]int, len(z.in.Cluster.Servers))
	extra := k - least[k]
	for m := range out {
		g := z.in.Cluster.Servers[m].GPUs
		if i := slices.IndexFunc(z.sizes, func(c sizeClass) bool { return c.gpus == g }); i >= 0 && chosen[i] > 0 {
			chosen[i]--
			out[m] = floor[i] + min(extra, g/own-floor[i])
			extra -= out[m] - floor[i]
		}
	}
	return out
}

// unranked returns what is known of alpha_min without ranks: a bound by the
// stages one by one, and a quick placement.
func (z *minimizer) unranked(id sched.JobID) (*Best, error) {
	p, err := z.quick(id)
	if err != nil {
		return nil, err
	}
	alpha, err := z.in.IterTime(id, &p)
	if err != nil {
		return nil, err
	}
	lower := z.stageBound(id)
	return &Best{Placement: p, Alpha: alpha, Lower: lower, Exact: alpha.Cmp(lower) == 0}, nil
}

// stageBound returns a lower bound on alpha: a stage of k replicas takes at
// least q servers, one of which holds at most floor(k/q) of them, beside at best
// as many of each neighbour as that server has room for.
func (z *minimizer) stageBound(id sched.JobID) *big.Rat {
	g := newShape(&z.in.Jobs[id])
	bound := new(big.Rat)
	counts := make([]int, len(g.replicas))
	for s, k := range g.replicas {
		most := z.sizes[0].gpus / g.slices[s]
		parts := (k + most - 1) / most
		var best *big.Rat
		for _, c := range z.sizes {
			for x := 1; x <= min(k/parts, c.gpus/g.slices[s]); x++ {
				counts[s] = x
				for _, n := range g.near[s] {
					counts[n] = g.width(n, c.gpus-x*g.slices[s])
				}
				if v := z.in.ServerTime(id, s, counts, c.gpus); best == nil || v.Cmp(best) < 0 {
					best = v
				}
			}
		}
		clear(counts)
		if best.Cmp(bound) > 0 {
			bound = best
		}
	}
	return bound
}
