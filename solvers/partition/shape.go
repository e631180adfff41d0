package partition

import (
	"encoding/binary"

	"yardstick/sched"
)

// shape is what the searches need to know of a job: its stages, how many GPUs
// their replicas take and which stages exchange activations.
type shape struct {
	replicas []int   // k_s
	slices   []int   // t_s, GPUs of one replica
	near     [][]int // of each stage, the stages it exchanges activations with, ascending
	touched  [][]int // of each stage, itself and those of near before it
	chain    bool    // all of near are the stages before and after
}

func newShape(j *sched.Job) *shape {
	g := &shape{chain: true}
	for s, links := range j.Links() {
		g.replicas, g.slices = append(g.replicas, j.Stages[s].Replicas), append(g.slices, j.Slices(s))
		near, touched := []int(nil), []int{s}
		for _, l := range links {
			near = append(near, l.Stage)
			if l.Stage < s {
				touched = append(touched, l.Stage)
			}
			g.chain = g.chain && (l.Stage == s-1 || l.Stage == s+1)
		}
		g.near, g.touched = append(g.near, near), append(g.touched, touched)
	}
	return g
}

// width returns how many replicas of stage s can be on gpus GPUs; none if there
// is no such stage.
func (g *shape) width(s, gpus int) int {
	if s < 0 || s >= len(g.replicas) {
		return 0
	}
	return min(g.replicas[s], gpus/g.slices[s])
}

// behind returns the GPUs that so many replicas of each stage take together with
// those of all later stages, and 0 behind the last.
func (g *shape) behind(replicas []int) []int {
	sum := make([]int, len(replicas)+1)
	for s := len(replicas) - 1; s >= 0; s-- {
		sum[s] = sum[s+1] + replicas[s]*g.slices[s]
	}
	return sum
}

// eachFilling calls f for every vector of replicas that takes exactly gpus GPUs.
// f must not keep the vector.
func (g *shape) eachFilling(gpus int, f func(counts []int)) {
	counts := make([]int, len(g.replicas))
	behind := g.behind(g.replicas)
	var fill func(s, left int)
	fill = func(s, left int) {
		if s == len(counts) {
			f(counts)
			return
		}
		for x := g.width(s, left); x >= 0 && left-x*g.slices[s] <= behind[s+1]; x-- {
			if s+1 < len(counts) || x*g.slices[s] == left {
				counts[s] = x
				fill(s+1, left-x*g.slices[s])
			}
		}
		counts[s] = 0
	}
	fill(0, gpus)
}

// likeness encodes what the times of stage s depend on besides the server:
// stages with equal codes take equal times beside equal neighbours.
func likeness(j *sched.Job, s int, links []sched.Link) string {
	b := make([]byte, 0, 64)
	put := func(n int64) { b = binary.AppendVarint(b, n) }
	st := &j.Stages[s]
	for _, n := range []int64{int64(st.Replicas), int64(j.Slices(s)), int64(st.Compute), int64(st.Params), int64(st.SliceSync)} {
		put(n)
	}
	for _, l := range links {
		put(int64(l.Stage - s))
		put(int64(j.Stages[l.Stage].Replicas))
		put(int64(j.Slices(l.Stage)))
		put(int64(l.Bytes))
	}
	return string(b)
}

// code encodes what alpha depends on besides the cluster.
func code(j *sched.Job) string {
	b := make([]byte, 0, 64)
	put := func(n int64) { b = binary.AppendVarint(b, n) }
	for s := range j.Stages {
		st := &j.Stages[s]
		for _, n := range []int64{int64(st.Replicas), int64(j.Slices(s)), int64(st.Compute), int64(st.Params), int64(st.SliceSync), int64(st.Boundary)} {
			put(n)
		}
	}
	for _, e := range j.Edges {
		put(int64(e.From) + 1) // no stage has 0 replicas, but an edge may be from stage 0
		put(int64(e.To))
		put(int64(e.Bytes))
	}
	return string(b)
}
