package placing

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
)

// Chain fills the parts, the largest first and then in the order given, with
// the replicas in pipeline order: what a scheduler does that does not look at
// communication.
func Chain(in *sched.Instance, servers, parts []int) (sched.Placement, error) {
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return parts[b] - parts[a] })
	return intervalsOf(in, servers, parts, order), nil
}

// maxIntervalStates bounds the dynamic program of Intervals.
const maxIntervalStates = 500_000

// Intervals returns the best placement of those that give every part an
// interval of the replicas in pipeline order: of all orders of the parts, one
// with the least iteration time.
//
// Parts are told apart by their own and their servers' sizes. A state is how
// many parts of each kind are used; the replicas that they hold follow. With
// f(0) = 0 and beta(k, e) the greatest stage time of the interval that ends with
// replica e on a part of kind k,
//
//	f(u) = min over kinds k with u_k > 0 of max(f(u − 1_k), beta(k, Σ u_k g_k)).
//
// Cost: O(Π (n_k + 1) · kinds).
//
// Errors: sched.ErrNotApplicable beyond 500,000 states.
func Intervals(in *sched.Instance, servers, parts []int) (sched.Placement, error) {
	type kind struct{ part, size int }
	var kinds []kind
	var members [][]int // indices of parts
	for i, n := range parts {
		k := kind{n, in.Cluster.Servers[servers[i]].GPUs}
		at := slices.Index(kinds, k)
		if at < 0 {
			at = len(kinds)
			kinds, members = append(kinds, k), append(members, nil)
		}
		members[at] = append(members[at], i)
	}
	states, radix := 1, make([]int, len(kinds))
	for k := range kinds {
		radix[k] = states
		if states *= len(members[k]) + 1; states > maxIntervalStates {
			return sched.Placement{}, fmt.Errorf("placing: %w: more than %d ways to use up the parts: too large to enumerate", sched.ErrNotApplicable, maxIntervalStates)
		}
	}
	used := func(state, k int) int { return state / radix[k] % (len(members[k]) + 1) }
	end := make([]int, states)
	// The times of all intervals, as ranks: dynamic programming needs but order.
	var times []ranked
	at := make([][]int, len(kinds)) // by end, one more than the index in times; 0 is none
	for k := range at {
		at[k] = make([]int, in.Jobs[0].Gang()+1)
	}
	for state := 1; state < states; state++ {
		for k, kind := range kinds {
			if used(state, k) == 0 {
				continue
			}
			e := end[state-radix[k]] + kind.part
			if end[state] = e; at[k][e] == 0 {
				times = append(times, ranked{value: intervalTime(in, e-kind.part, e, kind.size)})
				at[k][e] = len(times)
			}
		}
	}
	rank(times)
	value, choice := make([]int, states), make([]int, states)
	for state := 1; state < states; state++ {
		value[state] = math.MaxInt
		for k := range kinds {
			if used(state, k) == 0 {
				continue
			}
			if v := max(value[state-radix[k]], times[at[k][end[state]]-1].rank); v < value[state] {
				value[state], choice[state] = v, k
			}
		}
	}
	var order []int // of the parts, last first
	for state := states - 1; state > 0; state -= radix[choice[state]] {
		k := choice[state]
		order = append(order, members[k][used(state, k)-1])
	}
	slices.Reverse(order)
	return intervalsOf(in, servers, parts, order), nil
}

// ranked is a value and its rank among others; equal values have equal ranks.
type ranked struct {
	value *big.Rat
	rank  int
}

func rank(list []ranked) {
	order := make([]*ranked, len(list))
	for i := range list {
		order[i] = &list[i]
	}
	slices.SortFunc(order, func(a, b *ranked) int { return a.value.Cmp(b.value) })
	for i := 1; i < len(order); i++ {
		order[i].rank = order[i-1].rank
		if order[i-1].value.Cmp(order[i].value) < 0 {
			order[i].rank++
		}
	}
}

// interval returns how many replicas of each stage are among those from begin
// to end − 1, in pipeline order.
func interval(j *sched.Job, begin, end int) []int {
	counts := make([]int, len(j.Stages))
	first := 0
	for s, st := range j.Stages {
		last := first + st.Replicas
		counts[s] = max(0, min(end, last)-max(begin, first))
		first = last
	}
	return counts
}

// intervalTime returns the greatest stage time of an interval on a server of
// the given size.
func intervalTime(in *sched.Instance, begin, end, size int) *big.Rat {
	counts := interval(&in.Jobs[0], begin, end)
	beside := func(s int) int {
		if s < 0 || s >= len(counts) {
			return 0
		}
		return counts[s]
	}
	worst := new(big.Rat)
	for s, x := range counts {
		if x > 0 {
			if v := in.StageTime(0, s, beside(s-1), x, beside(s+1), size); v.Cmp(worst) > 0 {
				worst = v
			}
		}
	}
	return worst
}

// intervalsOf gives the parts intervals in the given order. Servers are
// ascending.
func intervalsOf(in *sched.Instance, servers, parts, order []int) sched.Placement {
	p := sched.Placement{Shares: make([]sched.Share, len(parts))}
	begin := 0
	for _, i := range order {
		p.Shares[i] = sched.Share{Server: servers[i], GPUs: parts[i], Stages: interval(&in.Jobs[0], begin, begin+parts[i])}
		begin += parts[i]
	}
	return p
}
