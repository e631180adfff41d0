package lazer

import (
	"cmp"
	"container/heap"

	"yardstick/sched"
)

// waiting is a queue of jobs by (remaining time, index), one heap per gang
// size: taking the first job that fits looks at each size once, however many
// jobs wait.
type waiting struct {
	sizes map[int]*byRemaining
	count int
}

type entry struct {
	remaining sched.Time
	id        sched.JobID
}

func (e entry) compare(o entry) int {
	return cmp.Or(cmp.Compare(e.remaining, o.remaining), cmp.Compare(e.id, o.id))
}

func (w *waiting) push(gang int, e entry) {
	if w.sizes == nil {
		w.sizes = map[int]*byRemaining{}
	}
	h := w.sizes[gang]
	if h == nil {
		h = &byRemaining{}
		w.sizes[gang] = h
	}
	heap.Push(h, e)
	w.count++
}

// first returns the first job of at most so many GPUs, and its gang.
func (w *waiting) first(gpus int) (best entry, gang int, ok bool) {
	for g, h := range w.sizes {
		if g <= gpus && len(*h) > 0 && (!ok || (*h)[0].compare(best) < 0) {
			best, gang, ok = (*h)[0], g, true
		}
	}
	return best, gang, ok
}

// pop removes the first job of a gang size.
func (w *waiting) pop(gang int) entry {
	w.count--
	return heap.Pop(w.sizes[gang]).(entry)
}

type byRemaining []entry

func (h byRemaining) Len() int           { return len(h) }
func (h byRemaining) Less(i, j int) bool { return h[i].compare(h[j]) < 0 }
func (h byRemaining) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byRemaining) Push(x any)        { *h = append(*h, x.(entry)) }
func (h *byRemaining) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
