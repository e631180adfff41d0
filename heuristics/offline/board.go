package offline

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"yardstick/sched"
)

// part is a number of GPUs of one server.
type part struct{ server, gpus int32 }

// board is where jobs are put: what each of them holds when. Where the place of jobs
// matters, servers have profiles of their own.
type board struct {
	p          *problem
	start, end []int64
	pool       profile
	servers    []profile // nil where any free GPUs will do
	parts      [][]part  // of every job; nil where servers is
	times      *times    // how long jobs run on parts
	loose      bool      // a gang that fits one server takes the one with the most idle GPUs, not the fewest
	widest     int32     // the most GPUs of a server
	idle       []int32   // scratch
	order      []int32   // of servers
	next       []int64   // the first times at which servers have room
	steps      int64     // range queries of servers
}

// newBoard returns an empty board, which tells servers apart if asked to.
func newBoard(p *problem, t *times, servers bool) *board {
	n := len(p.jobs)
	b := &board{p: p, start: make([]int64, n), end: make([]int64, n), pool: newProfile(), times: t}
	if servers {
		b.parts = make([][]part, n)
		for _, s := range p.in.Cluster.Servers {
			b.servers, b.widest = append(b.servers, newProfile()), max(b.widest, int32(s.GPUs))
		}
		b.idle = make([]int32, len(b.servers))
	}
	return b
}

// work is how much has been looked at: a measure of effort that does not depend on
// the machine.
func (b *board) work() int64 {
	sum := b.pool.steps + b.steps
	for m := range b.servers {
		sum += b.servers[m].steps
	}
	return sum
}

// remove takes a job off the board. Its times and parts stay.
func (b *board) remove(i int32) { b.hold(i, -1) }

// put puts a job back where it was when it was removed.
func (b *board) put(i int32) { b.hold(i, 1) }

func (b *board) hold(i int32, sign int32) {
	b.pool.add(b.start[i], b.end[i], sign*b.p.jobs[i].gang)
	if b.servers != nil {
		for _, q := range b.parts[i] {
			b.servers[q.server].add(b.start[i], b.end[i], sign*q.gpus)
		}
	}
}

// insert puts a job where it ends first, of what starts at from or later.
func (b *board) insert(i int32, from int64) {
	j := &b.p.jobs[i]
	t := b.pool.fit(max(from, j.release), j.short, b.p.gpus-j.gang)
	if b.servers == nil {
		b.start[i], b.end[i] = t, t+j.short
		b.put(i)
		return
	}
	b.start[i], b.end[i], b.parts[i] = b.place(i, t)
	b.put(i)
}

// place finds GPUs on servers for a job that starts at t or later, where there are
// enough in the pool at t: those with which it ends first, of the same number on each of
// as few servers as possible, one more or twice as many, and of what is idle at some of
// the times when the pool changes.
func (b *board) place(i int32, t int64) (start, end int64, parts []part) {
	j := &b.p.jobs[i]
	const queries = 24 * 16 // of servers, for what is idle when the pool changes
	end = math.MaxInt64
	least := (j.gang + b.widest - 1) / b.widest
	for _, n := range [...]int32{least, least + 1, 2 * least} {
		if n > min(j.gang, int32(len(b.servers))) || end <= t+j.short || n > least && !j.sensitive {
			break
		}
		if at, d, c := b.evenly(i, t, n, end); c != nil {
			start, end, parts = at, at+d, c
		}
	}
	for tried := 0; j.gang > 1 && (parts == nil || t+j.short < end && tried*len(b.servers) < queries); tried++ {
		if c, d := b.partsAt(i, t); c != nil && t+d < end {
			start, end, parts = t, t+d, c
		}
		next, ok := b.pool.next(t)
		if !ok { // everything is idle from t on
			if parts == nil {
				start, end, parts = t, t+b.times.alone(i), b.times.aloneParts(i)
			}
			break
		}
		t = b.pool.fit(next, j.short, b.p.gpus-j.gang)
	}
	return start, end, parts
}

// evenly returns the first start at t or later with which a job ends before end on n
// servers, with about as many GPUs of each, how long it runs there, and its parts; or nil.
//
// From any time that is not after the first start at which n servers have room at once,
// the n-th of the times at which servers have room next is not after it either. So it
// goes on to that time until it is the same.
func (b *board) evenly(i int32, t int64, n int32, end int64) (start, length int64, parts []part) {
	j := &b.p.jobs[i]
	each := (j.gang + n - 1) / n
	length, ok := j.short, true
	if j.sensitive {
		b.order = b.order[:0]
		for m, s := range b.p.in.Cluster.Servers {
			if int32(s.GPUs) >= each && len(b.order) < int(n) {
				b.order = append(b.order, int32(m))
			}
		}
		if len(b.order) < int(n) {
			return 0, 0, nil
		}
		if length, ok = b.times.of(i, b.deal(j.gang, n)); !ok {
			return 0, 0, nil
		}
	}
	for {
		b.order, b.next = b.order[:0], b.next[:0]
		b.steps += int64(len(b.servers))
		latest := end - length - 1
		for m, s := range b.p.in.Cluster.Servers {
			if int32(s.GPUs) < each {
				continue
			}
			at, ok := b.servers[m].fitBy(t, length, int32(s.GPUs)-each, latest)
			if !ok {
				continue
			}
			if at == t {
				b.order = append(b.order, int32(m))
			}
			k, _ := slices.BinarySearch(b.next, at)
			if b.next = slices.Insert(b.next, k, at); len(b.next) >= int(n) {
				b.next = b.next[:n]
				latest = b.next[n-1]
			}
		}
		if len(b.next) < int(n) {
			return 0, 0, nil
		}
		if b.next[n-1] == t {
			break
		}
		t = b.next[n-1]
	}
	if len(b.order) > int(n) {
		for _, m := range b.order {
			b.idle[m] = int32(b.p.in.Cluster.Servers[m].GPUs) - b.servers[m].peak(t, t+length)
		}
		slices.SortStableFunc(b.order, func(x, y int32) int {
			if b.loose {
				x, y = y, x
			}
			return cmp.Compare(b.idle[x], b.idle[y])
		})
	}
	parts = b.deal(j.gang, n)
	if !j.sensitive {
		return t, length, parts
	}
	d, ok := b.times.of(i, parts) // servers of other sizes may make it slower
	if d > length {
		d, ok = b.fits(i, t, parts)
	}
	if !ok || t+d >= end {
		return 0, 0, nil
	}
	return t, d, parts
}

// deal gives a gang to the first n servers in order, about as many GPUs of each.
func (b *board) deal(gang, n int32) []part {
	parts := make([]part, n)
	for k := range n {
		parts[k] = part{b.order[k], (gang + n - 1 - k) / n}
	}
	return parts
}

// partsAt returns parts for a job from t on, and how long it runs there, or nil.
func (b *board) partsAt(i int32, t int64) ([]part, int64) {
	j := &b.p.jobs[i]
	total := int32(0)
	tight := -1
	b.steps += int64(len(b.servers))
	for m := range b.servers {
		size := int32(b.p.in.Cluster.Servers[m].GPUs)
		b.idle[m] = size - b.servers[m].peak(t, t+j.short)
		total += b.idle[m]
		if b.idle[m] >= j.gang && (tight < 0 || b.idle[m] != b.idle[tight] && b.idle[m] > b.idle[tight] == b.loose) {
			tight = m
		}
	}
	switch {
	case total < j.gang:
		return nil, 0
	case tight >= 0:
		parts := []part{{int32(tight), j.gang}}
		if d, ok := b.fits(i, t, parts); ok {
			return parts, d
		}
	}
	if !j.sensitive {
		return b.spread(j, total), j.short
	}
	b.order = b.order[:0]
	for m := range b.servers {
		b.order = append(b.order, int32(m))
	}
	slices.SortStableFunc(b.order, func(x, y int32) int { return cmp.Compare(b.idle[y], b.idle[x]) })
	var best []part
	length := int64(0)
	consider := func(parts []part) {
		if parts == nil {
			return
		}
		if d, ok := b.fits(i, t, parts); ok && (best == nil || d < length) {
			best, length = parts, d
		}
	}
	least := fewest(b.idle, b.order, j.gang)
	for n := least; n <= min(least+1, len(b.order), int(j.gang)); n++ {
		consider(b.full(j.gang, n))
		consider(b.even(j.gang, n))
	}
	return best, length
}

// fits returns how long a job runs on the parts, if they are idle for as long. They
// are for its least time.
func (b *board) fits(i int32, t int64, parts []part) (int64, bool) {
	j := &b.p.jobs[i]
	if !j.sensitive {
		return j.short, true
	}
	d, ok := b.times.of(i, parts)
	if !ok || d <= j.short {
		return d, ok
	}
	for _, q := range parts {
		if int32(b.p.in.Cluster.Servers[q.server].GPUs)-b.servers[q.server].peak(t, t+d) < q.gpus {
			return 0, false
		}
	}
	return d, b.p.gpus-b.pool.peak(t, t+d) >= j.gang
}

// spread takes GPUs from the servers with the fewest idle ones, so that others stay
// whole. The job runs as fast anywhere.
func (b *board) spread(j *job, total int32) []part {
	b.order = b.order[:0]
	for m := range b.servers {
		b.order = append(b.order, int32(m))
	}
	slices.SortStableFunc(b.order, func(x, y int32) int { return cmp.Compare(b.idle[x], b.idle[y]) })
	var parts []part
	rest := j.gang
	for _, m := range b.order {
		if n := min(rest, b.idle[m]); n > 0 {
			parts = append(parts, part{m, n})
			rest -= n
		}
	}
	return parts
}

// fewest returns how many servers hold the gang, in order of idle GPUs, most first.
func fewest(idle, order []int32, gang int32) int {
	for n, m := range order {
		if gang -= idle[m]; gang <= 0 {
			return n + 1
		}
	}
	return len(order) + 1
}

// full takes all idle GPUs of the first servers, and the rest from the n-th.
func (b *board) full(gang int32, n int) []part {
	var parts []part
	for _, m := range b.order[:n] {
		q := min(gang, b.idle[m])
		if q == 0 {
			return nil
		}
		parts = append(parts, part{m, q})
		gang -= q
	}
	if gang > 0 {
		return nil
	}
	return parts
}

// even takes about equally many from n servers.
func (b *board) even(gang int32, n int) []part {
	parts := make([]part, n)
	for k := n; k > 0; k-- { // the server with the fewest first
		m := b.order[k-1]
		q := min((gang+int32(k)-1)/int32(k), b.idle[m])
		if q == 0 {
			return nil
		}
		parts[k-1] = part{m, q}
		gang -= q
	}
	if gang > 0 {
		return nil
	}
	return parts
}

// schedule is what is on the board, with GPUs for every job.
func (b *board) schedule() (*sched.Schedule, error) {
	p := b.p
	out := &sched.Schedule{Class: sched.Class{Kind: sched.N, Slotted: p.in.Slot > 0}}
	parts := b.parts
	if b.servers == nil {
		parts = b.assign()
	}
	for i := range p.jobs {
		id := sched.JobID(i)
		place, train, err := b.placement(int32(i), parts[i])
		if err != nil {
			return nil, err
		}
		start, load := sched.Time(b.start[i]), p.in.Jobs[i].Load
		if load > 0 {
			out.Segments = append(out.Segments, sched.Segment{Job: id, Start: start, End: start + load, Phase: sched.Load, Place: place})
		}
		end := sched.Time(p.roundUp(int64(start + load + train)))
		if end > sched.MaxTime {
			return nil, fmt.Errorf("offline: %w: job %d would run beyond %v", sched.ErrNotApplicable, i, sched.MaxTime)
		}
		out.Segments = append(out.Segments, sched.Segment{Job: id, Start: start + load, End: end, Phase: sched.Train, Place: place})
	}
	out.Sort()
	return out, nil
}

// placement returns the placement of a job on parts, and how long it trains.
func (b *board) placement(i int32, parts []part) (sched.Placement, sched.Time, error) {
	j := &b.p.jobs[i]
	if j.sensitive {
		return b.times.placement(i, parts)
	}
	src := &b.p.in.Jobs[i]
	if src.Sharing == nil && len(src.Stages) > 1 { // on one server
		return b.times.placement(i, parts)
	}
	slices.SortFunc(parts, func(x, y part) int { return cmp.Compare(x.server, y.server) })
	place := anyhow(src, parts)
	if j.accumulation > 0 {
		place.Config = &sched.Config{Accumulation: j.accumulation}
	}
	d, err := b.p.in.RunTime(sched.JobID(i), &place)
	return place, d, err
}

// assign gives every job GPUs, in order of starts: whatever is idle will do, and in
// the pool it is enough. A server that holds the whole gang is preferred, of these the
// one with the fewest idle GPUs.
func (b *board) assign() [][]part {
	type event struct {
		at   int64
		job  int32
		ends bool
	}
	var events []event
	for i := range b.p.jobs {
		events = append(events, event{b.start[i], int32(i), false}, event{b.end[i], int32(i), true})
	}
	slices.SortFunc(events, func(x, y event) int {
		if c := cmp.Compare(x.at, y.at); c != 0 || x.ends == y.ends {
			return cmp.Or(c, cmp.Compare(x.job, y.job))
		}
		if x.ends {
			return -1
		}
		return 1
	})
	free := make([]int32, len(b.p.in.Cluster.Servers))
	for m := range free {
		free[m] = int32(b.p.in.Cluster.Servers[m].GPUs)
	}
	parts := make([][]part, len(b.p.jobs))
	for _, e := range events {
		if e.ends {
			for _, q := range parts[e.job] {
				free[q.server] += q.gpus
			}
			continue
		}
		rest, tight := b.p.jobs[e.job].gang, -1
		for m, n := range free {
			if n >= rest && (tight < 0 || n < free[tight]) {
				tight = m
			}
		}
		if tight >= 0 {
			parts[e.job] = []part{{int32(tight), rest}}
			free[tight] -= rest
			continue
		}
		for m := range free {
			if n := min(rest, free[m]); n > 0 {
				parts[e.job] = append(parts[e.job], part{int32(m), n})
				free[m] -= n
				rest -= n
			}
		}
	}
	return parts
}
