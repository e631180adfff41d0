package schedtest

import (
	"math/rand/v2"
	"slices"

	"yardstick/sched"
)

// Sliced returns the instance with tensor slices and stage graphs in some jobs:
// single-GPU replicas of random stages are joined to replicas of one of the
// given numbers of slices, as far as the job then still fits the empty cluster,
// and every other chain of several stages becomes a random acyclic graph. Gangs
// stay as they are. Sizes are up to twice those of the stages' own.
func Sliced(r *rand.Rand, in *sched.Instance, widths ...int) *sched.Instance {
	out := *in
	out.Jobs = slices.Clone(in.Jobs)
	upTo := func(b sched.Bytes) sched.Bytes { return sched.Bytes(r.Int64N(2*int64(b) + 1)) }
	for i := range out.Jobs {
		j := &out.Jobs[i]
		j.Stages = slices.Clone(j.Stages)
		for k := range j.Stages {
			slice(&out.Cluster, j, k, widths[r.IntN(len(widths))])
			j.Stages[k].SliceSync = upTo(j.Stages[k].Params)
		}
		if len(j.Stages) < 2 || r.IntN(2) == 0 {
			continue
		}
		for k, before := range slices.Clone(j.Stages) {
			j.Stages[k].Boundary = 0
			for u := k + 1; u < len(j.Stages); u++ {
				if r.IntN(3) > 0 {
					j.Edges = append(j.Edges, sched.Edge{From: k, To: u, Bytes: upTo(before.Boundary)})
				}
			}
		}
	}
	must(&out)
	return &out
}

// slice joins the single-GPU replicas of stage k to replicas of so many slices,
// if they are a multiple of it and the job then still fits the empty cluster.
func slice(c *sched.Cluster, j *sched.Job, k, width int) {
	st, before := &j.Stages[k], j.Stages[k]
	if st.Replicas%width != 0 {
		return
	}
	st.Replicas, st.Slices = st.Replicas/width, width
	room := make([]int, len(c.Servers))
	for m := range room {
		room[m] = c.Servers[m].GPUs
	}
	if sched.Pack(j.Widths(), room) == nil {
		*st = before
	}
}

// graph joins the stages of a job at random. What an edge moves is as in traffic
// and slottedTraffic; without Shape.Traffic it moves nothing.
func graph(r *rand.Rand, s Shape, j *sched.Job) {
	for from := range j.Stages {
		j.Stages[from].Boundary = 0
		for to := from + 1; to < len(j.Stages); to++ {
			bytes := sched.Bytes(0)
			switch {
			case r.IntN(3) == 0:
				continue
			case s.Traffic && s.Slot == 0:
				bytes = sched.Bytes(r.Int64N(1e8))
			case s.Traffic:
				bytes = slottedVolume(j.Stages, from, to, s.Slot)
			}
			j.Edges = append(j.Edges, sched.Edge{From: from, To: to, Bytes: bytes})
		}
	}
}

// slottedVolume returns a number of bytes between two stages that takes whole
// slots to move: see slottedTraffic.
func slottedVolume(stages []sched.Stage, a, b int, slot sched.Time) sched.Bytes {
	n := 1
	for _, s := range []int{a, b} {
		n *= stages[s].Replicas * max(1, stages[s].Slices)
	}
	return sched.Bytes(500*slot) * sched.Bytes(n)
}

// wholeReplicas puts the replicas of a job, in a random order, on random servers
// with so much room, half the time on the first in a random order; where that
// leads nowhere, as sched.Pack does. It returns how many of each stage are on
// each server, or nil if they do not fit.
func wholeReplicas(r *rand.Rand, j *sched.Job, free []int) [][]int {
	order, consolidate := r.Perm(len(free)), r.IntN(2) == 0
	room := make([]int, len(free))
	for i, m := range order {
		room[i] = free[m]
	}
	fill := sched.Pack(j.Widths(), room)
	if fill == nil {
		return nil
	}
	var replicas []int // their stages
	for s := range j.Stages {
		replicas = append(replicas, slices.Repeat([]int{s}, j.Stages[s].Replicas)...)
	}
	r.Shuffle(len(replicas), func(a, b int) { replicas[a], replicas[b] = replicas[b], replicas[a] })
	counts := rows(len(free), len(j.Stages))
	left := slices.Clone(free)
	for _, s := range replicas {
		if !consolidate {
			r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		}
		i := slices.IndexFunc(order, func(m int) bool { return left[m] >= j.Slices(s) })
		if i < 0 {
			return packed(j, room, free, fill)
		}
		counts[order[i]][s]++
		left[order[i]] -= j.Slices(s)
	}
	return counts
}

// packed turns a packing of widths on servers with so much room into one of
// stages on the servers.
func packed(j *sched.Job, room, free []int, fill [][]int) [][]int {
	widths, counts := j.Widths(), rows(len(free), len(j.Stages))
	used := make([]bool, len(free))
	left := make([]int, len(j.Stages))
	for s := range j.Stages {
		left[s] = j.Stages[s].Replicas
	}
	for i := range fill {
		m := 0
		for used[m] || free[m] != room[i] {
			m++
		}
		used[m] = true
		for w, n := range fill[i] {
			for s := range j.Stages {
				if j.Slices(s) == widths[w].Slices {
					x := min(n, left[s])
					counts[m][s], left[s], n = x, left[s]-x, n-x
				}
			}
		}
	}
	return counts
}

func rows(n, columns int) [][]int {
	out := make([][]int, n)
	for i := range out {
		out[i] = make([]int, columns)
	}
	return out
}
