package sharing

import (
	"fmt"
	"math"
	"math/bits"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// waiting is a job that waits.
type waiting struct {
	solo    int64 // L: what it needs alone, in nanoseconds
	iters   int64 // predicted
	release sched.Time
	id      sched.JobID
	gang    int
}

func (w *waiting) before(x *waiting) bool {
	switch {
	case w.solo != x.solo:
		return w.solo < x.solo
	case w.release != x.release:
		return w.release < x.release
	}
	return w.id < x.id
}

// class is the waiting jobs of one task, gang and list of options, the shortest
// first. If it finds no GPUs, neither do the others: they look for the same and
// join fewer running jobs.
type class struct {
	gang    int
	options frontier
	varied  bool      // interference depends on which
	queue   []waiting // a binary heap

	// retryAt is how many GPUs must have become available, see line.gained,
	// before the first job can find enough.
	retryAt int64
	aside   []waiting // jobs that this pass has refused but that did find GPUs
}

// line is all waiting jobs.
type line struct {
	classes []*class
	byKey   map[string]*class
	heads   []*class // scratch: the classes to look at, a heap by their first jobs

	// gained counts the GPUs that a completion has left to one job or none.
	// The GPUs that a class could use become more by no other event: running
	// jobs only get closer to their ends.
	gained int64
}

// push adds an arrived job.
func (l *line) push(v *sim.View, id sched.JobID, memory sched.Bytes) error {
	j, err := v.Job(id)
	if err != nil {
		return err
	}
	k := key(j.Gang, j.Sharing)
	c := l.byKey[k]
	if c == nil {
		c = &class{gang: j.Gang, options: newFrontier(j.Sharing, memory)}
		c.varied = c.options.varied()
		if len(c.options) == 0 {
			return fmt.Errorf("sharing: job %d fits no GPU of %v", id, memory)
		}
		if l.byKey == nil {
			l.byKey = map[string]*class{}
		}
		l.byKey[k] = c
		l.classes = append(l.classes, c)
	}
	w, err := measure(v, &j, c.options[0].Iter)
	if err != nil {
		return err
	}
	c.push(w)
	if c.queue[0].id == id {
		c.retryAt = 0
	}
	return nil
}

// measure returns the job with the time it needs alone.
func measure(v *sim.View, j *sim.Job, iter sched.Duration) (waiting, error) {
	n, err := v.Predicted(j.ID)
	if err != nil {
		return waiting{}, err
	}
	high, solo := bits.Mul64(uint64(n), uint64(iter))
	if high > 0 || solo > math.MaxInt64 {
		return waiting{}, fmt.Errorf("sharing: job %d: %d iterations of %v are too long", j.ID, n, iter)
	}
	return waiting{solo: int64(solo), iters: n, release: j.Release, id: j.ID, gang: j.Gang}, nil
}

// open leaves in l.heads the classes that may find GPUs now.
func (l *line) open() {
	l.heads = l.heads[:0]
	for _, c := range l.classes {
		if len(c.queue) > 0 && l.gained >= c.retryAt {
			l.heads = append(l.heads, c)
		}
	}
	for i := len(l.heads)/2 - 1; i >= 0; i-- {
		l.sink(i)
	}
}

// first returns the class of the first job of the open classes, or nil.
func (l *line) first() *class {
	if len(l.heads) == 0 {
		return nil
	}
	return l.heads[0]
}

// drop closes the first class for this pass.
func (l *line) drop() {
	last := len(l.heads) - 1
	l.heads[0] = l.heads[last]
	l.heads = l.heads[:last]
	if last > 0 {
		l.sink(0)
	}
}

// next removes the first job of the first class.
func (l *line) next() {
	c := l.heads[0]
	c.pop()
	if len(c.queue) == 0 {
		l.drop()
		return
	}
	l.sink(0)
}

func (l *line) sink(i int) {
	h := l.heads
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if r := child + 1; r < len(h) && h[r].queue[0].before(&h[child].queue[0]) {
			child = r
		}
		if !h[child].queue[0].before(&h[i].queue[0]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

func (c *class) push(w waiting) {
	c.queue = append(c.queue, w)
	i := len(c.queue) - 1
	for i > 0 && w.before(&c.queue[(i-1)/2]) {
		c.queue[i] = c.queue[(i-1)/2]
		i = (i - 1) / 2
	}
	c.queue[i] = w
}

func (c *class) pop() {
	last := len(c.queue) - 1
	w := c.queue[last]
	c.queue = c.queue[:last]
	for i := 0; i < last; {
		child := 2*i + 1
		if r := child + 1; r < last && c.queue[r].before(&c.queue[child]) {
			child = r
		}
		if child >= last || !c.queue[child].before(&w) {
			c.queue[i] = w
			break
		}
		c.queue[i] = c.queue[child]
		i = child
	}
}
