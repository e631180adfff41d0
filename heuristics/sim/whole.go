package sim

import (
	"encoding/binary"
	"slices"

	"yardstick/sched"
)

// This file chooses GPUs for replicas of several tensor slices, each of which
// needs all its GPUs on one server. A rule's order of servers stays, but of each
// server whole replicas are taken, those with the most slices that still fit
// first, and servers on which none fits are passed over. That finds GPUs
// whenever there are enough if the numbers of slices divide each other; where
// they do not, [sched.Pack] looks for other servers. So a job that fits the
// empty cluster never waits for ever.

// FitsWhole reports whether the rule finds GPUs now for replicas of these
// widths, the widest first: see [sched.Job.Widths]. Cost: that of PickWhole.
func (c *Cluster) FitsWhole(r Rule, widths []sched.Width) bool { return c.findWhole(r, widths) }

// PickWhole is Pick for replicas of these widths, the widest first: whole ones
// can fill every share to the last GPU. Cost: O(servers) if the widths divide
// each other.
func (c *Cluster) PickWhole(r Rule, widths []sched.Width) ([]sched.Share, bool) {
	if !c.findWhole(r, widths) {
		return nil, false
	}
	return c.share(), true
}

func (c *Cluster) findWhole(r Rule, widths []sched.Width) bool {
	c.picked = c.picked[:0]
	gang := gpus(widths)
	if gang < 1 || gang > c.idle {
		return false
	}
	if r == Consolidate {
		return c.consolidateWhole(widths, gang)
	}
	if n, ok := r.rack(); ok {
		if c.wholeInRack(c.racksOf(n), widths, gang) {
			return true
		}
		r = BestFit
	}
	left, taken := slices.Clone(widths), make([]int, len(widths))
	for s, f := range c.inOrder(r) {
		if (r == BestFit || r == FirstFit) && f >= gang { // the rest fits on one server
			c.pick(c.lastOf(r, gang, f, s), gang)
			return true
		}
		if n := sched.Fill(left, f, taken); n > 0 {
			c.pick(s, n)
			if gang -= n; gang == 0 {
				return true
			}
		}
	}
	return c.packElsewhere(r, widths)
}

// inOrder returns the servers with free GPUs, and how many these are, in the
// rule's order.
func (c *Cluster) inOrder(r Rule) func(yield func(server, free int) bool) {
	return func(yield func(server, free int) bool) {
		switch r {
		case Pool:
			for s, ok := c.nonempty.next(0); ok && yield(s, c.free[s]); s, ok = c.nonempty.next(s + 1) {
			}
		case LeastAvailable:
			for f, ok := c.counts.next(1); ok; f, ok = c.counts.next(f + 1) {
				for s, ok := c.byFree[f].next(0); ok; s, ok = c.byFree[f].next(s + 1) {
					if !yield(s, f) {
						return
					}
				}
			}
		case MostAvailable, BestFit, FirstFit:
			for f, ok := c.counts.prev(len(c.byFree) - 1); ok && f > 0; f, ok = c.counts.prev(f - 1) {
				for s, ok := c.byFree[f].next(0); ok; s, ok = c.byFree[f].next(s + 1) {
					if !yield(s, f) {
						return
					}
				}
			}
		}
	}
}

// packElsewhere takes any servers on which the replicas fit: the ones that the
// rule's order finds do not do.
func (c *Cluster) packElsewhere(r Rule, widths []sched.Width) bool {
	c.picked = c.picked[:0]
	var servers, room []int
	for s, f := range c.inOrder(r) {
		servers, room = append(servers, s), append(room, f)
	}
	return c.pack(widths, servers, room)
}

// pack takes the replicas from these servers, if they fit.
func (c *Cluster) pack(widths []sched.Width, servers, room []int) bool {
	fill := sched.Pack(widths, room)
	for m := range fill {
		n := 0
		for i, w := range widths {
			n += fill[m][i] * w.Slices
		}
		if n > 0 {
			c.pick(servers[m], n)
		}
	}
	return fill != nil
}

// consolidateWhole takes the largest vacant servers and the one with the least
// sufficient number of free GPUs, as consolidate does, and for the same reason
// finds servers if there are any: a larger server holds what a smaller one does.
func (c *Cluster) consolidateWhole(widths []sched.Width, gang int) bool {
	n := c.fewestWhole(widths, gang)
	servers, room := make([]int, n), make([]int, n)
	last := -1 // the vacant servers of rank up to last are taken
	for i := range n - 1 {
		r, ok := c.vacant.next(last + 1)
		if !ok {
			return false
		}
		servers[i] = c.ranked[r]
		room[i] = c.size[c.ranked[r]]
		last = r
	}
	for f, ok := c.counts.next(1); ok; f, ok = c.counts.next(f + 1) {
		for s, ok := c.byFree[f].next(0); ok; s, ok = c.byFree[f].next(s + 1) {
			if f == c.size[s] && c.rank[s] <= last {
				continue
			}
			servers[n-1], room[n-1] = s, f
			if c.pack(widths, servers, room) {
				return true
			}
			break // no server with as many free GPUs will do
		}
	}
	return false
}

// fewestWhole returns the least number of servers that hold the replicas when
// all is free, and remembers it. They must fit the cluster.
func (c *Cluster) fewestWhole(widths []sched.Width, gang int) int {
	key := make([]byte, 0, 32)
	for _, w := range widths {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(w.Slices)), uint64(w.Replicas))
	}
	if n, known := c.fewestBy[string(key)]; known {
		return n
	}
	var room []int
	for _, s := range c.ranked {
		room = append(room, c.size[s])
		if len(room) >= c.fewest[gang] && sched.Pack(widths, room) != nil {
			break
		}
	}
	if c.fewestBy == nil {
		c.fewestBy = map[string]int{}
	}
	c.fewestBy[string(key)] = len(room)
	return len(room)
}

func gpus(widths []sched.Width) int {
	n := 0
	for _, w := range widths {
		n += w.Slices * w.Replicas
	}
	return n
}
