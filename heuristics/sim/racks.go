package sim

import (
	"cmp"
	"slices"

	"yardstick/sched"
)

// racks is a grouping of the servers into racks of so many, by index.
type racks struct {
	servers int
	free    []int // free GPUs per rack
	levels        // the racks by these
}

// racksOf returns the grouping of racks of n servers, which is kept up to date from the
// first call on.
func (c *Cluster) racksOf(n int) *racks {
	for _, r := range c.racks {
		if r.servers == n {
			return r
		}
	}
	size := make([]int, (len(c.size)+n-1)/n)
	for s := range c.size {
		size[s/n] += c.size[s]
	}
	r := &racks{servers: n, free: make([]int, len(size)), levels: newLevels(len(size), slices.Max(size))}
	for s := range c.free {
		r.change(s, c.free[s])
	}
	c.racks = append(c.racks, r)
	return r
}

// change records that a server has so many free GPUs more.
func (r *racks) change(server, gpus int) {
	k := server / r.servers
	r.move(k, r.free[k], r.free[k]+gpus)
	r.free[k] += gpus
}

// inRacks is Switch. Cost: that of the answer, times the number of servers of a rack.
func (c *Cluster) inRacks(r *racks, rest int) {
	if f, s := c.most(); f >= rest {
		c.pick(c.tightest(rest, f, s), rest)
		return
	}
	f, k := r.most()
	for f < rest {
		for _, s := range c.rack(r, k) {
			c.pick(s, c.free[s])
		}
		rest -= f
		f, k = r.nextMost(f, k)
	}
	servers := c.rack(r, r.tightest(rest, f, k))
	for c.free[servers[0]] < rest {
		c.pick(servers[0], c.free[servers[0]])
		rest -= c.free[servers[0]]
		servers = servers[1:]
	}
	last := servers[0]
	for _, s := range servers { // by free GPUs, most first
		if f := c.free[s]; f >= rest && f < c.free[last] {
			last = s
		}
	}
	c.pick(last, rest)
}

// rack returns the servers of a rack with free GPUs, those with the most first.
func (c *Cluster) rack(r *racks, k int) []int {
	var servers []int
	for s := k * r.servers; s < min((k+1)*r.servers, len(c.free)); s++ {
		if c.free[s] > 0 {
			servers = append(servers, s)
		}
	}
	slices.SortStableFunc(servers, func(a, b int) int { return cmp.Compare(c.free[b], c.free[a]) })
	return servers
}

// wholeInRack finds GPUs for replicas of these widths on one server, or else in one rack,
// the one with the least sufficient number of free GPUs in which they fit.
func (c *Cluster) wholeInRack(r *racks, widths []sched.Width, gang int) bool {
	if f, s := c.most(); f >= gang {
		c.pick(c.tightest(gang, f, s), gang)
		return true
	}
	for f, ok := r.counts.next(gang); ok; f, ok = r.counts.next(f + 1) {
		for k, ok := r.byFree[f].next(0); ok; k, ok = r.byFree[f].next(k + 1) {
			servers := c.rack(r, k)
			room := make([]int, len(servers))
			for i, s := range servers {
				room[i] = c.free[s]
			}
			if c.pack(widths, servers, room) {
				return true
			}
		}
	}
	return false
}
