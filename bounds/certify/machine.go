package certify

import (
	"container/heap"
	"math/big"
	"slices"
)

// machine is one machine of unit speed that serves released jobs, preemptively,
// always one of least key. Times are in units that make releases and sizes
// integers.
type machine struct {
	release, size []int64
	key           []int64 // nil: what is left of a job
}

// stretch is a time during which a job is served.
type stretch struct {
	job    int
	from   *big.Int // not to be kept
	length int64
	last   bool
}

// run calls served for every stretch, in order of time. Jobs of size 0 are never
// served. At a release the machine chooses again; sizes are below 2^63, but the
// time after the last release may be anything.
func (m *machine) run(served func(stretch)) {
	var order []int
	for j, p := range m.size {
		if p > 0 {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return sign(m.release[a], m.release[b]) })
	w := &waiting{left: slices.Clone(m.size), key: m.key}
	if w.key == nil {
		w.key = w.left
	}
	now, end := new(big.Int), new(big.Int)
	for len(order) > 0 || len(w.jobs) > 0 {
		if len(w.jobs) == 0 {
			if end.SetInt64(m.release[order[0]]); end.Cmp(now) > 0 {
				now.Set(end)
			}
		}
		for len(order) > 0 && end.SetInt64(m.release[order[0]]).Cmp(now) <= 0 {
			heap.Push(w, order[0])
			order = order[1:]
		}
		j := w.jobs[0]
		length := w.left[j]
		if len(order) > 0 { // the next release is after now, so now fits an int64
			length = min(length, sub(m.release[order[0]], small(now)))
		}
		w.left[j] = sub(w.left[j], length) // it keeps its place: no other has less left than this one had
		last := w.left[j] == 0
		if last {
			heap.Pop(w)
		}
		served(stretch{j, now, length, last})
		now.Add(now, end.SetInt64(length))
	}
}

func sign(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// waiting is a heap of released jobs.
type waiting struct {
	left, key []int64
	jobs      []int
}

func (w *waiting) Len() int           { return len(w.jobs) }
func (w *waiting) Less(i, j int) bool { return w.key[w.jobs[i]] < w.key[w.jobs[j]] }
func (w *waiting) Swap(i, j int)      { w.jobs[i], w.jobs[j] = w.jobs[j], w.jobs[i] }
func (w *waiting) Push(x any)         { w.jobs = append(w.jobs, x.(int)) }
func (w *waiting) Pop() any {
	n := len(w.jobs) - 1
	j := w.jobs[n]
	w.jobs = w.jobs[:n]
	return j
}

// completions returns the completion times in ascending order.
func (m *machine) completions() []*big.Int {
	var out []*big.Int
	m.run(func(s stretch) {
		if s.last {
			out = append(out, new(big.Int).Add(s.from, big.NewInt(s.length)))
		}
	})
	return out
}

// moments returns 2∫t over the service of each job.
func (m *machine) moments() []*big.Int {
	out := make([]*big.Int, len(m.size))
	for j := range out {
		out[j] = new(big.Int)
	}
	var length, twice big.Int
	m.run(func(s stretch) {
		length.SetInt64(s.length)
		twice.Lsh(s.from, 1)
		twice.Add(&twice, &length)
		out[s.job].Add(out[s.job], twice.Mul(&twice, &length))
	})
	return out
}

// bySmith returns keys that put jobs in order of falling weight per size.
func bySmith(weight []*big.Rat, size []int64) []int64 {
	order := make([]int, len(size))
	equal := true
	for j := range order {
		order[j] = j
		equal = equal && weight[j].Cmp(weight[0]) == 0
	}
	var left, right big.Rat
	slices.SortStableFunc(order, func(a, b int) int {
		if equal {
			return sign(size[a], size[b])
		}
		left.Mul(weight[b], right.SetInt64(size[a]))
		right.Mul(weight[a], right.SetInt64(size[b]))
		return left.Cmp(&right)
	})
	key := make([]int64, len(order))
	for k, j := range order {
		key[j] = int64(k)
	}
	return key
}
