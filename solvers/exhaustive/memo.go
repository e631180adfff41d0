package exhaustive

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	maxSeen      = 1 << 19 // nodes remembered
	maxPerMoment = 64      // nodes remembered of one time and set of waiting jobs
)

// memo remembers the nodes visited by time and set of waiting jobs. A node is
// dominated by an earlier one that costs no more so far and has, at every later
// time, no more GPUs held by running jobs: whatever completes the later node
// completes the earlier one, whose continuations have been searched.
type memo struct {
	nodes map[nodeKey][]remembered
	count int
}

type nodeKey struct {
	now     int64
	waiting uint64
}

type remembered struct {
	cost wide
	sum  uint64  // of the ends of started jobs
	ends []int64 // of started jobs; nil if costs are exact
	load []held  // of all servers, in canonical order
}

// held says that a server's running jobs hold gpus GPUs until the given time,
// after those listed before it for the same server have ended too. The entry
// with gpus = 0 and until = 0 begins the next server, of size class kind.
type held struct {
	until int64
	gpus  int32
	kind  int32
}

func newMemo() memo { return memo{nodes: map[nodeKey][]remembered{}} }

// dominated reports whether a remembered node dominates the search's, and
// remembers the latter if not.
func (m *memo) dominated(s *search) bool {
	key := nodeKey{s.now, s.waiting}
	here := remembered{cost: s.cost, sum: s.sumOfEnds, load: s.load()}
	if !s.exact {
		here.ends = slices.Clone(s.end)
		for set := s.waiting; set != 0; set &= set - 1 {
			here.ends[bits.TrailingZeros64(set)] = 0
		}
	}
	list := m.nodes[key]
	for i := range list {
		if list[i].dominates(s, &here) {
			return true
		}
	}
	kept := slices.DeleteFunc(list, func(old remembered) bool { return here.dominates(s, &old) })
	m.count -= len(list) - len(kept)
	if m.count < maxSeen && len(kept) < maxPerMoment {
		kept = append(kept, here)
		m.count++
	}
	m.nodes[key] = kept
	return false
}

// dominates reports whether a is at least as good as b, which has the same time
// and waiting jobs.
func (a *remembered) dominates(s *search, b *remembered) bool {
	switch {
	case s.makespan: // ties of the makespan are broken by the sum, so that left shifts always gain
		if b.cost.less(a.cost) || b.sum < a.sum {
			return false
		}
	case s.exact:
		if b.cost.less(a.cost) {
			return false
		}
	default: // rounded weights lose less than one per unit of time
		if b.cost.less(a.cost.plus(wide{0, a.sum})) && !slices.Equal(a.ends, b.ends) {
			return false
		}
	}
	return fewerHeld(a.load, b.load)
}

// load returns what the running jobs hold, server by server in an order that
// does not depend on the numbers of servers of equal size; once pooled, of one
// server with all GPUs.
func (s *search) load() []held {
	if s.pooled {
		return s.serverLoad(nil, -1)
	}
	lists := make([][]held, len(s.freeOn))
	n := 0
	for m := range lists {
		lists[m] = s.serverLoad(nil, m)
		n += len(lists[m]) + 1
	}
	slices.SortFunc(lists, func(a, b []held) int { return slices.CompareFunc(a, b, compareHeld) })
	out := make([]held, 0, n)
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// serverLoad appends to list what running jobs hold of server m, ordered by
// end; of the whole pool if m is negative.
func (s *search) serverLoad(list []held, m int) []held {
	if m >= 0 {
		list = append(list, held{kind: int32(s.kind[m])})
	}
	begin := len(list)
	for set := s.running; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		n := s.jobs[i].gang
		if m >= 0 {
			n = s.counts[i][m]
		}
		if n == 0 {
			continue
		}
		at, found := slices.BinarySearchFunc(list[begin:], s.end[i], func(h held, end int64) int { return cmp.Compare(h.until, end) })
		if found {
			list[begin+at].gpus += int32(n)
		} else {
			list = slices.Insert(list, begin+at, held{until: s.end[i], gpus: int32(n)})
		}
	}
	return list
}

func compareHeld(a, b held) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.until, b.until), cmp.Compare(a.gpus, b.gpus))
}

// fewerHeld reports whether, server by server and at every time, list a holds
// no more GPUs than list b.
func fewerHeld(a, b []held) bool {
	i, k := 0, 0
	for i < len(a) || k < len(b) {
		// Headers separate servers; both lists have the same number of them.
		headA, headB := i < len(a) && a[i].until == 0, k < len(b) && b[k].until == 0
		if headA && headB {
			if a[i].kind != b[k].kind {
				return false
			}
			i++
			k++
			continue
		}
		endA, endB := i, k
		for endA < len(a) && a[endA].until != 0 {
			endA++
		}
		for endB < len(b) && b[endB].until != 0 {
			endB++
		}
		if !covered(a[i:endA], b[k:endB]) {
			return false
		}
		i, k = endA, endB
	}
	return true
}

// covered reports whether the GPUs held by a are at every time at most those
// held by b. Walking back from the end, b must lead.
func covered(a, b []held) bool {
	var heldA, heldB int32
	k := len(b) - 1
	for i := len(a) - 1; i >= 0; i-- {
		heldA += a[i].gpus
		for ; k >= 0 && b[k].until >= a[i].until; k-- {
			heldB += b[k].gpus
		}
		if heldA > heldB {
			return false
		}
	}
	return true
}
