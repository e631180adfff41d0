package sim

// levels says which things, servers or racks, have how many free GPUs. All ties go to the
// lower index.
type levels struct {
	byFree []set // byFree[f]: those with exactly f free GPUs
	counts set   // the f for which byFree[f] is not empty
}

// newLevels returns n things without free GPUs, which will have so many at most.
func newLevels(n, most int) levels {
	l := levels{byFree: make([]set, most+1), counts: newSet(most + 1)}
	for f := range l.byFree {
		l.byFree[f] = newSet(n)
	}
	for i := range n {
		l.byFree[0].add(i)
	}
	l.counts.add(0)
	return l
}

// move records that a thing now has another number of free GPUs.
func (l *levels) move(i, before, after int) {
	l.byFree[before].remove(i)
	if l.byFree[before].empty() {
		l.counts.remove(before)
	}
	l.byFree[after].add(i)
	l.counts.add(after)
}

// most returns the first in order of free GPUs, most first, and how many these are.
func (l *levels) most() (f, i int) {
	f, _ = l.counts.prev(len(l.byFree) - 1)
	i, _ = l.byFree[f].next(0)
	return f, i
}

// nextMost returns the one after i, which has f free GPUs, in that order.
func (l *levels) nextMost(f, i int) (int, int) {
	if i, ok := l.byFree[f].next(i + 1); ok {
		return f, i
	}
	f, _ = l.counts.prev(f - 1)
	i, _ = l.byFree[f].next(0)
	return f, i
}

// tightest returns the one with the least sufficient number of free GPUs that is not
// before i in order of free GPUs, most first; i has f, which are enough.
func (l *levels) tightest(enough, f, i int) int {
	if least, _ := l.counts.next(enough); least < f {
		i, _ = l.byFree[least].next(0)
	}
	return i
}
