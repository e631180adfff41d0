package sim

import (
	"cmp"
	"slices"

	"yardstick/sched"
)

// kind is what happens at an event. The order of the values is the order of
// events at equal times.
type kind uint8

const (
	trainEnd kind = iota
	pauseEnd
	arrival
	loadEnd
)

// event is the end of the phase that a job on the cluster is in. Each such job
// has exactly one.
type event struct {
	at   sched.Time
	key  uint64 // kind, then job
	slot int32  // of the job's record
}

func eventKey(k kind, id sched.JobID) uint64 { return uint64(k)<<56 | uint64(id) }

func (e *event) before(at sched.Time, key uint64) bool {
	return e.at < at || e.at == at && e.key < key
}

// agenda is a binary heap of events by time, kind and job. It keeps in pos
// where the event of each record is, so that one can be moved or removed.
type agenda struct {
	heap []event
	pos  []int32 // per record; meaningless while it has no event
}

func (a *agenda) add(ev event) {
	for int(ev.slot) >= len(a.pos) {
		a.pos = append(a.pos, 0)
	}
	a.heap = append(a.heap, ev)
	a.up(len(a.heap)-1, ev)
}

// remove deletes the event of a record.
func (a *agenda) remove(slot int32) {
	i, last := int(a.pos[slot]), len(a.heap)-1
	ev := a.heap[last]
	a.heap = a.heap[:last]
	if i < last {
		a.settle(i, ev)
	}
}

// move changes the time of the event of a record.
func (a *agenda) move(slot int32, at sched.Time) {
	i := int(a.pos[slot])
	ev := a.heap[i]
	ev.at = at
	a.settle(i, ev)
}

// settle puts ev where it belongs, starting from the hole at i.
func (a *agenda) settle(i int, ev event) {
	if i > 0 && ev.before(a.heap[(i-1)/2].at, a.heap[(i-1)/2].key) {
		a.up(i, ev)
	} else {
		a.down(i, ev)
	}
}

func (a *agenda) put(i int, ev event) {
	a.heap[i] = ev
	a.pos[ev.slot] = int32(i)
}

func (a *agenda) up(i int, ev event) {
	for i > 0 {
		parent := (i - 1) / 2
		if !ev.before(a.heap[parent].at, a.heap[parent].key) {
			break
		}
		a.put(i, a.heap[parent])
		i = parent
	}
	a.put(i, ev)
}

func (a *agenda) down(i int, ev event) {
	for {
		child := 2*i + 1
		if child >= len(a.heap) {
			break
		}
		if r := child + 1; r < len(a.heap) && a.heap[r].before(a.heap[child].at, a.heap[child].key) {
			child = r
		}
		if !a.heap[child].before(ev.at, ev.key) {
			break
		}
		a.put(i, a.heap[child])
		i = child
	}
	a.put(i, ev)
}

// byRelease returns the jobs in order of (release, index).
func byRelease(jobs []sched.Job) []int32 {
	order := make([]int32, len(jobs))
	for i := range order {
		order[i] = int32(i)
	}
	inOrder := func(a, b int32) int {
		if c := cmp.Compare(jobs[a].Release, jobs[b].Release); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	}
	slices.SortFunc(order, inOrder)
	return order
}
