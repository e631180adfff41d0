package exhaustive

import (
	"math/bits"
	"yardstick/internal/number"
)

// capacity lists the steps of free GPUs from now on.
func (r *relaxation) capacity(s *search) {
	r.steps = append(r.steps[:0], step{at: s.now, total: s.total, running: s.running})
	r.list = r.list[:0]
	for set := s.running; set != 0; set &= set - 1 {
		r.list = append(r.list, bits.TrailingZeros64(set))
	}
	insertionSort(r.list, func(a, b int) bool { return s.end[a] < s.end[b] })
	for _, i := range r.list {
		last := r.steps[len(r.steps)-1]
		if s.end[i] > last.at {
			last.at = s.end[i]
			r.steps = append(r.steps, last)
		}
		now := &r.steps[len(r.steps)-1]
		now.total += s.jobs[i].gang
		now.running &^= 1 << i
	}
}

// earliest returns the earliest times at which waiting job i can start and end
// in an optimal continuation, given the running jobs alone; never if there is
// none.
func (r *relaxation) earliest(s *search, i int) (start, end int64) {
	j := &s.jobs[i]
	from := max(s.now, s.first[i])
	if j.duration == nil && s.couldStartEarlier(i, anyGPUs) {
		open := r.unblocked(s, i)
		if open == never {
			return never, never
		}
		from = max(from, open)
	}
	k := 0
	for r.steps[k].total < j.gang || k+1 < len(r.steps) && r.steps[k+1].at <= from {
		k++
	}
	start, end = max(from, r.steps[k].at), never
	for c := range j.choices {
		if start+j.choices[c].duration >= end {
			break
		}
		q := k
		for !s.fits(r.steps[q].running, j.choices[c].class) { // it fits the empty cluster
			q++
		}
		end = min(end, max(from, r.steps[q].at)+j.choices[c].duration)
	}
	return start, end
}

// unblocked returns the earliest time at which job i, which had the GPUs it
// needs at the last decision point, can start: other jobs must first take them,
// before the job could have run on them from start to end, and some job must
// end after that.
func (r *relaxation) unblocked(s *search, i int) int64 {
	j := &s.jobs[i]
	closes := s.idleSince(i) + j.short // a start at or after this leaves a hole that the job fits
	taken, freed := int64(never), int64(never)
	for set := s.waiting &^ (1 << i); set != 0; set &= set - 1 {
		other := &s.jobs[bits.TrailingZeros64(set)]
		if at := max(s.now, other.release); at < closes {
			taken, freed = min(taken, at), min(freed, at+other.short)
		}
	}
	if taken == never {
		return never
	}
	for _, st := range r.steps[1:] {
		if st.at > taken {
			return min(freed, st.at)
		}
	}
	return freed
}

// simulate serves the waiting jobs in set one at a time, each from its earliest
// start on, by least remaining work (srpt) or by Smith's static order. It
// records completion times, rounded up, in order (ends), and twice the first
// moment of each job's service, rounded down (twice). All three are relative
// to now.
func (r *relaxation) simulate(s *search, set uint64, srpt bool) {
	r.ends = r.ends[:0]
	for _, i := range r.list {
		r.left[i], r.twice[i] = s.jobs[i].work, number.Uint128{}
	}
	released, k := 0, 0 // jobs of list, steps passed
	open := bits.OnesCount64(set)
	for at := s.now; open > 0; {
		for released < len(r.list) && r.start[r.list[released]] <= at {
			released++
		}
		for k+1 < len(r.steps) && r.steps[k+1].at <= at {
			k++
		}
		until := int64(never) // capacity and the set of released jobs stay
		if released < len(r.list) {
			until = r.start[r.list[released]]
		}
		if k+1 < len(r.steps) {
			until = min(until, r.steps[k+1].at)
		}
		capacity := int64(r.steps[k].total)
		room := int64(never)
		if until != never {
			room = capacity * (until - at)
		}
		for done := int64(0); done < room; {
			best := -1
			for _, i := range r.list[:released] {
				if set>>i&1 == 1 && r.left[i] > 0 && (best < 0 || srpt && r.left[i] < r.left[best] || !srpt && r.smith[i] < r.smith[best]) {
					best = i
				}
			}
			if best < 0 {
				break
			}
			// Work done+1 … done+y of this stretch, at (at + work/capacity).
			y := min(r.left[best], room-done)
			spread := number.Product(uint64(y), uint64(2*done+y)).Over(uint64(capacity))
			r.twice[best] = r.twice[best].Plus(number.Product(uint64(2*y), uint64(at-s.now))).Plus(spread)
			done += y
			if r.left[best] -= y; r.left[best] == 0 {
				open--
				r.ends = append(r.ends, at-s.now+(done+capacity-1)/capacity)
			}
		}
		at = until
	}
}

// ranked is Σ_k max(k-th earliest end, k-th completion under SRPT), plus the
// jobs started; simulate has been run.
func (r *relaxation) ranked(s *search, early []int64) number.Uint128 {
	r.early = r.early[:0]
	for _, i := range r.list {
		r.early = append(r.early, early[i])
	}
	insertionSort(r.early, func(a, b int64) bool { return a < b })
	sum := uint64(0)
	for k, c := range r.ends {
		sum += uint64(max(s.now+c, r.early[k]))
	}
	return s.cost.Plus(number.Uint128{Lo: sum})
}

// meanBusy is the largest of Σ_{i in A} w_i (M_i + d_i/2) + Σ_{i not in A} w_i
// (earliest end of i) that it finds, plus the jobs started, where M are the
// mean busy times when the jobs in A have the capacity for themselves. It
// starts from all jobs and leaves those out that gain from it.
func (r *relaxation) meanBusy(s *search, early []int64) (best number.Uint128) {
	set := s.waiting
	for set != 0 {
		r.simulate(s, set, false)
		var sum number.Uint128 // twice the bound
		keep := set
		for _, i := range r.list {
			j := &s.jobs[i]
			own := uint64(2 * early[i])
			if set>>i&1 == 1 {
				busy := uint64(2*s.now+j.short) + r.twice[i].Over(uint64(j.work)).Lo
				if busy <= own {
					keep &^= 1 << i
				}
				own = busy
			}
			sum = sum.Plus(number.Product(j.weight, own))
		}
		best = best.Max(sum.Half().Plus(s.cost))
		if keep == set {
			break
		}
		set = keep
	}
	return best
}

// insertionSort sorts a few values in place, keeping the order of equal ones.
func insertionSort[T any](list []T, less func(a, b T) bool) {
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && less(list[k], list[k-1]); k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
}
