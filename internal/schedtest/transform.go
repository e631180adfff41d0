package schedtest

import (
	"slices"

	"yardstick/sched"
)

// Scale multiplies every time by k: releases, computation, loads, pauses, slot
// and deadline, and the sizes of what is moved, which is the same as dividing
// the bandwidths. Elastic instances are not supported.
//
// Effect: where all running times are whole microseconds, as with Shape.Slot,
// every schedule scales and so does the optimum of every objective in time.
// Otherwise rounding up once per job leaves it at most k times as large.
func Scale(in *sched.Instance, k int64) *sched.Instance {
	out := *in
	out.Slot *= sched.Time(k)
	out.Deadline *= sched.Time(k)
	out.Jobs = slices.Clone(in.Jobs)
	for i := range out.Jobs {
		j := &out.Jobs[i]
		j.Release, j.Load, j.Pause = j.Release*sched.Time(k), j.Load*sched.Time(k), j.Pause*sched.Time(k)
		j.Stages = slices.Clone(j.Stages)
		for s := range j.Stages {
			st := &j.Stages[s]
			st.Compute, st.Params, st.Boundary = st.Compute*sched.Duration(k), st.Params*sched.Bytes(k), st.Boundary*sched.Bytes(k)
			st.SliceSync *= sched.Bytes(k)
		}
		j.Edges = slices.Clone(j.Edges)
		for e := range j.Edges {
			j.Edges[e].Bytes *= sched.Bytes(k)
		}
		if j.Sharing != nil {
			sh := *j.Sharing
			sh.Accumulation = slices.Clone(sh.Accumulation)
			for a := range sh.Accumulation {
				sh.Accumulation[a].Iter *= sched.Duration(k)
			}
			j.Sharing = &sh
		}
	}
	must(&out)
	return &out
}

// PermuteJobs returns the instance with job perm[i] in place i.
// Effect: none on the optimum.
func PermuteJobs(in *sched.Instance, perm []int) *sched.Instance {
	out := *in
	out.Jobs = permute(in.Jobs, perm)
	return &out
}

// PermuteServers returns the instance with server perm[m] in place m.
// Effect: none on the optimum.
func PermuteServers(in *sched.Instance, perm []int) *sched.Instance {
	out := *in
	out.Cluster.Servers = permute(in.Cluster.Servers, perm)
	return &out
}

func permute[T any](list []T, perm []int) []T {
	out := make([]T, len(list))
	for i, p := range perm {
		out[i] = list[p]
	}
	return out
}

// AddServer returns the instance with one more server.
// Effect: no minimal cost rises. (That of an online policy may.)
func AddServer(in *sched.Instance, s sched.Server) *sched.Instance {
	out := *in
	out.Cluster.Servers = append(slices.Clone(in.Cluster.Servers), s)
	must(&out)
	return &out
}

// ShiftReleases returns the instance with every release, and the deadline if
// there is one, later by d.
// Effect: every optimal completion time is later by d, and so no job
// completion time changes.
func ShiftReleases(in *sched.Instance, d sched.Time) *sched.Instance {
	out := *in
	out.Jobs = slices.Clone(in.Jobs)
	for i := range out.Jobs {
		out.Jobs[i].Release += d
	}
	if out.Deadline > 0 {
		out.Deadline += d
	}
	must(&out)
	return &out
}
