package bouts

import (
	"fmt"

	"yardstick/internal/number"
	"yardstick/sched"
)

// phase is what a job is about at a slot boundary.
type phase uint8

const (
	waiting  phase = iota // W: may start
	passed                // W: its GPUs were free in the last slot, and it did not start; see Late starts
	stopped               // W: its pause ends here; see Stops for nothing
	loading               // L
	training              // T
	pausing               // P
	done                  // D
)

// state is a state of one job at a slot boundary, with those that it leads to.
// An index of 0 in go or leave means that there is none: the first state is
// never reached again.
type state struct {
	phase phase
	left  sched.Time // of training
	slots int32      // W: 0; L, T: of the bout so far; P: still to go

	need int32 // the least number of slots holding GPUs from here to the end, pauses not counted
	wait int32 // slots before the first of these

	on    uint16 // after a slot in which it starts or goes on with loading, training or saving
	leave uint16 // T: after a slot in which it begins to save or, without pause, is idle
	late  uint16 // W: the same, having been passed over
	early uint16 // passed: the same, no longer passed over; stopped: waiting
}

// automaton builds the states of one job.
type automaton struct {
	slot, load, pause sched.Time
	once              bool
	states            []state
	index             map[state]uint16 // by phase, left and slots
}

// jobStates lists the states of a job with the given times, the first one
// first.
//
// Errors: sched.ErrNotApplicable if there are too many.
func jobStates(slot, load, pause, train sched.Time, once bool) ([]state, error) {
	if (load+train)/slot > maxStates || pause/slot > maxStates {
		return nil, fmt.Errorf("%w: it takes too many slots", sched.ErrNotApplicable)
	}
	a := &automaton{slot: slot, load: load, pause: pause, once: once, index: map[state]uint16{}}
	a.add(state{phase: waiting, left: train})
	for i := 0; i < len(a.states); i++ { // add appends
		if len(a.states) > maxStates {
			return nil, fmt.Errorf("%w: it has too many states", sched.ErrNotApplicable)
		}
		a.connect(i)
	}
	return a.states, nil
}

// add returns the index of a state.
func (a *automaton) add(s state) uint16 {
	i, ok := a.index[s]
	if !ok {
		i = uint16(len(a.states))
		a.index[s] = i
		s.need, s.wait = a.distance(s)
		a.states = append(a.states, s)
	}
	return i
}

// distance returns need and wait.
func (a *automaton) distance(s state) (need, wait int32) {
	afresh := int32(number.CeilDiv(a.load+s.left, a.slot))
	switch s.phase {
	case waiting:
		return afresh, 0
	case passed, stopped:
		return afresh, 1
	case loading:
		return afresh - s.slots, 0
	case training:
		return int32(number.CeilDiv(s.left, a.slot)), 0
	case pausing:
		return afresh, s.slots + 1
	}
	return 0, 0
}

// connect fills in where state i leads.
func (a *automaton) connect(i int) {
	s := a.states[i]
	var on, leave, late, early uint16
	switch s.phase {
	case waiting:
		on = a.after(s.left, 1)
		late = a.add(state{phase: passed, left: s.left})
	case passed:
		early = a.add(state{phase: waiting, left: s.left})
	case stopped:
		early = a.add(state{phase: waiting, left: s.left})
	case loading:
		on = a.after(s.left, s.slots+1)
	case training:
		on = a.after(s.left, -1)
		if a.once {
			break
		}
		switch pause := int32(number.CeilDiv(a.pause, a.slot)); pause {
		case 0: // it is idle in the slot after an empty pause
			leave = a.add(state{phase: waiting, left: s.left})
		case 1:
			leave = a.add(state{phase: stopped, left: s.left})
		default:
			leave = a.add(state{phase: pausing, left: s.left, slots: pause - 1})
		}
	case pausing:
		if s.slots == 1 {
			on = a.add(state{phase: stopped, left: s.left})
		} else {
			on = a.add(state{phase: pausing, left: s.left, slots: s.slots - 1})
		}
	}
	t := &a.states[i]
	t.on, t.leave, t.late, t.early = on, leave, late, early
}

// after returns the state after n slots of a bout that began with the given
// training left, or, if n is negative, after one more slot of training.
func (a *automaton) after(left sched.Time, n int32) uint16 {
	trained := a.slot
	if n >= 0 {
		if trained = sched.Time(n)*a.slot - a.load; trained <= 0 {
			return a.add(state{phase: loading, left: left, slots: n})
		}
	}
	if left -= trained; left <= 0 {
		return a.add(state{phase: done})
	}
	return a.add(state{phase: training, left: left})
}
