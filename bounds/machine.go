package bounds

import (
	"container/heap"
	"math/big"
	"slices"
)

// machine is a single machine of unit speed that serves released jobs one at a
// time, preemptively, always one that comes first under before.
//
// The order may depend on the remaining sizes (left) provided that service
// only moves the served job forward; then only releases preempt.
type machine struct {
	release, size []int64
	before        func(a, b int) bool
	left          []int64 // remaining sizes
	queue         []int   // released, unfinished jobs: a heap under before
}

func newMachine(release, size []int64) *machine {
	return &machine{release: release, size: size, left: slices.Clone(size)}
}

// run serves all jobs and calls served for every stretch of service, in order
// of time: job j from start on, for length units; done if that completes it.
// start is reused between calls. Cost: O(n log n) and at most 2n calls.
func (m *machine) run(served func(j int, start *big.Int, length int64, done bool)) {
	order := make([]int, len(m.release))
	for j := range order {
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case m.release[a] < m.release[b]:
			return -1
		case m.release[a] > m.release[b]:
			return 1
		}
		return a - b
	})
	// Until the last release, time is an int64; after it, sizes pile up beyond.
	now, step := new(big.Int), new(big.Int)
	for len(order) > 0 || len(m.queue) > 0 {
		if len(m.queue) == 0 && len(order) > 0 && now.Cmp(step.SetInt64(m.release[order[0]])) < 0 {
			now.Set(step)
		}
		for len(order) > 0 && now.Cmp(step.SetInt64(m.release[order[0]])) >= 0 {
			heap.Push((*queue)(m), order[0])
			order = order[1:]
		}
		j := m.queue[0]
		length := m.left[j]
		if len(order) > 0 {
			length = min(length, m.release[order[0]]-now.Int64())
		}
		m.left[j] -= length
		served(j, now, length, m.left[j] == 0)
		if m.left[j] == 0 {
			heap.Pop((*queue)(m))
		}
		now.Add(now, step.SetInt64(length))
	}
}

// queue makes the machine's queue a heap.
type queue machine

func (q *queue) Len() int           { return len(q.queue) }
func (q *queue) Less(a, b int) bool { return q.before(q.queue[a], q.queue[b]) }
func (q *queue) Swap(a, b int)      { q.queue[a], q.queue[b] = q.queue[b], q.queue[a] }
func (q *queue) Push(j any)         { q.queue = append(q.queue, j.(int)) }
func (q *queue) Pop() any {
	last := q.queue[len(q.queue)-1]
	q.queue = q.queue[:len(q.queue)-1]
	return last
}
