package verify

import (
	"slices"

	"yardstick/sched"
)

// live returns the segments that take part in the sweeps, once in order of
// start and once in order of end.
func (c *checker) live() (starts, ends []int32) {
	for i := range c.s.Segments {
		seg := &c.s.Segments[i]
		if seg.Job >= 0 && int(seg.Job) < len(c.broken) && !c.broken[seg.Job] {
			starts = append(starts, int32(i))
		}
	}
	ends = slices.Clone(starts)
	c.sort(starts, startOf)
	c.sort(ends, endOf)
	return starts, ends
}

// room is what one server of an exclusive class has left.
type room struct {
	free    int
	holder  []int32 // per device, 1 + the segment that holds it; nil if no one names devices
	unnamed bool    // some segment names no devices
}

// sweepExclusive checks in order of time that no server is asked for more GPUs
// than it has, and that no device is held twice. What ends at an instant
// leaves before what starts there; usage only grows while segments start, so
// it is enough to look when one does.
//
// Counts are enough where no devices are named: the segments on a server are
// intervals, each of which needs a constant number of any GPUs, and giving each
// the free ones with the lowest index serves all of them.
func (c *checker) sweepExclusive() {
	starts, ends := c.live()
	servers := make([]room, len(c.in.Cluster.Servers))
	for m := range servers {
		servers[m].free = c.in.Cluster.Servers[m].GPUs
	}
	for _, i := range starts {
		seg := &c.s.Segments[i]
		for c.s.Segments[ends[0]].End <= seg.Start { // never runs out: seg ends later
			c.leave(servers, ends[0])
			ends = ends[1:]
		}
		for k := range seg.Place.Shares {
			c.enter(&servers[seg.Place.Shares[k].Server], i, &seg.Place.Shares[k])
		}
	}
}

func (c *checker) enter(r *room, i int32, sh *sched.Share) {
	seg := &c.s.Segments[i]
	has := c.in.Cluster.Servers[sh.Server].GPUs
	r.free -= sh.GPUs
	if r.free < 0 {
		c.err.add(RuleCapacity, seg.Job, seg.Start, "makes the GPUs in use on server %d %d of %d", sh.Server, has-r.free, has)
	}
	if sh.Devices == nil {
		if r.holder != nil && !r.unnamed {
			c.err.add(RuleDevice, seg.Job, seg.Start, "names no devices on server %d, where other segments do", sh.Server)
		}
		r.unnamed = true
		return
	}
	if r.holder == nil {
		r.holder = make([]int32, has)
		if r.unnamed {
			c.err.add(RuleDevice, seg.Job, seg.Start, "names devices on server %d, where other segments do not", sh.Server)
		}
	}
	for _, d := range sh.Devices {
		if h := r.holder[d]; h > 0 && r.free >= 0 {
			c.err.add(RuleDevice, seg.Job, seg.Start, "takes device %d of server %d from job %d", d, sh.Server, c.s.Segments[h-1].Job)
		}
		r.holder[d] = i + 1
	}
}

func (c *checker) leave(servers []room, i int32) {
	for k := range c.s.Segments[i].Place.Shares {
		sh := &c.s.Segments[i].Place.Shares[k]
		r := &servers[sh.Server]
		r.free += sh.GPUs
		for _, d := range sh.Devices {
			if r.holder[d] == i+1 {
				r.holder[d] = 0
			}
		}
	}
}
