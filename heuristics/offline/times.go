package offline

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"yardstick/sched"
	"yardstick/solvers/partition"
)

// times knows how long jobs run on parts of servers. What it has found once for a
// class of jobs and a pattern, that is sizes of servers and parts of them, it does not
// look for again. Several searches may use it at once: its answers do not depend on
// what was asked before.
type times struct {
	p  *problem
	mu sync.Mutex
	// layouts are the placements found, by class and pattern.
	layouts map[string]*layout
	runs    map[run]int64
}

// layout is a placement whose shares are in the order of the pattern.
type layout struct {
	id     int32
	shares []sched.Share
	err    error
}

// run is a job on a layout.
type run struct{ job, layout int32 }

// visits limits the search for the best placement on given parts.
const visits = 2000

func newTimes(p *problem) *times {
	return &times{p: p, layouts: map[string]*layout{}, runs: map[run]int64{}}
}

// canonical orders parts by the sizes of their servers and their own: parts that are
// alike are interchangeable.
func (t *times) canonical(parts []part) {
	servers := t.p.in.Cluster.Servers
	slices.SortFunc(parts, func(x, y part) int {
		return cmp.Or(cmp.Compare(servers[y.server].GPUs, servers[x.server].GPUs), cmp.Compare(y.gpus, x.gpus), cmp.Compare(x.server, y.server))
	})
}

// layoutOf returns the layout of a job on parts, which it brings in order.
func (t *times) layoutOf(i int32, parts []part) *layout {
	t.canonical(parts)
	j := &t.p.jobs[i]
	class := j.class
	if !j.sensitive {
		class = -1 - int(i)
	}
	key := make([]byte, 0, 64)
	key = fmt.Appendf(key, "%d", class)
	for _, q := range parts {
		key = fmt.Appendf(key, " %d/%d", q.gpus, t.p.in.Cluster.Servers[q.server].GPUs)
	}
	l, ok := t.layouts[string(key)]
	if !ok {
		l = t.find(i, parts)
		l.id = int32(len(t.layouts))
		t.layouts[string(key)] = l
	}
	return l
}

// find searches for the best layout. It asks for the first servers of the parts' sizes,
// so that what it finds depends on the pattern alone.
func (t *times) find(i int32, parts []part) *layout {
	servers, gpus := make([]int, len(parts)), make([]int, len(parts))
	next := map[int]int{} // server after the last one taken, by size
	for k, q := range parts {
		size := t.p.in.Cluster.Servers[q.server].GPUs
		m := next[size]
		for t.p.in.Cluster.Servers[m].GPUs != size {
			m++
		}
		servers[k], gpus[k], next[size] = m, int(q.gpus), m+1
	}
	best, err := partition.BestAlpha(t.p.in, sched.JobID(i), servers, gpus, visits)
	if err != nil {
		return &layout{err: err}
	}
	l := &layout{}
	for _, m := range servers {
		for _, sh := range best.Placement.Shares {
			if sh.Server == m {
				l.shares = append(l.shares, sh)
			}
		}
	}
	return l
}

// of returns how long a job takes on parts from start to end, loading included, and
// false if it cannot run there.
func (t *times) of(i int32, parts []part) (int64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.layoutOf(i, parts)
	if l.err != nil {
		return 0, false
	}
	key := run{i, l.id}
	d, ok := t.runs[key]
	if !ok {
		place := l.on(parts)
		train, err := t.p.in.RunTime(sched.JobID(i), &place)
		d = -1
		if err == nil {
			d = t.p.roundUp(int64(t.p.in.Jobs[i].Load + train))
		}
		t.runs[key] = d
	}
	return d, d >= 0
}

// placement returns the placement of a job on parts, and how long it trains.
func (t *times) placement(i int32, parts []part) (sched.Placement, sched.Time, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.layoutOf(i, parts)
	if l.err != nil {
		return sched.Placement{}, 0, l.err
	}
	place := l.on(parts)
	train, err := t.p.in.RunTime(sched.JobID(i), &place)
	return place, train, err
}

// on returns the layout as a placement on parts, which are in the order of its
// pattern.
func (l *layout) on(parts []part) sched.Placement {
	place := sched.Placement{Shares: slices.Clone(l.shares)}
	for k := range place.Shares {
		place.Shares[k].Server = int(parts[k].server)
	}
	slices.SortFunc(place.Shares, func(a, b sched.Share) int { return cmp.Compare(a.Server, b.Server) })
	return place
}

// aloneParts returns where a job runs in the empty cluster, for those that fit nowhere
// else: replicas of several slices may fill few parts only.
func (t *times) aloneParts(i int32) []part {
	best, err := partition.AlphaMin(t.p.in, sched.JobID(i))
	if err != nil { // the least running time was found in the same way
		panic(fmt.Sprintf("offline: job %d: %v", i, err))
	}
	var parts []part
	for _, sh := range best.Placement.Shares {
		parts = append(parts, part{int32(sh.Server), int32(sh.GPUs)})
	}
	return parts
}

// alone returns how long it takes there.
func (t *times) alone(i int32) int64 {
	parts := t.aloneParts(i)
	d, ok := t.of(i, parts)
	if !ok {
		panic(fmt.Sprintf("offline: job %d runs on no parts", i))
	}
	return d
}
