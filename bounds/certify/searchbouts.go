package certify

import (
	"encoding/binary"
	"errors"
	"slices"

	"yardstick/sched"
)

// Schedules in slots of gangs that may be preempted (Ps). In each slot a job waits,
// holds its GPUs to load and then to train, holds them for a pause after a stop,
// or is done. All GPUs count as one server, and each job trains for its least time:
// where speed depends on the place, schedules are fewer. Where a least time is only
// bounded from below, a cheaper schedule refutes nothing.
//
// Three kinds of schedules need not be looked at, as others are no worse:
//   - A load that is stopped. Without it the GPUs are idle.
//   - A start by a job that waited in the slot before, in which as many GPUs were
//     free. It could have started then, and have trained more by any time.
//   - A stop after which, when its pause is over, the job starts again at once, or
//     as many GPUs as it has are free. It could have trained a slot more before
//     the pause, and be done a slot earlier.
//
// Each change leaves another schedule that costs no more, and lowers the sum of
// completion times or else the sum of the starts of bouts; so there is a cheapest
// schedule with none of the three.

// boutJob is a job in slots.
type boutJob struct {
	release     int64 // first slot
	gang        int64
	load, train int64 // microseconds
	pause       int64 // slots
}

// phase is what a job does in a slot.
type phase uint8

const (
	waits   phase = iota
	resumes       // it waits, and its pause has just ended
	runsNow
	pauses
	isDone
)

// boutState is a job's state at the beginning of a slot.
type boutState struct {
	phase phase
	load  int64 // microseconds of load left
	train int64 // microseconds of training left
	until int64 // the slot at which the pause ends
	fresh bool  // nothing has been trained since the start
}

type boutSearch struct {
	*target
	slot  int64
	gpus  int64
	jobs  []boutJob
	pool  pool
	first int64 // slot of the search
	nodes int
	known memo
	key   []byte
	err   error
}

func (c *Checker) searchBouts(d *document, t *target) error {
	s := &boutSearch{target: t, slot: int64(c.in.Slot), gpus: int64(c.in.Cluster.GPUs()), known: memo{}}
	jobs, err := c.gangs(nil)
	if err != nil {
		return err
	}
	if s.gpus > 1000 {
		return tooHard("%d GPUs are too many to search", s.gpus)
	}
	state := make([]boutState, len(jobs))
	for i := range jobs {
		j := &c.in.Jobs[i]
		s.jobs = append(s.jobs, boutJob{release: s.slots(int64(j.Release)), gang: int64(j.Gang()), load: int64(j.Load),
			train: int64(sub(jobs[i].length, j.Load)), pause: s.slots(int64(j.Pause))})
		state[i] = boutState{phase: waits, load: int64(j.Load), train: s.jobs[i].train}
	}
	now := s.jobs[0].release
	for _, j := range s.jobs {
		now = min(now, j.release)
	}
	s.first = now
	s.at(now, 0, state, 0)
	if errors.Is(s.err, ErrRefuted) && slices.ContainsFunc(c.in.Jobs, func(j sched.Job) bool { return c.times.bounded(&j) }) {
		return tooHard("a job of several stages fits no server: how fast it can be there is not known here")
	}
	return s.err
}

// slots returns how many slots so many microseconds need.
func (s *boutSearch) slots(micros int64) int64 { return up(micros, s.slot) }

// at looks at a slot before which so many GPUs were free.
func (s *boutSearch) at(now, free int64, state []boutState, cost int64) {
	if s.err != nil {
		return
	}
	if s.nodes++; s.nodes > searchNodes {
		s.err = tooHard("the search takes more than %d nodes", searchNodes)
		return
	}
	if sub(now, s.first) > searchSlots {
		s.err = tooHard("the search takes more than %d slots", searchSlots)
		return
	}
	var needs [searchJobs]need
	var held [searchJobs]hold
	n, h := 0, 0
	for i := range state {
		v := &state[i]
		if v.phase == isDone {
			continue
		}
		length := s.slots(add(v.load, v.train))
		needs[n] = need{i, s.jobs[i].release, length, mul(s.jobs[i].gang, length), s.jobs[i].gang}
		if v.phase == pauses {
			needs[n].release = max(needs[n].release, v.until)
			held[h] = hold{v.until, s.jobs[i].gang}
			h++
		}
		n++
	}
	if n == 0 {
		if cost <= s.most {
			s.err = s.cheaper()
		}
		return
	}
	s.pool.reset(now, s.gpus, held[:h])
	if s.pool.least(s.target, cost, now, needs[:n]) > s.most || s.seen(now, free, state, cost) {
		return
	}
	paused := int64(0)
	for i := range state {
		if state[i].phase == pauses {
			paused = add(paused, s.jobs[i].gang)
		}
	}
	next := make([]boutState, len(state))
	copy(next, state)
	s.choose(now, free, 0, sub(s.gpus, paused), state, next, cost)
}

func (s *boutSearch) seen(now, free int64, state []boutState, cost int64) bool {
	k := binary.AppendVarint(binary.AppendVarint(s.key[:0], now), free)
	for i := range state {
		v := &state[i]
		k = append(k, byte(v.phase))
		switch v.phase {
		case runsNow:
			k = binary.AppendVarint(binary.AppendVarint(k, v.load), v.train)
			if v.fresh {
				k = append(k, 1)
			} else {
				k = append(k, 0)
			}
		case pauses:
			k = binary.AppendVarint(binary.AppendVarint(k, v.train), v.until)
		case waits, resumes:
			k = binary.AppendVarint(k, v.train)
		}
	}
	s.key = k
	return s.known.seen(k, cost)
}

// choose decides what the jobs from i on do in this slot; room GPUs are left.
func (s *boutSearch) choose(now, before int64, i int, room int64, state, next []boutState, cost int64) {
	if room < 0 || s.err != nil {
		return
	}
	if i == len(state) {
		s.advance(now, room, state, next, cost)
		return
	}
	j, v := &s.jobs[i], &state[i]
	stay := func(p phase, gpus int64) {
		next[i] = *v
		next[i].phase = p
		s.choose(now, before, i+1, sub(room, gpus), state, next, cost)
	}
	switch v.phase {
	case isDone, pauses:
		stay(v.phase, 0) // what pauses hold is not in room
	case runsNow:
		stay(runsNow, j.gang)
		if !v.fresh { // it has trained
			next[i] = boutState{phase: pauses, load: j.load, train: v.train, until: add(now, j.pause)}
			if j.pause == 0 {
				next[i].phase = resumes
				s.choose(now, before, i+1, room, state, next, cost)
			} else {
				s.choose(now, before, i+1, sub(room, j.gang), state, next, cost)
			}
		}
	case waits, resumes:
		if j.release <= now && v.phase == waits && (j.release == now || before < j.gang) {
			next[i] = boutState{phase: runsNow, load: j.load, train: v.train, fresh: true}
			s.choose(now, before, i+1, sub(room, j.gang), state, next, cost)
		}
		stay(v.phase, 0)
	}
}

// advance lets the slot pass, with so many GPUs free in it.
func (s *boutSearch) advance(now, free int64, state, decided []boutState, cost int64) {
	next := make([]boutState, len(decided))
	copy(next, decided)
	for i := range next {
		v, j := &next[i], &s.jobs[i]
		switch v.phase {
		case resumes: // its GPUs must be in use
			if free >= j.gang {
				return
			}
			v.phase = waits
		case pauses:
			if v.until == add(now, 1) {
				*v = boutState{phase: resumes, load: j.load, train: v.train}
			}
		case runsNow:
			loads := min(v.load, s.slot)
			v.load = sub(v.load, loads)
			if trains := sub(s.slot, loads); trains > 0 {
				v.train = sub(v.train, min(v.train, trains))
				v.fresh = false
			}
			if v.train == 0 && v.load == 0 {
				*v = boutState{phase: isDone}
				if cost = s.with(cost, i, add(now, 1)); cost > s.most {
					return
				}
			}
		}
	}
	s.at(add(now, 1), free, next, cost)
}
