package bouts

// mover enumerates what the jobs can do together in one slot.
type mover struct {
	p     *problem
	from  *key
	next  key
	idle  [maxJobs]bool // released and unfinished, and holds nothing in this slot
	visit func(*key)
}

// successors calls visit with every state that the slot after the given one can
// end in, but for those that no schedule needs; see the package comment.
func (p *problem) successors(from *key, visit func(*key)) {
	m := mover{p: p, from: from, visit: visit}
	m.next.slot = min(from.slot+1, p.last)
	m.job(0, p.gpus)
}

// job tries everything that job j may do when the jobs before it have left so
// many GPUs, and goes on to the next.
func (m *mover) job(j, free int) {
	if j == len(m.p.jobs) {
		m.settle(free)
		return
	}
	x := &m.p.jobs[j]
	at := m.from.state[j]
	s := &x.states[at]
	hold := func(to uint16) {
		if to > 0 && free >= x.gang {
			m.next.state[j] = to
			m.job(j+1, free-x.gang)
		}
	}
	stay := func(to uint16) {
		m.next.state[j], m.idle[j] = to, true
		m.job(j+1, free)
		m.idle[j] = false
	}
	switch s.phase {
	case done:
		m.next.state[j] = at
		m.job(j+1, free)
	case loading, pausing:
		hold(s.on)
	case training:
		hold(s.on)
		if saves := s.leave > 0 && x.states[s.leave].phase != waiting; saves {
			hold(s.leave)
		} else if s.leave > 0 {
			stay(s.leave)
		}
	case waiting:
		if m.from.slot < x.first {
			m.next.state[j] = at
			m.job(j+1, free)
			return
		}
		hold(s.on)
		stay(at)
	default:
		stay(at)
	}
}

// settle finds the states of the jobs that held nothing, now that it is known
// which GPUs were free, and visits the outcome.
func (m *mover) settle(free int) {
	if free == m.p.gpus && m.from.slot >= m.p.last {
		return // nothing is done, and nothing will be released
	}
	next := m.next
	for j := range m.p.jobs {
		if !m.idle[j] {
			continue
		}
		x := &m.p.jobs[j]
		s, fits := &x.states[m.from.state[j]], free >= x.gang
		switch {
		case s.phase == waiting && fits:
			next.state[j] = s.late
		case s.phase == passed && !fits, s.phase == stopped && !fits:
			next.state[j] = s.early
		case s.phase == stopped, s.phase == training && fits:
			return // it stopped for nothing
		}
	}
	m.visit(&next)
}
