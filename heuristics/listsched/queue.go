package listsched

import "yardstick/sched"

// waiting is a job in a queue.
type waiting struct {
	key     int64
	release sched.Time
	job     sched.JobID
	gang    int32
	sliced  bool // some replica has several GPUs
}

func (w *waiting) before(x *waiting) bool {
	switch {
	case w.key != x.key:
		return w.key < x.key
	case w.release != x.release:
		return w.release < x.release
	}
	return w.job < x.job
}

// queue is a binary heap of waiting jobs.
type queue []waiting

func (q *queue) push(w waiting) {
	*q = append(*q, w)
	h := *q
	i := len(h) - 1
	for i > 0 && w.before(&h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = w
}

func (q *queue) pop() waiting {
	h := *q
	top, w := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	for i := 0; len(h) > 0; {
		child := 2*i + 1
		if right := child + 1; right < len(h) && h[right].before(&h[child]) {
			child = right
		}
		if child >= len(h) || !h[child].before(&w) {
			h[i] = w
			break
		}
		h[i] = h[child]
		i = child
	}
	return top
}
