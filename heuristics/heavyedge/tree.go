package heavyedge

import (
	"container/heap"

	"yardstick/sched"
)

// tree is Heavy-Edge where stages synchronise over double binary trees. The
// replicas placed are no prefix then, so the trees' edges are explicit; edges
// between stages stay implicit.
func tree(stages []sched.Stage, parts []Part) [][]int {
	g := newTreeGraph(stages)
	counts := make([][]int, len(parts))
	for i, p := range parts {
		g.open()
		if p.GPUs > 1 {
			if u, v, ok := g.heaviestEdge(); ok {
				g.take(u)
				g.take(v)
				p.GPUs -= 2
			}
		}
		for ; p.GPUs > 0; p.GPUs-- {
			g.take(g.heaviestVertex())
		}
		counts[i] = g.here
	}
	return counts
}

// treeGraph is the graph of a job and the progress of placing it. Vertices are
// numbered stage by stage.
type treeGraph struct {
	stages []sched.Stage
	w      weights
	first  []int // first vertex of each stage, and the number of vertices at the end
	stage  []int // of each vertex
	edges  [][]treeEdge
	placed []bool
	low    []int // lowest unplaced vertex of each stage, or the next stage's first
	here   []int // replicas of each stage on the current server
	reach  reachable
}

type treeEdge struct{ to, rank int }

func newTreeGraph(stages []sched.Stage) *treeGraph {
	g := &treeGraph{stages: stages, w: rankWeights(stages), first: make([]int, 1, len(stages)+1)}
	for s := range stages {
		k := stages[s].Replicas
		base := g.first[s]
		g.first = append(g.first, base+k)
		g.low = append(g.low, base)
		for range k {
			g.stage = append(g.stage, s)
		}
		for range k {
			g.edges = append(g.edges, nil)
		}
		for pair, parallel := range doubleTree(k) {
			rank := g.w.half[s]
			if parallel {
				rank = g.w.reduce[s]
			}
			u, v := base+pair[0], base+pair[1]
			g.edges[u] = append(g.edges[u], treeEdge{v, rank})
			g.edges[v] = append(g.edges[v], treeEdge{u, rank})
		}
	}
	g.placed = make([]bool, len(g.stage))
	return g
}

// doubleTree returns the edges of NCCL's double binary tree over ranks 0 to
// k−1: pairs in ascending order, and whether both trees have the edge.
//
// In tree 0 the parent of r with lowest set bit b is (r − b) | 2b, or r − b
// where that is not below k; 0 is the root. Tree 1 is tree 0 mirrored if k is
// even, shifted by one if k is odd.
func doubleTree(k int) map[[2]int]bool {
	edges := map[[2]int]bool{}
	add := func(u, v int) {
		pair := [2]int{min(u, v), max(u, v)}
		_, seen := edges[pair]
		edges[pair] = seen
	}
	second := func(r int) int {
		if k%2 == 0 {
			return k - 1 - r
		}
		return (r + 1) % k
	}
	for r := 1; r < k; r++ {
		bit := r & -r
		up := r ^ bit | bit<<1
		if up >= k {
			up = r ^ bit
		}
		add(r, up)
		add(second(r), second(up))
	}
	return edges
}

// open starts the next server.
func (g *treeGraph) open() {
	g.here = make([]int, len(g.stages))
	g.reach = g.reach[:0]
}

func (g *treeGraph) take(v int) {
	s := g.stage[v]
	g.placed[v] = true
	g.here[s]++
	for g.low[s] < g.first[s+1] && g.placed[g.low[s]] {
		g.low[s]++
	}
	for _, e := range g.edges[v] {
		if !g.placed[e.to] {
			heap.Push(&g.reach, e)
		}
	}
}

// lowest returns the lowest unplaced vertex of stage s.
func (g *treeGraph) lowest(s int) (v int, ok bool) { return g.low[s], g.low[s] < g.first[s+1] }

// heaviestEdge returns the heaviest edge between unplaced vertices, ties to
// the least (u, v).
func (g *treeGraph) heaviestEdge() (u, v int, ok bool) {
	best := none
	consider := func(a, b, rank int) {
		if rank > best || rank == best && (a < u || a == u && b < v) {
			best, u, v, ok = rank, a, b, true
		}
	}
	for a := range g.edges {
		if g.placed[a] {
			continue
		}
		for _, e := range g.edges[a] {
			if a < e.to && !g.placed[e.to] {
				consider(a, e.to, e.rank)
			}
		}
	}
	for s := 0; s+1 < len(g.stages); s++ {
		a, okA := g.lowest(s)
		if b, okB := g.lowest(s + 1); okA && okB {
			consider(a, b, g.w.next[s])
		}
	}
	return u, v, ok
}

// heaviestVertex returns the unplaced vertex with the heaviest edge to the
// current server, ties to the lowest, or the lowest of all if there is none.
func (g *treeGraph) heaviestVertex() int {
	for len(g.reach) > 0 && g.placed[g.reach[0].to] {
		heap.Pop(&g.reach)
	}
	best, vertex := none-1, -1
	consider := func(v, rank int) {
		if rank > best || rank == best && v < vertex {
			best, vertex = rank, v
		}
	}
	if len(g.reach) > 0 {
		consider(g.reach[0].to, g.reach[0].rank)
	}
	for s := range g.stages {
		v, ok := g.lowest(s)
		if !ok {
			continue
		}
		consider(v, none)
		if s > 0 && g.here[s-1] > 0 {
			consider(v, g.w.next[s-1])
		}
		if s+1 < len(g.stages) && g.here[s+1] > 0 {
			consider(v, g.w.next[s])
		}
	}
	return vertex
}

// reachable is a heap of edges from the current server's vertices: heaviest
// first, ties to the lowest vertex.
type reachable []treeEdge

func (r reachable) Len() int { return len(r) }
func (r reachable) Less(i, j int) bool {
	return r[i].rank > r[j].rank || r[i].rank == r[j].rank && r[i].to < r[j].to
}
func (r reachable) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *reachable) Push(x any)   { *r = append(*r, x.(treeEdge)) }
func (r *reachable) Pop() any {
	old := *r
	x := old[len(old)-1]
	*r = old[:len(old)-1]
	return x
}
