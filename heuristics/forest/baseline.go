package forest

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/bits"

	"yardstick/sched"
)

// of returns the job's key, and false if it has none.
func (k Key) of(j *sched.PastJob) (string, bool) {
	switch k {
	case ByGroup:
		return j.Group, j.Group != ""
	case ByUser:
		return j.User, j.User != ""
	case Overall:
		return "", true
	}
	panic(fmt.Sprintf("forest: no key %d", k))
}

// means is the model of NewMean: a count and a sum of 128 bits per key.
type means struct {
	key  Key
	sums map[string]sum
}

type sum struct{ n, high, low uint64 }

func (m *means) learn(jobs []sched.PastJob) error {
	if m.sums == nil {
		m.sums = make(map[string]sum)
	}
	for i := range jobs {
		if key, ok := m.key.of(&jobs[i]); ok {
			s := m.sums[key]
			var carry uint64
			s.low, carry = bits.Add64(s.low, uint64(jobs[i].Iters), 0)
			s.high += carry
			s.n++
			m.sums[key] = s
		}
	}
	return nil
}

func (m *means) predict(j sched.PastJob) int64 {
	key, _ := m.key.of(&j)
	s := m.sums[key] // a job without a key finds none: "" is only learnt overall
	if s.n == 0 {
		return 0
	}
	// Rounded to nearest: floor((sum + floor(n/2))/n). The mean is below 2⁶³, so
	// the quotient fits.
	low, carry := bits.Add64(s.low, s.n/2, 0)
	mean, _ := bits.Div64(s.high+carry, low, s.n)
	return int64(mean)
}

// medians is the model of NewMedian: per key the lower and the upper half of
// the numbers seen, as heaps with the middle on top.
type medians struct {
	key    Key
	halves map[string]*halves
}

// halves: every number in lower is at most every one in upper, and lower has as
// many as upper or one more. Lower holds complements ^n, which reverses the
// order: the top is its greatest.
type halves struct{ lower, upper numbers }

func (m *medians) learn(jobs []sched.PastJob) error {
	if m.halves == nil {
		m.halves = make(map[string]*halves)
	}
	for i := range jobs {
		key, ok := m.key.of(&jobs[i])
		if !ok {
			continue
		}
		h := m.halves[key]
		if h == nil {
			h = &halves{}
			m.halves[key] = h
		}
		h.add(jobs[i].Iters)
	}
	return nil
}

func (h *halves) add(n int64) {
	// Through lower into upper, then back if upper has become the larger half.
	heap.Push(&h.lower, ^n)
	heap.Push(&h.upper, ^heap.Pop(&h.lower).(int64))
	if len(h.upper) > len(h.lower) {
		heap.Push(&h.lower, ^heap.Pop(&h.upper).(int64))
	}
}

func (m *medians) predict(j sched.PastJob) int64 {
	key, _ := m.key.of(&j)
	h := m.halves[key]
	if h == nil {
		return 0
	}
	low := ^h.lower[0]
	if len(h.lower) > len(h.upper) {
		return low
	}
	// The mean of the middle two, halves up, without overflow.
	gap := h.upper[0] - low
	return low + gap/2 + gap%2
}

// numbers is a heap with the least on top.
type numbers []int64

func (h numbers) Len() int           { return len(h) }
func (h numbers) Less(i, j int) bool { return cmp.Less(h[i], h[j]) }
func (h numbers) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *numbers) Push(x any)        { *h = append(*h, x.(int64)) }
func (h *numbers) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
