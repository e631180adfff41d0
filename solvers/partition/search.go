package partition

import (
	"encoding/binary"
	"slices"
)

// search decides whether a job can be placed with no stage time of a rank above
// a threshold, server by server: the lowest stage with replicas left must be
// hosted by some server, and the next server is taken to be it, so that only the
// kinds of servers and their fillings are branched on, stage by stage. A state
// that failed once (replicas left, servers left of each lot) is remembered.
//
// It is for any graph of stages. [scan] is the opposite order, stage by stage.
type search struct {
	*question
	threshold int32
	left      []int // replicas of each stage still to place
	free      []int // servers of each lot still empty
	room      int   // of them
	failed    map[string]struct{}
	visits    int
	filled    contents
}

func newSearch(q *question, threshold int32) *search {
	s := &search{question: q, threshold: threshold, left: slices.Clone(q.replicas), failed: map[string]struct{}{}, filled: make(contents, len(q.lots))}
	for _, l := range q.lots {
		s.free = append(s.free, l.count)
		s.room += l.room * l.count
	}
	return s
}

func (s *search) solve() verdict {
	switch ok := s.place(); {
	case ok:
		return attained
	case s.visits > s.limit:
		return undecided
	}
	return refuted
}

// place fills the servers left. False is a proof only while visits is within
// the limit.
func (s *search) place() bool {
	lowest := slices.IndexFunc(s.left, func(n int) bool { return n > 0 })
	if lowest < 0 {
		return true
	}
	behind := s.behind(s.left)
	if behind[0] > s.room {
		return false
	}
	key := s.key()
	if _, ok := s.failed[key]; ok {
		return false
	}
	counts := make([]int, len(s.left))
	for k, l := range s.lots {
		if s.free[k] > 0 && s.choose(counts, behind, k, lowest, lowest, l.room) {
			return true
		}
	}
	if s.visits <= s.limit {
		s.failed[key] = struct{}{}
	}
	return false
}

// key encodes the state.
func (s *search) key() string {
	b := make([]byte, 0, 128)
	for _, n := range s.left {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, n := range s.free {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return string(b)
}

// choose chooses the replicas of stage i and of all later ones for a server of
// lot k with gpus GPUs left, most first, and goes on to the next server.
func (s *search) choose(counts, behind []int, k, lowest, i, gpus int) bool {
	if i == len(counts) || gpus == 0 {
		return (gpus == 0 || !s.whole) && s.worst(s.lots[k].class, counts) <= s.threshold && s.take(slices.Clone(counts), k)
	}
	least := 0
	if i == lowest {
		least = 1
	}
	for x := min(s.left[i], gpus/s.slices[i]); x >= least; x-- {
		rest := gpus - x*s.slices[i]
		if s.whole && rest > behind[i+1] {
			break
		}
		if s.visits++; s.visits > s.limit {
			break
		}
		counts[i] = x
		if s.keeps(counts, k, i, rest) && s.choose(counts, behind, k, lowest, i+1, rest) {
			counts[i] = 0
			return true
		}
	}
	counts[i] = 0
	return false
}

// take puts counts on a server of lot k and goes on to the next.
func (s *search) take(counts []int, k int) bool {
	for i, x := range counts {
		s.left[i] -= x
	}
	s.free[k]--
	s.room -= s.lots[k].room
	s.filled[k] = append(s.filled[k], counts)
	if s.place() {
		return true
	}
	s.filled[k] = s.filled[k][:len(s.filled[k])-1]
	s.room += s.lots[k].room
	s.free[k]++
	for i, x := range counts {
		s.left[i] += x
	}
	return false
}

// keeps reports whether the stages that have just been settled, and stage i at
// best, keep the threshold on a server of lot k with room GPUs left. counts is
// decided up to stage i.
func (s *search) keeps(counts []int, k, i, room int) bool {
	for _, n := range s.touched[i] {
		if counts[n] > 0 && s.atBest(s.lots[k].class, n, counts, i, s.left, room) > s.threshold {
			return false
		}
	}
	return true
}
