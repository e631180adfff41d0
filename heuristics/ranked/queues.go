package ranked

import (
	"cmp"
	"container/heap"
)

// queues is the waiting jobs, one heap by rank per gang size: taking the first job that
// fits looks at each size once, however many jobs wait.
type queues struct{ bySize []*queue }

// queue is the waiting jobs of a gang size. An entry whose job waits no more, or with
// another rank, does not count.
type queue struct {
	gang    int
	entries []entry
}

type entry struct {
	job  *job
	rank rank
}

func (e *entry) counts() bool { return e.job.phase == waiting && e.job.rank == e.rank }

func (e *entry) before(f *entry) bool {
	return cmp.Or(e.rank.compare(f.rank), cmp.Compare(e.job.release, f.job.release), cmp.Compare(e.job.id, f.job.id)) < 0
}

func (w *queues) push(j *job) {
	for _, q := range w.bySize {
		if q.gang == j.gang {
			heap.Push(q, entry{j, j.rank})
			return
		}
	}
	w.bySize = append(w.bySize, &queue{gang: j.gang, entries: []entry{{j, j.rank}}})
}

// empty reports whether no job waits.
func (w *queues) empty() bool {
	for _, q := range w.bySize {
		if q.head() != nil {
			return false
		}
	}
	return true
}

// first returns the queue of the first job of at most so many GPUs, or nil.
func (w *queues) first(gpus int) *queue {
	var best *queue
	for _, q := range w.bySize {
		if q.gang <= gpus && q.head() != nil && (best == nil || compare(q.head(), best.head()) < 0) {
			best = q
		}
	}
	return best
}

// head returns the first job, or nil.
func (q *queue) head() *job {
	for len(q.entries) > 0 {
		if e := &q.entries[0]; e.counts() {
			return e.job
		}
		heap.Pop(q)
	}
	return nil
}

// pop removes the first job.
func (q *queue) pop() *job { return heap.Pop(q).(entry).job }

func (q *queue) Len() int           { return len(q.entries) }
func (q *queue) Less(i, j int) bool { return q.entries[i].before(&q.entries[j]) }
func (q *queue) Swap(i, j int)      { q.entries[i], q.entries[j] = q.entries[j], q.entries[i] }
func (q *queue) Push(x any)         { q.entries = append(q.entries, x.(entry)) }
func (q *queue) Pop() any {
	last := len(q.entries) - 1
	e := q.entries[last]
	q.entries = q.entries[:last]
	return e
}
