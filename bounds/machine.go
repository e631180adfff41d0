package bounds

import "slices"

// machine is a single machine of unit speed that serves released jobs one at a
// time, preemptively, always one of least rank; or, if rank is nil, one of
// least remaining size.
//
// Service only moves the served job forward, so that only releases preempt.
type machine struct {
	release, size []int64
	rank          []int64
	queue         []waiting // a binary heap
}

// waiting is a released, unfinished job.
type waiting struct {
	key, left int64
	job       int32
}

// service is a stretch of service: a job from start on, for length units; done
// if that completes it.
type service struct {
	job    int
	start  uint192
	length int64
	done   bool
}

// run serves all jobs and calls served for every stretch, in order of time.
// Cost: O(n log n) and at most 2n calls.
func (m *machine) run(served func(*service)) {
	order := make([]int32, len(m.release))
	for j := range order {
		order[j] = int32(j)
	}
	if !slices.IsSorted(m.release) {
		slices.SortStableFunc(order, func(a, b int32) int {
			switch {
			case m.release[a] < m.release[b]:
				return -1
			case m.release[a] > m.release[b]:
				return 1
			}
			return 0
		})
	}
	var s service
	now := &s.start // until the last release it fits an int64; after it, sizes pile up beyond
	for len(order) > 0 || len(m.queue) > 0 {
		if len(m.queue) == 0 && !now.reaches(uint64(m.release[order[0]])) {
			*now = uint192{uint64(m.release[order[0]])}
		}
		for len(order) > 0 && now.reaches(uint64(m.release[order[0]])) {
			m.push(order[0])
			order = order[1:]
		}
		top := &m.queue[0]
		s.job, s.length = int(top.job), top.left
		if len(order) > 0 {
			s.length = min(s.length, m.release[order[0]]-int64(now[0]))
		}
		top.left -= s.length
		if m.rank == nil {
			top.key = top.left // it stays the least
		}
		if s.done = top.left == 0; s.done {
			m.pop()
		}
		served(&s)
		now.addWord(uint64(s.length))
	}
}

func (m *machine) push(j int32) {
	w := waiting{key: m.size[j], left: m.size[j], job: j}
	if m.rank != nil {
		w.key = m.rank[j]
	}
	m.queue = append(m.queue, w)
	i := len(m.queue) - 1
	for i > 0 && m.queue[(i-1)/2].key > w.key {
		m.queue[i] = m.queue[(i-1)/2]
		i = (i - 1) / 2
	}
	m.queue[i] = w
}

// pop removes the first job of the queue.
func (m *machine) pop() {
	last := len(m.queue) - 1
	w := m.queue[last]
	m.queue = m.queue[:last]
	for i := 0; i < last; {
		child := 2*i + 1
		if child+1 < last && m.queue[child+1].key < m.queue[child].key {
			child++
		}
		if child >= last || m.queue[child].key >= w.key {
			m.queue[i] = w
			break
		}
		m.queue[i] = m.queue[child]
		i = child
	}
}
