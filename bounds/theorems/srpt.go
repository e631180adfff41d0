package theorems

import (
	"cmp"
	"container/heap"
	"math/big"
	"slices"

	"yardstick/sched"
)

// SRPT returns when one machine of unit speed completes each job if it always
// serves the released job with the least remaining size, preempting at no cost;
// equal ones in the order of before. The sum is the least total completion time
// of all preemptive schedules.
//
// Shape: one release, size and completion per job; sizes are not negative.
// Units: microseconds. Cost: O(n log n) operations on integers, which are the
// times multiplied by the common denominator of all sizes.
//
// Source: Schrage, A proof of the optimality of the shortest remaining
// processing time discipline (1968).
func SRPT(release []sched.Time, size []*big.Rat, before func(a, b int) bool) []*big.Rat {
	unit := commonDenominator(size)
	m := &machine{left: make([]*big.Int, len(size)), before: before}
	order := make([]int, len(size))
	for i, q := range size {
		order[i] = i
		m.left[i] = new(big.Int).Quo(unit, q.Denom())
		m.left[i].Mul(m.left[i], q.Num())
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(release[a], release[b]), cmp.Compare(a, b)) })
	scaled := func(t sched.Time) *big.Int { return new(big.Int).Mul(big.NewInt(int64(t)), unit) }

	completion := make([]*big.Rat, len(size))
	now := new(big.Int)
	for len(order) > 0 || len(m.queue) > 0 {
		if len(m.queue) == 0 {
			now = scaled(release[order[0]])
		}
		for len(order) > 0 && scaled(release[order[0]]).Cmp(now) <= 0 {
			heap.Push(m, order[0])
			order = order[1:]
		}
		i := m.queue[0]
		end := new(big.Int).Add(now, m.left[i])
		if len(order) > 0 {
			if next := scaled(release[order[0]]); next.Cmp(end) < 0 {
				m.left[i].Sub(end, next)
				now = next
				continue
			}
		}
		completion[i] = new(big.Rat).SetFrac(end, unit)
		heap.Pop(m)
		now = end
	}
	return completion
}

func commonDenominator(values []*big.Rat) *big.Int {
	unit := big.NewInt(1)
	rest := new(big.Int)
	for _, v := range values {
		if rest.Rem(unit, v.Denom()).Sign() == 0 {
			continue
		}
		shared := rest.GCD(nil, nil, unit, v.Denom())
		unit.Mul(unit, new(big.Int).Quo(v.Denom(), shared))
	}
	return unit
}

// machine is a heap of released jobs by remaining size. Only the first is
// served, and its size only shrinks.
type machine struct {
	left   []*big.Int
	before func(a, b int) bool
	queue  []int
}

func (m *machine) Len() int      { return len(m.queue) }
func (m *machine) Swap(a, b int) { m.queue[a], m.queue[b] = m.queue[b], m.queue[a] }
func (m *machine) Push(j any)    { m.queue = append(m.queue, j.(int)) }

func (m *machine) Less(a, b int) bool {
	i, k := m.queue[a], m.queue[b]
	if c := m.left[i].Cmp(m.left[k]); c != 0 {
		return c < 0
	}
	return m.before(i, k)
}

func (m *machine) Pop() any {
	last := m.queue[len(m.queue)-1]
	m.queue = m.queue[:len(m.queue)-1]
	return last
}
