package cuts

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// exactTree is the most replicas of a stage for which the least cut of its
// double binary tree is found by enumeration: some milliseconds for all
// partitions together.
const exactTree = 10

// TreeCuts finds how few edges of a stage's double binary tree are between
// servers. Unlike those of a ring, they depend on the whole partition of the
// stage. It remembers what it has found, and is not safe for concurrent use.
type TreeCuts struct {
	known map[string]int
	edges [exactTree + 1][][]int // by number of replicas: of each, the lower ends of its edges to lower ones
}

// NewTreeCuts returns a TreeCuts that has found nothing yet.
func NewTreeCuts() *TreeCuts {
	t := &TreeCuts{known: map[string]int{}}
	for k := range t.edges {
		t.edges[k] = make([][]int, k)
		for _, e := range treeEdges(k) {
			t.edges[k][e[1]] = append(t.edges[k][e[1]], e[0])
		}
	}
	return t
}

// treeEdges returns the 2(k−1) edges, an edge of both trees twice, of NCCL's
// double binary tree over replicas 0 to k−1, the lower end first.
//
// In the first tree the parent of r, b being its lowest set bit, is (r − b) | 2b,
// or r − b where that is not below k. The second tree is the first one
// mirrored if k is even and shifted by one if k is odd.
//
// Source: Sanders, Speck and Träff, Two-tree algorithms for full bandwidth
// broadcast, reduction and scan, 2009; the shapes are NCCL's.
func treeEdges(k int) [][2]int {
	var out [][2]int
	add := func(u, v int) { out = append(out, [2]int{min(u, v), max(u, v)}) }
	for r := 1; r < k; r++ {
		b := r & -r
		up := r - b | 2*b
		if up >= k {
			up = r - b
		}
		add(r, up)
		if k%2 == 0 {
			add(k-1-r, k-1-up)
		} else {
			add((r+1)%k, (up+1)%k)
		}
	}
	return out
}

// Least returns the least number of tree edges between servers over all ways to
// put counts[m] of the stage's replicas on server m, and whether that is exact.
// Beyond ten replicas it is the bound 2(q − 1) for q servers in use: either tree
// connects them.
func (t *TreeCuts) Least(counts []int) (edges int, exact bool) {
	parts := slices.DeleteFunc(slices.Clone(counts), func(n int) bool { return n == 0 })
	slices.Sort(parts)
	k := 0
	for _, n := range parts {
		k += n
	}
	if len(parts) < 2 || k > exactTree {
		return 2 * max(0, len(parts)-1), len(parts) < 2
	}
	key := fmt.Sprint(parts)
	if n, ok := t.known[key]; ok {
		return n, true
	}
	n := leastTreeCut(t.edges[k], parts)
	t.known[key] = n
	return n, true
}

// leastTreeCut enumerates: replica by replica, on every server with room, of
// the empty ones of a size only the first.
func leastTreeCut(lower [][]int, parts []int) int {
	left, at := slices.Clone(parts), make([]int, len(lower))
	best := 2 * len(lower)
	var put func(r, cut int)
	put = func(r, cut int) {
		if cut >= best {
			return
		}
		if r == len(at) {
			best = cut
			return
		}
		for m := range left {
			if left[m] == 0 || m > 0 && left[m] == parts[m] && left[m-1] == parts[m] {
				continue
			}
			more := 0
			for _, u := range lower[r] {
				if at[u] != m {
					more++
				}
			}
			at[r] = m
			left[m]--
			put(r+1, cut+more)
			left[m]++
		}
	}
	put(0, 0)
	return best
}

// TreeCutWeight is [CutWeight] under AllReduce over double binary trees, whose
// edges weigh A_s/2 each: the least over all layouts of these counts. It is
// exact if every stage spread over servers has at most ten replicas, and
// otherwise a lower bound.
func TreeCutWeight(j *sched.Job, p *sched.Placement, t *TreeCuts) (weight *big.Rat, exact bool) {
	w := newWeights(j)
	cut, exact := w.between(p), true
	counts := make([]int, len(p.Shares))
	for s := range j.Stages {
		for i := range p.Shares {
			counts[i] = replicasOf(&p.Shares[i], j, s)
		}
		edges, ok := t.Least(counts)
		exact = exact && ok
		cut.Add(cut, new(big.Rat).Mul(w.reduce[s], big.NewRat(int64(edges), 2)))
	}
	return cut, exact
}

// LayoutCut returns the weight, in bytes per iteration, of the edges between
// servers in the job's communication graph with every replica on a server of
// its own choice: server[v] for replica v, numbered stage by stage. No layout of
// the same counts has less than CutWeight under rings, or TreeCutWeight under
// trees.
//
// Errors: server does not have an entry per replica.
func LayoutCut(j *sched.Job, server []int, shape heavyedge.AllReduce) (*big.Rat, error) {
	w := newWeights(j)
	var at [][]int // of each stage
	for s := range j.Stages {
		k := j.Stages[s].Replicas
		if len(server) < k {
			return nil, fmt.Errorf("cuts: servers of fewer replicas than the job has")
		}
		at, server = append(at, server[:k]), server[k:]
	}
	if len(server) > 0 {
		return nil, fmt.Errorf("cuts: servers of more replicas than the job has")
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
		if shape == heavyedge.Tree {
			half := new(big.Rat).Quo(w.reduce[s], big.NewRat(2, 1))
			for _, e := range treeEdges(len(list)) {
				add(half, list[e[0]], list[e[1]])
			}
			continue
		}
		for r := range ringEdges(len(list), len(list)) {
			add(w.reduce[s], list[r], list[(r+1)%len(list)])
		}
	}
	return cut, nil
}
