package exhaustive

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// assignment is a depth-first search for the servers of jobs with given starts
// and choices. Jobs come in order of start; each tries its placements that run
// no longer than its choice. A shorter one ends earlier.
type assignment struct {
	*search
	order   []int
	free    []int // GPUs per server
	holding uint64
	until   []int64
	counts  [][]int
	deepest int // the furthest job that found no servers
	failed  map[string]bool
	key     patternKey
}

// inOrder lists all jobs by start, the large ones first where starts are equal.
func (s *search) inOrder() []int {
	order := make([]int, len(s.jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.start[a], s.start[b]), cmp.Compare(s.jobs[b].gang, s.jobs[a].gang))
	})
	return order
}

// assign looks for servers for the jobs, which are in order of start. If there
// are none it returns the jobs up to one that found none. Every step counts as
// a node.
func (s *search) assign(order []int) (pl plan, stuck []int, ok bool) {
	pl = newPlan(len(s.jobs))
	copy(pl.start, s.start)
	if s.sensitive == 0 { // see decode
		copy(pl.end, s.end)
		return pl, nil, true
	}
	a := &assignment{search: s, order: order, free: slices.Clone(s.problem.free), until: pl.end, counts: pl.counts, failed: map[string]bool{}}
	if a.from(0) {
		return pl, nil, true
	}
	return plan{}, order[:a.deepest+1], false
}

// from places the jobs from the k-th on.
func (a *assignment) from(k int) bool {
	if k == len(a.order) {
		return true
	}
	i := a.order[k]
	before := a.holding
	for set := before; set != 0; set &= set - 1 {
		if q := bits.TrailingZeros64(set); a.until[q] <= a.start[i] {
			a.hold(q, -1)
		}
	}
	a.deepest = max(a.deepest, k)
	state := a.state(k)
	if a.failed[state] {
		a.rehold(before)
		return false
	}
	for _, o := range a.options(i) {
		if a.stop() {
			return false
		}
		a.nodes++
		a.counts[i], a.until[i] = o.counts, a.start[i]+o.duration
		a.hold(i, 1)
		if a.from(k + 1) {
			return true
		}
		a.hold(i, -1)
	}
	a.failed[state] = true
	a.rehold(before)
	return false
}

// rehold makes the given jobs hold their GPUs again.
func (a *assignment) rehold(jobs uint64) {
	for set := jobs &^ a.holding; set != 0; set &= set - 1 {
		a.hold(bits.TrailingZeros64(set), 1)
	}
}

// state describes what is held when the k-th job starts: the same for all
// ways that differ by what the numbers of equal servers are.
func (a *assignment) state(k int) string {
	var lists []string
	for m := range a.free {
		var load []held
		for set := a.holding; set != 0; set &= set - 1 {
			if i := bits.TrailingZeros64(set); a.counts[i][m] > 0 {
				load = append(load, held{a.until[i], 0, int32(a.counts[i][m])})
			}
		}
		insertionSort(load, func(x, y held) bool { return x.until < y.until })
		key := binary.AppendUvarint(nil, uint64(a.kind[m]))
		for n := 0; n < len(load); n++ {
			for n+1 < len(load) && load[n+1].until == load[n].until {
				load[n+1].count += load[n].count
				n++
			}
			key = binary.AppendUvarint(key, uint64(load[n].until))
			key = binary.AppendUvarint(key, uint64(load[n].count))
		}
		lists = append(lists, string(binary.AppendUvarint(key, 0)))
	}
	slices.Sort(lists)
	return string(binary.AppendUvarint(nil, uint64(k))) + strings.Join(lists, "")
}

// hold takes job i's GPUs, or gives them back.
func (a *assignment) hold(i, sign int) {
	a.holding ^= 1 << i
	for m, n := range a.counts[i] {
		a.free[m] -= sign * n
	}
}

// option is a way to place a job.
type option struct {
	counts   []int // GPUs per server
	duration int64
}

// options lists the ways to place job i on free GPUs that differ in what they
// leave to later jobs: the shortest first, and of equally long ones those on
// the fullest servers.
//
// Servers of equal size whose GPUs fall free in the same way are alike from now
// on, whatever ran on them: of such servers, those first in number take the
// larger parts.
func (a *assignment) options(i int) []option {
	j := &a.jobs[i]
	longest := j.choices[a.choice[i]].duration
	like := a.alikeServers()
	room := make([]int, len(a.free)+1) // free GPUs of servers m, m+1, …
	for m := len(a.free) - 1; m >= 0; m-- {
		room[m] = room[m+1] + a.free[m]
	}
	var out []option
	counts := make([]int, len(a.free))
	var choose func(m, left int)
	choose = func(m, left int) {
		if left == 0 {
			if d := a.durationOn(&a.key, j, counts); d <= longest {
				out = append(out, option{slices.Clone(counts), d})
			}
			return
		}
		if left > room[m] {
			return
		}
		most := min(left, a.free[m])
		if like[m] >= 0 {
			most = min(most, counts[like[m]])
		}
		for n := most; n >= 0; n-- {
			counts[m] = n
			choose(m+1, left-n)
		}
		counts[m] = 0
	}
	choose(0, j.gang)
	slices.SortStableFunc(out, func(x, y option) int {
		return cmp.Or(cmp.Compare(x.duration, y.duration), cmp.Compare(a.spare(x.counts), a.spare(y.counts)))
	})
	return out
}

// spare is the number of GPUs left free on the servers used.
func (a *assignment) spare(counts []int) int {
	n := 0
	for m, c := range counts {
		if c > 0 {
			n += a.free[m] - c
		}
	}
	return n
}

// alikeServers returns for each server the last one before it that is alike,
// or −1.
func (a *assignment) alikeServers() []int {
	like := make([]int, len(a.free))
	for m := range like {
		like[m] = -1
		for k := m - 1; k >= 0; k-- {
			if a.free[k] == a.free[m] && a.sameLoad(k, m) { // so that their sizes are equal too
				like[m] = k
				break
			}
		}
	}
	return like
}

// sameLoad reports whether the jobs that run hold equally many GPUs of two
// servers at every time.
func (a *assignment) sameLoad(x, y int) bool {
	same := true
	for set := a.holding; set != 0 && same; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if a.counts[i][x] == a.counts[i][y] {
			continue
		}
		diff := 0 // of all jobs that end together with i
		for rest := a.holding; rest != 0; rest &= rest - 1 {
			if k := bits.TrailingZeros64(rest); a.until[k] == a.until[i] {
				diff += a.counts[k][x] - a.counts[k][y]
			}
		}
		same = diff == 0
	}
	return same
}
