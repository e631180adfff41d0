package exhaustive

import "math/bits"

// couldStartEarlier reports whether job i, started now with a pattern of the
// class, could have started at the decision point before. Such a schedule is
// not optimal: there it would end earlier and nothing else change. Members of
// clashes are exempt: they might clash there.
func (s *search) couldStartEarlier(i, class int) bool {
	if len(s.past) == 0 || s.jobs[i].release >= s.now || s.clashed>>i&1 == 1 {
		return false
	}
	before := &s.past[len(s.past)-1]
	return before.total >= s.jobs[i].gang && s.fits(before.running, class)
}

// missedHole reports whether some waiting job could have run, from start to
// end, on GPUs that have been idle: with its shortest running time, or with any
// pattern and the longest. Such a schedule is not optimal: whenever the job will
// start, it would have ended before.
func (s *search) missedHole() bool {
	idle, blocked := s.gpus, s.clashed
	for k := len(s.past) - 1; k >= 0; k-- {
		m := &s.past[k]
		if idle = min(idle, m.total); idle == 0 {
			break
		}
		for set := s.waiting &^ s.clashed; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			j := &s.jobs[i]
			if j.release > m.at || idle < j.gang {
				continue
			}
			if s.now-m.at >= j.long {
				return true
			}
			if blocked>>i&1 == 0 && !s.fits(m.running, j.choices[0].class) {
				blocked |= 1 << i
			}
			if blocked>>i&1 == 0 && s.now-m.at >= j.short {
				return true
			}
		}
	}
	return false
}

// idleSince returns since when there have been the GPUs that waiting job i
// needs, or its release if that is later; they are there at the last decision
// point.
func (s *search) idleSince(i int) int64 {
	since := s.now
	for k := len(s.past) - 1; k >= 0 && s.past[k].total >= s.jobs[i].gang; k-- {
		since = s.past[k].at
	}
	return max(since, s.jobs[i].release)
}
