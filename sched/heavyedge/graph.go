package heavyedge

import (
	"cmp"
	"math/bits"
	"slices"

	"yardstick/sched"
)

// graph is a job's communication graph, stage by stage. Edges have ranks for
// weights: equal weights have equal ranks and heavier ones have greater. The
// comparison is exact.
type graph struct {
	replicas []int    // of each stage
	slices   []int    // GPUs of one replica of each stage
	reduce   []int    // rank of A_s, an edge of the ring of a stage
	half     []int    // rank of A_s/2, an edge of one of the two trees; nil for rings
	links    [][]link // the neighbours of each stage, in ascending order
}

// link says that all replicas of a stage have an edge of a rank to all those
// of another stage.
type link struct{ stage, rank int }

// none is the key of a replica without an edge to those taken. Edges of weight
// zero exist in the graph, so they rank above it.
const none = -1

// weight is num/den, and where its rank belongs: with both ends of a link.
type weight struct {
	num, den    uint64
	rank, other *int
}

func (w *weight) compare(v *weight) int {
	hiW, loW := bits.Mul64(w.num, v.den)
	hiV, loV := bits.Mul64(v.num, w.den)
	return cmp.Or(cmp.Compare(hiW, hiV), cmp.Compare(loW, loV))
}

func newGraph(j *sched.Job, shape AllReduce) *graph {
	n := len(j.Stages)
	numbers := make([]int, 4*n)
	g := &graph{replicas: numbers[:n], slices: numbers[n : 2*n], reduce: numbers[2*n : 3*n], links: make([][]link, n)}
	if shape == Tree {
		g.half = numbers[3*n:]
	}
	all, edges := j.Links(), 0
	for s := range all {
		edges += len(all[s])
	}
	room := make([]link, edges)
	weights := make([]weight, 0, 2*n+edges/2)
	for s := range all {
		g.replicas[s], g.slices[s] = j.Stages[s].Replicas, j.Slices(s)
		g.links[s], room = room[:0:len(all[s])], room[len(all[s]):]
	}
	for s := range all {
		k := uint64(g.replicas[s])
		volume := (k - 1) * uint64(j.Stages[s].Params)
		weights = append(weights, weight{num: 2 * volume, den: k, rank: &g.reduce[s]})
		if shape == Tree {
			weights = append(weights, weight{num: volume, den: k, rank: &g.half[s]})
		}
		for _, l := range all[s] {
			if u := l.Stage; u > s { // the links to lower stages are in place by now
				g.links[s], g.links[u] = append(g.links[s], link{stage: u}), append(g.links[u], link{stage: s})
				weights = append(weights, weight{2 * uint64(l.Bytes), k * uint64(g.replicas[u]),
					&g.links[s][len(g.links[s])-1].rank, &g.links[u][len(g.links[u])-1].rank})
			}
		}
	}
	slices.SortFunc(weights, func(a, b weight) int { return a.compare(&b) })
	rank := 0
	for i := range weights {
		w := &weights[i]
		if i > 0 && weights[i-1].compare(w) < 0 {
			rank++
		}
		*w.rank = rank
		if w.other != nil {
			*w.other = rank
		}
	}
	return g
}
