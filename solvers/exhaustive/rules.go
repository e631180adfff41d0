package exhaustive

// couldStartEarlier reports whether job i, started now on counts (any GPUs if
// nil), could have started at the decision point before on the same GPUs. Such
// a schedule is not optimal: there it would end earlier and nothing else change.
//
// Any GPUs will do only if at that decision point, once its starts were made,
// no waiting job cared for its GPUs: then those that start from it on can be
// given any free ones, whatever the order.
func (s *search) couldStartEarlier(i int, counts []int) bool {
	if len(s.past) == 0 || s.jobs[i].release >= s.now {
		return false
	}
	before := &s.past[len(s.past)-1]
	if counts == nil {
		return s.pooled && before.total >= s.jobs[i].gang
	}
	for m, n := range counts {
		if n > before.freeOn[m] {
			return false
		}
	}
	return true
}

// missedHole reports whether some waiting job could have run, from start to
// end, on GPUs that have been idle. Such a schedule is not optimal: whenever
// the job will start, it would have ended before.
func (s *search) missedHole() bool {
	if s.pooled {
		return s.missedPoolHole()
	}
	idle := s.idle[:0] // per server, since past[k].at
	for k := len(s.past) - 1; k >= 0; k-- {
		at, largest, all := s.past[k].at, 0, 0
		for m, n := range s.past[k].freeOn {
			if len(idle) <= m {
				idle = append(idle, n)
			}
			idle[m] = min(idle[m], n)
			largest, all = max(largest, idle[m]), all+idle[m]
		}
		for i := range s.jobs {
			j := &s.jobs[i]
			if s.waiting>>i&1 == 0 || j.release > at {
				continue
			}
			if largest >= j.gang && s.now-at >= j.short || all >= j.gang && s.now-at >= j.long {
				return true
			}
		}
		if all == 0 {
			break
		}
	}
	return false
}

// missedPoolHole is missedHole once GPUs are interchangeable, as far back as
// they were so.
func (s *search) missedPoolHole() bool {
	idle := s.gpus
	for k := len(s.past) - 1; k >= 0 && idle > 0; k-- {
		m := &s.past[k]
		idle = min(idle, m.total)
		for i := range s.jobs {
			if j := &s.jobs[i]; s.waiting>>i&1 == 1 && j.release <= m.at && idle >= j.gang && s.now-m.at >= j.short {
				return true
			}
		}
		if !m.pooled {
			break
		}
	}
	return false
}

// idleSince returns since when the pool has had the GPUs that waiting job i
// needs, or its release if that is later; it has them at the last decision
// point.
func (s *search) idleSince(i int) int64 {
	since := s.now
	for k := len(s.past) - 1; k >= 0 && s.past[k].total >= s.jobs[i].gang; k-- {
		since = s.past[k].at
		if !s.past[k].pooled {
			break
		}
	}
	return max(since, s.jobs[i].release)
}
