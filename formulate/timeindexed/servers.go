package timeindexed

import (
	"cmp"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/partition"
)

// request is a start that needs servers; any choice of at most limit will do.
type request struct {
	job   int
	start sched.Time
	limit int // index in choices
}

// lengths says for how long a job holds its GPUs with its k-th choice. A job
// with a choice of length 0 needs no servers.
type lengths func(j *job, k int) sched.Time

// exactly is the time of the choice.
func exactly(j *job, k int) sched.Time { return j.choices[k].time }

// verdict is what the search for servers found.
type verdict int

const (
	assigned   verdict = iota
	impossible         // proven: no assignment exists
	gaveUp             // the step limit was reached
)

// assignment is a depth-first search for the servers of given starts. Jobs
// come in order of start. Each tries its patterns, shortest first, on every
// choice of servers up to symmetry: servers of one size whose GPUs will be
// freed at the same times, in the same numbers, are interchangeable.
//
// Aggregated capacity does not decide this. Two servers of 2 GPUs and jobs
// [0,1)×2 and [2,3)×2 that need one server each, with single-GPU jobs [0,2),
// [0,3), [1,3) and [1,2), fill 4 GPUs at every moment, and at every moment the
// running jobs can be packed; but no choice of servers for all of them exists.
type assignment struct {
	p        *problem
	length   lengths
	requests []request // by start
	placed   []stay
	steps    int // left
	deepest  int // the furthest request that found no servers
}

// assignSteps bounds a search; more than a few thousand steps are rare.
const assignSteps = 200_000

// assign looks for servers for all requests. If that is impossible it returns
// a set of requests that clash, of which none can be left out.
//
// Whether servers exist depends only on the choices and on which jobs overlap
// in time: on every server, the jobs that hold GPUs at an instant are a clique
// of overlapping intervals. With more overlaps it is harder.
func (p *problem) assign(requests []request, length lengths) ([]stay, []request, verdict) {
	sorted := slices.Clone(requests)
	slices.SortStableFunc(sorted, func(a, b request) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(p.jobs[b.job].gang, p.jobs[a.job].gang))
	})
	a := &assignment{p: p, length: length, requests: sorted, steps: assignSteps}
	switch {
	case a.from(0):
		return a.placed, nil, assigned
	case a.steps <= 0:
		return nil, nil, gaveUp
	}
	return nil, p.shrink(sorted[:a.deepest+1], length), impossible
}

// shrink drops requests from a clash as long as it stays one.
func (p *problem) shrink(clash []request, length lengths) []request {
	clash = slices.Clone(clash)
	for k := 0; k < len(clash); {
		rest := slices.Delete(slices.Clone(clash), k, k+1)
		a := &assignment{p: p, length: length, requests: rest, steps: assignSteps}
		if !a.from(0) && a.steps > 0 {
			clash = rest
		} else {
			k++
		}
	}
	return clash
}

// from places the requests from the k-th on.
func (a *assignment) from(k int) bool {
	if k == len(a.requests) {
		return true
	}
	r := &a.requests[k]
	j := &a.p.jobs[r.job]
	if a.length(j, 0) == 0 {
		a.placed = append(a.placed[:k], stay{job: r.job, start: r.start, end: r.start})
		return a.from(k + 1)
	}
	servers := a.at(r.start)
	for c := 0; c <= r.limit; c++ {
		choice := &j.choices[c]
		s := stay{job: r.job, start: r.start, end: r.start + a.length(j, c)}
		next := func(on, parts []int) bool {
			if a.steps--; a.steps <= 0 {
				return false
			}
			s.servers, s.parts = slices.Clone(on), slices.Clone(parts)
			a.placed = append(a.placed[:k], s)
			return a.from(k + 1)
		}
		if choice.patterns == nil {
			if anyShare(servers, j.gang, next) {
				return true
			}
			continue
		}
		for q := range choice.patterns {
			if eachMatch(servers, &choice.patterns[q], next) {
				return true
			}
			if a.steps <= 0 {
				return false
			}
		}
	}
	a.deepest = max(a.deepest, k)
	return false
}

// server is a server at one moment: its free GPUs, and a key that is equal for
// interchangeable ones.
type server struct {
	index, size, free int
	key               []ending // what will be freed, by time
}

type ending struct {
	at   sched.Time
	gpus int
}

// at returns the servers at time t, interchangeable ones together, the
// fullest first.
func (a *assignment) at(t sched.Time) []server {
	out := make([]server, len(a.p.in.Cluster.Servers))
	for m := range out {
		size := a.p.in.Cluster.Servers[m].GPUs
		out[m] = server{index: m, size: size, free: size}
	}
	for _, s := range a.placed {
		if s.end <= t {
			continue
		}
		for q, m := range s.servers {
			v := &out[m]
			v.free -= s.parts[q]
			if i := slices.IndexFunc(v.key, func(e ending) bool { return e.at == s.end }); i >= 0 {
				v.key[i].gpus += s.parts[q]
			} else {
				v.key = append(v.key, ending{s.end, s.parts[q]})
			}
		}
	}
	for m := range out {
		slices.SortFunc(out[m].key, func(x, y ending) int { return cmp.Compare(x.at, y.at) })
	}
	slices.SortFunc(out, func(x, y server) int {
		return cmp.Or(cmp.Compare(x.free, y.free), compareKeys(x, y), cmp.Compare(x.index, y.index))
	})
	return out
}

func compareKeys(x, y server) int {
	return cmp.Or(cmp.Compare(x.size, y.size), slices.CompareFunc(x.key, y.key, func(a, b ending) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.gpus, b.gpus))
	}))
}

func interchangeable(x, y server) bool { return x.free == y.free && compareKeys(x, y) == 0 }

// eachMatch calls next with every assignment of the pattern's parts to
// servers, up to symmetry, until it returns true.
func eachMatch(servers []server, q *partition.Pattern, next func(on, parts []int) bool) bool {
	on := make([]int, 0, len(q.Parts))
	used := make([]bool, len(servers))
	var place func(k, after int) bool
	place = func(k, after int) bool {
		if k == len(q.Parts) {
			return next(on, q.Parts)
		}
		first := 0
		if k > 0 && q.Parts[k] == q.Parts[k-1] && q.Sizes[k] == q.Sizes[k-1] {
			first = after + 1 // equal parts go to servers in ascending order
		}
		for v := first; v < len(servers); v++ {
			s := &servers[v]
			if used[v] || s.free < q.Parts[k] || s.size != q.Sizes[k] {
				continue
			}
			if v > first && !used[v-1] && interchangeable(servers[v-1], *s) {
				continue // the same as its neighbour, which was tried
			}
			used[v] = true
			on = append(on, s.index)
			if place(k+1, v) {
				return true
			}
			on = on[:k]
			used[v] = false
		}
		return false
	}
	return place(0, -1)
}

// anyShare calls next with every way to take gang free GPUs, up to symmetry,
// until it returns true. The fullest servers come first and give what they
// have, so that room stays together.
func anyShare(servers []server, gang int, next func(on, parts []int) bool) bool {
	room := make([]int, len(servers)+1) // free GPUs from v on
	for v := len(servers) - 1; v >= 0; v-- {
		room[v] = room[v+1] + servers[v].free
	}
	var on, parts []int
	var take func(v, left, last int) bool
	take = func(v, left, last int) bool {
		if left == 0 {
			return next(on, parts)
		}
		if room[v] < left {
			return false
		}
		most := min(left, servers[v].free)
		if v > 0 && interchangeable(servers[v-1], servers[v]) {
			most = min(most, last) // interchangeable servers give no more than the one before
		}
		for n := most; n >= 0; n-- {
			k := len(on)
			if n > 0 {
				on, parts = append(on, servers[v].index), append(parts, n)
			}
			if take(v+1, left-n, n) {
				return true
			}
			on, parts = on[:k], parts[:k]
		}
		return false
	}
	return take(0, gang, gang)
}
