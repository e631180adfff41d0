package partition

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// scan decides whether a chain of stages can be placed with no stage time of a
// rank above a threshold, stage by stage: it spreads the replicas of the first
// stage over the servers, then those of the second, and so on.
//
// What matters of a server with stages up to s on it is how many GPUs are left,
// how many replicas of stage s it has, and how many of stage s+1 it needs for
// stage s to keep the threshold. Servers that agree in this are alike, whatever
// else they hold, and only their number counts: few states are left of many
// placements. A state that failed once is remembered.
type scan struct {
	*reach
	q      *question
	sites  []site // before the first stage
	left   []int  // GPUs of every stage and all later ones
	visits int
	limit  int
	failed map[string]struct{}
	chosen [][]choice // by stage
	key    []byte
}

// site is servers that are alike.
type site struct{ class, room, here, need, count int }

// choice says that count servers of the site take some replicas.
type choice struct{ site, replicas, count int }

// newScan returns a scan of a chain, on servers of at most maxReach GPUs.
func newScan(q *question, threshold int32) *scan {
	c := &scan{reach: newReach(q.table, threshold), q: q, left: q.behind(q.replicas), failed: map[string]struct{}{}, chosen: make([][]choice, len(q.replicas))}
	for _, l := range q.lots {
		c.sites = append(c.sites, site{l.class, l.room, 0, 0, l.count})
	}
	c.sites = merge(c.sites)
	return c
}

// solve searches until there are limit visits in all, this call's and earlier
// ones'. What an earlier call found to fail is remembered.
func (c *scan) solve(limit int) verdict {
	c.limit = limit
	switch ok := c.place(0, c.sites); {
	case ok:
		return attained
	case c.visits > c.limit:
		return undecided
	}
	return refuted
}

// place decides for stage s and all later ones. False is a proof only while
// visits is within the limit.
func (c *scan) place(s int, sites []site) bool {
	if s == len(c.replicas) {
		return true
	}
	if len(sites) == 0 || c.hopeless(s, sites) {
		return false
	}
	c.key = binary.AppendUvarint(c.key[:0], uint64(s))
	for _, t := range sites {
		for _, n := range [...]int{t.class, t.room, t.here, t.need, t.count} {
			c.key = binary.AppendUvarint(c.key, uint64(n))
		}
	}
	key := string(c.key)
	if _, ok := c.failed[key]; ok {
		return false
	}
	c.chosen[s] = c.chosen[s][:0]
	sums := c.sums(s, sites)
	if sums[0].has(c.replicas[s]) && c.spread(s, sites, sums, 0, sites[0].room, sites[0].count, c.replicas[s]) {
		return true
	}
	if c.visits <= c.limit {
		c.failed[key] = struct{}{}
	}
	return false
}

// hopeless reports that there is no way to go on with stage s: some stage has
// no blocks, more GPUs must stay free than there are too many, or the smallest
// servers to be filled without stage s−1 have more room than all the replicas
// take that can be on servers so small.
func (c *scan) hopeless(s int, sites []site) bool {
	spare := -c.left[s]
	for _, t := range sites {
		spare += t.room * t.count
	}
	if spare < 0 {
		return true
	}
	var parts [maxReach + 1]int
	waste := 0
	for _, t := range sites {
		fill, fresh := bits.Len64(c.begin[t.class][s]&(1<<(t.room+1)-1))-1, true
		if t.here > 0 {
			if n := c.fillable(s-1, t.class, t.room, t.here, max(1, t.need)); n >= 0 {
				fill, fresh = max(fill, n), false
			}
		}
		if waste += (t.room - fill) * t.count; waste > spare {
			return true
		}
		if fresh {
			parts[t.room] += t.room * t.count
		}
	}
	sum := -spare
	for n, total := range c.loose[s] {
		if sum += parts[n]; sum > total {
			return true
		}
	}
	return false
}

// spread chooses servers for left replicas of stage s: how many of the count
// servers of sites[i] not chosen yet take x of them, then how many take fewer,
// then those of later sites.
func (c *scan) spread(s int, sites []site, sums []set, i, x, count, left int) bool {
	t := sites[i]
	x = min(x, left, c.width(s, t.room))
	if count == 0 || x == 0 {
		if count > 0 && !c.takes(s, t, 0) || !sums[i+1].has(left) {
			return false
		}
		if i++; i < len(sites) {
			return c.spread(s, sites, sums, i, sites[i].room, sites[i].count, left)
		}
		return c.place(s+1, c.next(s, sites))
	}
	most := 0
	if c.takes(s, t, x) {
		most = min(count, left/x)
	}
	for n := most; n >= 0; n-- {
		if c.visits++; c.visits > c.limit {
			return false
		}
		if n > 0 {
			c.chosen[s] = append(c.chosen[s], choice{i, x, n})
		}
		if c.spread(s, sites, sums, i, x-1, count-n, left-n*x) {
			return true
		}
		if n > 0 {
			c.chosen[s] = c.chosen[s][:len(c.chosen[s])-1]
		}
	}
	return false
}

// takes reports whether a server of t may take x replicas of stage s.
func (c *scan) takes(s int, t site, x int) bool {
	if x == 0 {
		return t.need == 0 && c.fits(s, t.class, t.room, 0, 0)
	}
	return x >= t.need && c.fits(s, t.class, t.room-x*c.slices[s], x, c.need[t.class][s][t.here][x])
}

// sums returns, for every i, how many replicas of stage s the sites from i on may
// take together.
func (c *scan) sums(s int, sites []site) []set {
	k := c.replicas[s]
	out := make([]set, len(sites)+1)
	out[len(sites)] = newSet(k)
	out[len(sites)].add(0)
	for i := len(sites) - 1; i >= 0; i-- {
		t := sites[i]
		var one []int
		for x := 0; x <= c.width(s, t.room); x++ {
			if c.takes(s, t, x) {
				one = append(one, x)
			}
		}
		now := out[i+1]
		for range t.count {
			then := newSet(k)
			for _, x := range one {
				then.addShifted(now, x)
			}
			if then.equal(now) {
				break
			}
			now = then
		}
		out[i] = now
	}
	return out
}

// after returns the site of a server of t that takes x replicas of stage s,
// without a count.
func (c *scan) after(s int, t site, x int) site {
	if x == 0 {
		return site{t.class, t.room, 0, 0, 0}
	}
	return site{t.class, t.room - x*c.slices[s], x, c.need[t.class][s][t.here][x], 0}
}

// next returns the sites after stage s, by what is chosen.
func (c *scan) next(s int, sites []site) []site {
	out := make([]site, 0, len(sites)+len(c.chosen[s]))
	chosen := c.chosen[s]
	for i, t := range sites {
		left := t.count
		for ; len(chosen) > 0 && chosen[0].site == i; chosen = chosen[1:] {
			to := c.after(s, t, chosen[0].replicas)
			to.count = chosen[0].count
			out = append(out, to)
			left -= to.count
		}
		if left > 0 {
			to := c.after(s, t, 0)
			to.count = left
			out = append(out, to)
		}
	}
	return merge(out)
}

// merge joins equal sites and orders them: those in need first, then those with
// the last stage, then the most numerous, so that what is left stays mixed.
// Full servers are left out.
func merge(list []site) []site {
	list = slices.DeleteFunc(list, func(t site) bool { return t.room == 0 })
	slices.SortFunc(list, func(p, q site) int {
		return cmp.Or(q.need-p.need, q.here-p.here, q.room-p.room, p.class-q.class)
	})
	out := list[:0]
	for _, t := range list {
		n := len(out)
		if n > 0 && (site{t.class, t.room, t.here, t.need, out[n-1].count}) == out[n-1] {
			out[n-1].count += t.count
		} else {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(p, q site) int {
		return cmp.Or(q.need-p.need, q.here-p.here, p.room-q.room)
	})
	return out
}

// replay returns what the servers hold after a scan that succeeded.
func (c *scan) replay() contents {
	type server struct {
		lot    int
		counts []int
	}
	now := map[site][]server{}
	for k, l := range c.q.lots {
		at := site{l.class, l.room, 0, 0, 0}
		for range l.count {
			now[at] = append(now[at], server{k, make([]int, len(c.replicas))})
		}
	}
	sites := c.sites
	for s, list := range c.chosen {
		then := map[site][]server{}
		for _, ch := range list {
			from := sites[ch.site]
			from.count = 0
			to := c.after(s, from, ch.replicas)
			for _, m := range now[from][:ch.count] {
				m.counts[s] = ch.replicas
				then[to] = append(then[to], m)
			}
			now[from] = now[from][ch.count:]
		}
		for from, rest := range now {
			to := c.after(s, from, 0)
			then[to] = append(then[to], rest...)
		}
		now, sites = then, c.next(s, sites)
	}
	out := make(contents, len(c.q.lots))
	for _, list := range now {
		for _, m := range list {
			if slices.ContainsFunc(m.counts, func(x int) bool { return x > 0 }) {
				out[m.lot] = append(out[m.lot], m.counts)
			}
		}
	}
	return out
}
