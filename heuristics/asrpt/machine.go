package asrpt

import (
	"container/heap"
	"math/big"

	"yardstick/sched"
)

// machine is the virtual single machine Ã1: it serves jobs one at a time at
// rate 1, always the one with the least remaining size, preempting at no cost
// (SRPT). It knows a job from its release on and nothing of the cluster.
//
// Times are in microseconds and exact. Only the job at the head of the heap is
// served, and its remaining size only shrinks, so it keeps its place until a
// smaller job arrives. Cost: O(log n) comparisons per arrival and completion.
type machine struct {
	ties  Ties
	now   *big.Rat
	tasks tasks
	end   *big.Rat // when the head completes if nothing arrives; nil if not known
}

// task is a job on the virtual machine.
type task struct {
	job     sched.JobID
	release sched.Time
	size    *big.Rat // q = g·ñ·alpha~/G
	left    *big.Rat // of size
	near    float64  // left rounded to nearest, which keeps order
}

// completion is a virtual completion.
type completion struct {
	task
	at *big.Rat // C^v
}

// before reports whether t goes first where sizes or times are equal.
func (r Ties) before(t, u *task) bool {
	if r == ByRelease && t.release != u.release {
		return t.release < u.release
	}
	return t.job < u.job
}

func newMachine(r Ties) *machine {
	return &machine{ties: r, now: new(big.Rat), tasks: tasks{ties: r}}
}

// advance serves jobs until the given time and appends those that complete by
// then to done, in order of completion.
func (m *machine) advance(until *big.Rat, done []completion) []completion {
	for len(m.tasks.heap) > 0 {
		end := m.headEnds()
		if end.Cmp(until) > 0 {
			head := &m.tasks.heap[0]
			head.left = new(big.Rat).Sub(end, until)
			head.near, _ = head.left.Float64()
			break
		}
		m.now = end
		done = append(done, completion{m.pop(), end})
	}
	m.now = until
	return done
}

// headEnds returns when the head completes if nothing arrives.
func (m *machine) headEnds() *big.Rat {
	if m.end == nil {
		m.end = new(big.Rat).Add(m.now, m.tasks.heap[0].left)
	}
	return m.end
}

// arrive adds a job of a positive size.
func (m *machine) arrive(t task) {
	t.left = t.size
	t.near, _ = t.left.Float64()
	heap.Push(&m.tasks, t)
	if m.tasks.heap[0].job == t.job {
		m.end = nil
	}
}

// pop takes the head off the machine.
func (m *machine) pop() task {
	m.end = nil
	return heap.Pop(&m.tasks).(task)
}

func (m *machine) empty() bool { return len(m.tasks.heap) == 0 }

// tasks is a heap by remaining size.
type tasks struct {
	ties Ties
	heap []task
}

func (h *tasks) Len() int      { return len(h.heap) }
func (h *tasks) Swap(i, k int) { h.heap[i], h.heap[k] = h.heap[k], h.heap[i] }
func (h *tasks) Push(x any)    { h.heap = append(h.heap, x.(task)) }

func (h *tasks) Pop() any {
	n := len(h.heap) - 1
	t := h.heap[n]
	h.heap[n] = task{}
	h.heap = h.heap[:n]
	return t
}

func (h *tasks) Less(i, k int) bool {
	t, u := &h.heap[i], &h.heap[k]
	if t.near != u.near {
		return t.near < u.near
	}
	if c := t.left.Cmp(u.left); c != 0 {
		return c < 0
	}
	return h.ties.before(t, u)
}
