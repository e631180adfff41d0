package exhaustive

import (
	"math/bits"
	"slices"
	"yardstick/internal/number"
)

const (
	maxSeen      = 1 << 19 // nodes remembered
	maxPerMoment = 64      // nodes remembered of one time and set of waiting jobs
)

// memo remembers the nodes visited by time and set of waiting jobs. A node is
// dominated by an earlier one that costs no more so far and has, at every later
// time, no more GPUs held by running jobs, no more jobs of any class running,
// and no clash that may still happen but for those that may happen in the other
// too, and there sooner: whatever completes the later node completes the
// earlier one, whose continuations have been searched.
type memo struct {
	nodes map[nodeKey][]remembered
	count int
}

type nodeKey struct {
	now     int64
	waiting uint64
}

type remembered struct {
	cost number.Uint128
	sum  uint64  // of the ends of started jobs
	ends []int64 // of started jobs; nil if costs are exact and nothing clashes
	load []held  // by class, then falling end; all jobs together come first, as class anyGPUs
	live []int   // clashes that may still happen
}

// held says that running jobs hold so many GPUs until the given time; of a
// class, that so many of its jobs run until then.
type held struct {
	until int64
	class int32
	count int32
}

func newMemo() memo { return memo{nodes: map[nodeKey][]remembered{}} }

// dominated reports whether a remembered node dominates the search's, and
// remembers the latter if not.
func (m *memo) dominated(s *search) bool {
	key := nodeKey{s.now, s.waiting}
	here := remembered{cost: s.cost, sum: s.sumOfEnds, load: s.load(), live: s.liveClashes()}
	if !s.exact || len(here.live) > 0 {
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
		if b.cost.Less(a.cost) || b.sum < a.sum {
			return false
		}
	case s.exact:
		if b.cost.Less(a.cost) {
			return false
		}
	default: // rounded weights lose less than one per unit of time
		if b.cost.Less(a.cost.Plus(number.Uint128{Lo: a.sum})) && !slices.Equal(a.ends, b.ends) {
			return false
		}
	}
	return a.clashesLess(s, b) && fewerHeld(a.load, b.load)
}

// load returns what the running jobs hold.
func (s *search) load() []held {
	list := make([]held, 0, 2*bits.OnesCount64(s.running))
	for set := s.running; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		list = append(list, held{s.end[i], anyGPUs, int32(s.jobs[i].gang)})
		if c := s.jobs[i].choices[s.choice[i]].class; c != anyGPUs {
			list = append(list, held{s.end[i], int32(c), 1})
		}
	}
	insertionSort(list, func(a, b held) bool { return a.class < b.class || a.class == b.class && a.until > b.until })
	return list
}

// fewerHeld reports whether, of all classes and at every time, list a holds no
// more than list b.
func fewerHeld(a, b []held) bool {
	for len(a) > 0 {
		class := a[0].class
		for len(b) > 0 && b[0].class < class {
			b = b[1:]
		}
		var inA, inB int32
		for ; len(a) > 0 && a[0].class == class; a = a[1:] {
			inA += a[0].count
			for ; len(b) > 0 && b[0].class == class && b[0].until >= a[0].until; b = b[1:] {
				inB += b[0].count
			}
			if inA > inB {
				return false
			}
		}
	}
	return true
}
