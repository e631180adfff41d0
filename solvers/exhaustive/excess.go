package exhaustive

import (
	"math/bits"
	"sort"

	"yardstick/bounds"
	"yardstick/internal/number"
)

// excess is by how much the starts of a job exceed its best one under the prices, in
// units of cost. It is linear between the points of at, and no job starts after the
// last in a schedule that costs less than the incumbent.
type excess struct {
	at, cost, later []int64 // later[k] is the least of cost from k on
}

func newExcess(list []bounds.Excess) excess {
	n := len(list)
	e := excess{make([]int64, n), make([]int64, n), make([]int64, n+1)}
	e.later[n] = never
	for k := n - 1; k >= 0; k-- {
		e.at[k], e.cost[k] = int64(list[k].At), list[k].Cost
		e.later[k] = min(e.cost[k], e.later[k+1])
	}
	return e
}

// of returns no more than a start at t exceeds by, and false if it is after the last.
// Between two points it is no more than what is between their costs.
func (e *excess) of(t int64) (cost int64, next int, ok bool) {
	next = sort.Search(len(e.at), func(k int) bool { return e.at[k] >= t })
	switch {
	case next == len(e.at):
		return 0, next, false
	case next == 0 || e.at[next] == t:
		return e.cost[next], next, true
	}
	a, b := e.cost[next-1], e.cost[next]
	share := func(v int64) int64 { // of the way
		hi, lo := bits.Mul64(uint64(v), uint64(t-e.at[next-1]))
		q, _ := bits.Div64(hi, lo, uint64(e.at[next]-e.at[next-1]))
		return int64(q)
	}
	if b >= a {
		return a + share(b-a), next, true
	}
	return max(b, a-share(a-b)-1), next, true
}

// from returns no more than the best start from t on exceeds by.
func (e *excess) from(t int64) (int64, bool) {
	if t <= e.at[0] {
		return e.later[0], true
	}
	cost, next, ok := e.of(t)
	return min(cost, e.later[next]), ok
}

// priced returns what the prices prove of a node: L, the excesses of the jobs started
// and, of those that wait, of their best starts from now on.
func (s *search) priced() number.Uint128 {
	if s.force.excess == nil {
		return number.Uint128{}
	}
	sum := s.force.exceeds
	for set := s.waiting; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		cost, ok := s.force.excess[i].from(s.now)
		if !ok {
			return unreachable
		}
		sum += cost
	}
	return s.force.least.Plus(number.Uint128{Lo: uint64(sum)})
}
