package exhaustive

import (
	"math/bits"
	"slices"
)

// clash is a set of jobs for which no servers exist if they run with certain
// patterns and overlap in time where it says so.
//
// Whether servers exist depends on nothing else: on every server, jobs that
// overlap two by two share an instant (Helly's theorem on the line), at which
// they must fit, and more overlaps only make more such instants.
type clash struct {
	members uint64
	who     []member
}

// member is a job of a clash: with one of its choices up to limit, it overlaps
// the other jobs in with.
type member struct {
	job, limit int
	with       uint64
}

// explain finds a clash among jobs, whose starts have no servers: a set of
// which none can be left out.
func (s *search) explain(jobs []int) clash {
	for _, flat := range []bool{true, false} { // jobs without a wish seldom matter
		for k := len(jobs) - 1; k >= 0; k-- {
			if (s.sensitive>>jobs[k]&1 == 0) != flat {
				continue
			}
			rest := slices.Delete(slices.Clone(jobs), k, k+1)
			if _, _, ok := s.assign(rest); !ok && s.stopped == "" {
				jobs = rest
			}
		}
	}
	var c clash
	for _, i := range jobs {
		m := member{job: i, limit: s.choice[i]}
		for _, k := range jobs {
			if k != i && s.overlap(i, k) {
				m.with |= 1 << k
			}
		}
		c.members |= 1 << i
		c.who = append(c.who, m)
	}
	return c
}

func (s *search) overlap(a, b int) bool { return s.start[a] < s.end[b] && s.start[b] < s.end[a] }

// learn adds the clashes of the last round.
func (s *search) learn() {
	s.clashes = append(s.clashes, s.found...)
	for _, c := range s.found {
		s.clashed |= c.members
	}
}

// clashesWith reports whether the start of job i has made a clash.
func (s *search) clashesWith(i int) bool {
	for k := range s.clashes {
		if c := &s.clashes[k]; c.members>>i&1 == 1 && c.members&s.waiting == 0 && s.live(c) {
			return true
		}
	}
	return false
}

// live reports whether a clash may still happen, or has if all its jobs have
// started.
func (s *search) live(c *clash) bool {
	for k := range c.who {
		m := &c.who[k]
		if s.waiting>>m.job&1 == 1 {
			continue
		}
		if s.choice[m.job] > m.limit || m.with&s.waiting != 0 && s.end[m.job] <= s.now {
			return false
		}
		for set := m.with &^ s.waiting; set != 0; set &= set - 1 {
			if !s.overlap(m.job, bits.TrailingZeros64(set)) {
				return false
			}
		}
	}
	return true
}

// liveClashes lists the clashes that may still happen and of which some job
// has started. (None of the others differ between nodes of the same time.)
func (s *search) liveClashes() []int {
	var out []int
	for k := range s.clashes {
		if c := &s.clashes[k]; c.members&s.waiting != 0 && c.members&^s.waiting != 0 && s.live(c) {
			out = append(out, k)
		}
	}
	return out
}

// clashesLess reports whether no completion of b makes a clash of it in a: each
// live clash of a is live in b, and its running jobs end no later in a.
func (a *remembered) clashesLess(s *search, b *remembered) bool {
	for _, k := range a.live {
		if !slices.Contains(b.live, k) {
			return false
		}
		for _, m := range s.clashes[k].who {
			if a.ends[m.job] > s.now && a.ends[m.job] > b.ends[m.job] {
				return false
			}
		}
	}
	return true
}
