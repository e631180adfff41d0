package placing

import (
	"slices"

	"yardstick/sched"
	"yardstick/solvers/partition"
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

// Intervals returns the best placement of those that give every part an interval of the
// replicas in pipeline order, as [partition.Intervals] does.
func Intervals(in *sched.Instance, servers, parts []int) (sched.Placement, error) {
	return partition.Intervals(in, 0, servers, parts)
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
