package partition

import "slices"

// verdict is the answer for one threshold.
type verdict uint8

const (
	undecided verdict = iota // the limit was reached
	attained
	refuted
)

// question asks how to put a job on servers so that the largest stage time is
// least.
type question struct {
	*table
	lots  []lot           // the largest first
	whole bool            // every server is filled up to its room; otherwise some may be left over
	limit int             // visits for one threshold
	total int             // visits so far
	scans map[int32]*scan // by threshold
}

// lot is servers that are alike: of one size, with room for as many GPUs.
type lot struct{ class, room, count int }

// contents are the vectors of replicas on the servers of each lot, as far as
// they are used.
type contents [][][]int

// glance is the visits of a scan before prices are tried.
const glance = 2000

// decide says whether there is a placement with no stage time of a rank above
// the threshold.
func (q *question) decide(threshold int32) (contents, verdict) {
	if c := q.scan(threshold); c != nil {
		before := c.visits
		v := c.solve(min(q.limit, glance))
		if v == undecided && c.unaffordable(q.lots, q.whole) {
			v = refuted
		}
		if v == undecided && q.limit > glance {
			v = c.solve(q.limit)
		}
		q.total += c.visits - before
		if v == attained {
			return c.replay(), v
		}
		return nil, v
	}
	s := newSearch(q, threshold)
	v := s.solve()
	q.total += s.visits
	return s.filled, v
}

// scan returns the scan of a threshold, or nil if the question is not for scans.
func (q *question) scan(threshold int32) *scan {
	if !q.chain || slices.Max(q.most) > maxReach {
		return nil
	}
	if q.scans == nil {
		q.scans = map[int32]*scan{}
	}
	if q.scans[threshold] == nil {
		q.scans[threshold] = newScan(q, threshold)
	}
	return q.scans[threshold]
}

// worstOf returns the bottleneck of a placement.
func (q *question) worstOf(c contents) int32 {
	worst := int32(0)
	for k, list := range c {
		for _, counts := range list {
			worst = max(worst, q.worst(q.lots[k].class, counts))
		}
	}
	return worst
}

// settle closes in on the least bottleneck, which is at least low: it returns a
// better bound, and a better placement than the one of rank high if it finds
// one.
//
// The relaxed bound is often attained, so that it is tried first. The binary
// search after it keeps: every rank below low is refuted, and high is attained.
// A rank that could not be decided ends the refutations; what is above it may
// still be attained.
func (q *question) settle(low, high int32) (int32, int32, contents) {
	var best contents
	improve := func(threshold int32) verdict {
		c, v := q.decide(threshold)
		if v == attained {
			best, high = c, q.worstOf(c)
		}
		return v
	}
	low = q.relaxed(low, high)
	open := high // decided down to here: attained, or beyond the limit
	for mid := low; low < open; mid = low + (open-low)/2 {
		switch improve(mid) {
		case attained:
			open = min(mid, high)
		case refuted:
			low = mid + 1
		case undecided:
			open = mid
		}
	}
	for below := open; below < high; { // only if something was undecided
		if mid := below + (high-below)/2; improve(mid) != attained {
			below = mid + 1
		}
	}
	return low, high, best
}

// relaxed returns the least rank from low to high that the conditions checked
// before a scan do not rule out. Often that is low.
func (q *question) relaxed(low, high int32) int32 {
	for mid := low; low < high; mid = low + (high-low)/2 {
		c := q.scan(mid)
		if c == nil {
			return low
		}
		if c.hopeless(0, c.sites) || c.overweight(q.lots) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// thin bounds the bottleneck by stage s: its k replicas take at least n servers,
// one of which holds at most floor(k/n) of them, at best beside as many of its
// neighbours as it has room for.
func (q *question) thin(s int) int32 {
	k := q.replicas[s]
	n, room := 0, 0
	for _, l := range q.lots {
		for range l.count {
			if room < k {
				n, room = n+1, room+l.room/q.slices[s]
			}
		}
	}
	best := int32(len(q.fixed) + len(q.large))
	for _, l := range q.lots {
		for x := 1; x <= min(k/max(1, n), l.room/q.slices[s]); x++ {
			best = min(best, q.leastBeside(l.class, s, x, l.room-x*q.slices[s]))
		}
	}
	return best
}

// lone bounds the bottleneck by the servers with room for one GPU where all are
// filled: each holds a replica alone, so that as many different replicas take
// their time alone.
func (q *question) lone() int32 {
	servers := 0
	var classes []int
	for _, l := range q.lots {
		if l.room == 1 && q.whole {
			servers += l.count
			classes = append(classes, l.class)
		}
	}
	if servers == 0 {
		return 0
	}
	var alone []int32 // of each replica, on the server where it is fastest
	for s, k := range q.replicas {
		if q.slices[s] > 1 {
			continue
		}
		best := q.leastBeside(classes[0], s, 1, 0)
		for _, class := range classes[1:] {
			best = min(best, q.leastBeside(class, s, 1, 0))
		}
		alone = append(alone, slices.Repeat([]int32{best}, k)...)
	}
	slices.Sort(alone)
	return alone[servers-1]
}

// lower returns the rank of a lower bound on the bottleneck.
func (q *question) lower() int32 {
	bound := q.lone()
	for s := range q.replicas {
		bound = max(bound, q.thin(s))
	}
	return bound
}
