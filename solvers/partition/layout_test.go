package partition

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
)

// TestLayoutsAgainstCounts compares the least cut by counts with the least over
// all layouts, vertex by vertex.
func TestLayoutsAgainstCounts(t *testing.T) {
	tried := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 36))
		in := randomInstance(rng, 3, 7, true)
		if seed%2 == 0 {
			extend(rng, in, 9)
		}
		j := &in.Jobs[0]
		eachPlacement(in, func(p *sched.Placement) {
			if rng.IntN(10) > 0 {
				return
			}
			tried++
			var least *big.Rat
			eachLayout(j, p, func(server []int) {
				if cut := layoutCut(j, server); least == nil || cut.Cmp(least) < 0 {
					least = cut
				}
			})
			if got := CutWeight(j, p); got.Cmp(least) != 0 {
				t.Fatalf("seed %d: cut %s, %s by enumeration\n%+v\n%+v", seed, got, least, p, in)
			}
		})
	}
	if tried < 1000 {
		t.Errorf("only %d placements", tried)
	}
}

// eachLayout calls f for all ways to put replicas on servers with the counts of
// the placement.
func eachLayout(j *sched.Job, p *sched.Placement, f func(server []int)) {
	var stage []int // of each replica
	left := make([][]int, len(p.Shares))
	for s, st := range j.Stages {
		stage = append(stage, slices.Repeat([]int{s}, st.Replicas)...)
		for m := range left {
			left[m] = append(left[m], replicasOf(&p.Shares[m], j, s))
		}
	}
	server := make([]int, len(stage))
	var put func(v int)
	put = func(v int) {
		if v == len(server) {
			f(server)
			return
		}
		for m := range left {
			if left[m][stage[v]] > 0 {
				left[m][stage[v]]--
				server[v] = p.Shares[m].Server
				put(v + 1)
				left[m][stage[v]]++
			}
		}
	}
	put(0)
}

// layoutCut returns the weight, in bytes per iteration, of the edges between
// servers in the job's communication graph with every replica on a server of
// its own choice: server[v] for replica v, numbered stage by stage. No layout of
// the same counts has less than CutWeight.
func layoutCut(j *sched.Job, server []int) *big.Rat {
	w := newWeights(j)
	var at [][]int // of each stage
	for s := range j.Stages {
		k := j.Stages[s].Replicas
		at, server = append(at, server[:k]), server[k:]
	}
	cut := new(big.Rat)
	add := func(weight *big.Rat, u, v int) {
		if u != v {
			cut.Add(cut, weight)
		}
	}
	for _, l := range w.links {
		for _, u := range at[l.from] {
			for _, v := range at[l.to] {
				add(l.weight, u, v)
			}
		}
	}
	for s, list := range at {
		for r := range ringEdges(len(list), len(list)) {
			add(w.reduce[s], list[r], list[(r+1)%len(list)])
		}
	}
	return cut
}
