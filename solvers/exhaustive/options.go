package exhaustive

import (
	"cmp"
	"math/bits"
	"slices"
)

// option is a way to place a job now.
type option struct {
	counts   []int // GPUs per server
	duration int64
}

// options lists the ways to start waiting job i on free GPUs that differ in
// what they leave to later jobs and that could not have been chosen earlier:
// the shortest first, and of equally long ones those on the fullest servers.
//
// Servers of equal size whose GPUs fall free in the same way are alike from now
// on, whatever ran on them: of such servers, those first in number take the
// larger parts. If the placement so chosen could have been chosen earlier, all
// that it stands for are not optimal either.
func (s *search) options(i int) []option {
	j := &s.jobs[i]
	like := s.alikeServers()
	room := make([]int, len(s.freeOn)+1) // free GPUs of servers m, m+1, …
	for m := len(s.freeOn) - 1; m >= 0; m-- {
		room[m] = room[m+1] + s.freeOn[m]
	}
	var out []option
	counts := make([]int, len(s.freeOn))
	var choose func(m, left int)
	choose = func(m, left int) {
		if left == 0 {
			if !s.couldStartEarlier(i, counts) {
				out = append(out, option{slices.Clone(counts), s.durationOn(&s.key, j, counts)})
			}
			return
		}
		if left > room[m] {
			return
		}
		most := min(left, s.freeOn[m])
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
	slices.SortStableFunc(out, func(a, b option) int {
		return cmp.Or(cmp.Compare(a.duration, b.duration), cmp.Compare(s.spare(a.counts), s.spare(b.counts)))
	})
	return out
}

// spare is the number of GPUs left free on the servers used.
func (s *search) spare(counts []int) int {
	n := 0
	for m, c := range counts {
		if c > 0 {
			n += s.freeOn[m] - c
		}
	}
	return n
}

// alikeServers returns for each server the last one before it that is alike,
// or −1.
func (s *search) alikeServers() []int {
	like := make([]int, len(s.freeOn))
	for m := range like {
		like[m] = -1
		for k := m - 1; k >= 0; k-- {
			if s.freeOn[k] == s.freeOn[m] && s.sameLoad(k, m) { // so that their sizes are equal too
				like[m] = k
				break
			}
		}
	}
	return like
}

// sameLoad reports whether the running jobs hold equally many GPUs of two
// servers at every time.
func (s *search) sameLoad(a, b int) bool {
	same := true
	for set := s.running; set != 0 && same; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if s.counts[i][a] == s.counts[i][b] {
			continue
		}
		diff := 0 // of all jobs that end together with i
		for rest := s.running; rest != 0; rest &= rest - 1 {
			if k := bits.TrailingZeros64(rest); s.end[k] == s.end[i] {
				diff += s.counts[k][a] - s.counts[k][b]
			}
		}
		same = diff == 0
	}
	return same
}
