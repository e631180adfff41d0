package sim

import (
	"cmp"
	"slices"

	"yardstick/sched"
)

// Cluster is what is free on which server at this moment, with the indexes
// that the placement rules of [Rule] need. Policies read it through
// [View.Cluster]; only the simulator changes it.
//
// A GPU is free if no job holds it; one that a single job holds in class S is
// not free, but see [Cluster.On].
type Cluster struct {
	size, free []int // GPUs and free GPUs per server
	gpus, idle int   // their sums

	levels            // the servers by their free GPUs
	nonempty set      // the servers with a free GPU
	racks    []*racks // the groupings that rules have asked for

	ranked []int // servers by size, largest first, ties to the lower index
	rank   []int // inverse of ranked
	vacant set   // ranks of the servers on which every GPU is free
	fewest []int // fewest[g]: the least number of servers that hold g GPUs when all is free

	fewestBy map[string]int // the same for replicas of several slices, by their widths, as far as asked for

	devices *devices // who holds which GPU; nil in exclusive classes

	picked []taken // scratch of the placement rules
	shares slab[sched.Share]
	ints   slab[int]
}

// taken is a number of GPUs on one server.
type taken struct{ server, gpus int }

func newCluster(servers []sched.Server, shared bool) *Cluster {
	n := len(servers)
	c := &Cluster{size: make([]int, n), free: make([]int, n), nonempty: newSet(n), ranked: make([]int, n), rank: make([]int, n), vacant: newSet(n)}
	largest := 0
	for i := range servers {
		c.size[i], c.ranked[i] = servers[i].GPUs, i
		c.gpus += c.size[i]
		largest = max(largest, c.size[i])
	}
	c.levels = newLevels(n, largest)
	slices.SortStableFunc(c.ranked, func(a, b int) int { return cmp.Compare(c.size[b], c.size[a]) })
	c.fewest = make([]int, 1, c.gpus+1)
	for r, s := range c.ranked {
		c.rank[s] = r
		for range c.size[s] {
			c.fewest = append(c.fewest, r+1)
		}
		c.setFree(s, c.size[s])
	}
	if shared {
		c.devices = newDevices(servers)
	}
	return c
}

// Servers returns the number of servers.
func (c *Cluster) Servers() int { return len(c.size) }

// Size returns the number of GPUs of a server.
func (c *Cluster) Size(server int) int { return c.size[server] }

// FreeOn returns the number of free GPUs of a server.
func (c *Cluster) FreeOn(server int) int { return c.free[server] }

// GPUs returns the number of GPUs of the cluster.
func (c *Cluster) GPUs() int { return c.gpus }

// Free returns the number of free GPUs of the cluster.
func (c *Cluster) Free() int { return c.idle }

// setFree records that the server now has f free GPUs.
func (c *Cluster) setFree(server, f int) {
	before := c.free[server]
	c.free[server] = f
	c.idle += f - before
	c.move(server, before, f)
	for _, r := range c.racks {
		r.change(server, f-before)
	}
	switch {
	case f == 0:
		c.nonempty.remove(server)
	case before == 0:
		c.nonempty.add(server)
	}
	switch full := c.size[server]; {
	case full == 0:
	case f == full:
		c.vacant.add(c.rank[server])
	case before == full:
		c.vacant.remove(c.rank[server])
	}
}

// hold gives the job the GPUs of the placement, which the engine has vetted,
// and in class S so much of the memory of each.
func (c *Cluster) hold(id sched.JobID, p *sched.Placement, memory sched.Bytes) {
	for i := range p.Shares {
		sh := &p.Shares[i]
		n := sh.GPUs
		if c.devices != nil {
			n = c.devices.hold(id, sh, memory)
		}
		c.setFree(sh.Server, c.free[sh.Server]-n)
	}
}

// release undoes hold.
func (c *Cluster) release(id sched.JobID, p *sched.Placement, memory sched.Bytes) {
	for i := range p.Shares {
		sh := &p.Shares[i]
		n := sh.GPUs
		if c.devices != nil {
			n = c.devices.release(id, sh, memory)
		}
		c.setFree(sh.Server, c.free[sh.Server]+n)
	}
}
