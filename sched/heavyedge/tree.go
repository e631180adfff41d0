package heavyedge

import (
	"container/heap"

	"yardstick/sched"
)

// placeTree is Heavy-Edge where stages synchronise over double binary trees.
// The replicas placed are no prefix then, so the trees' edges are explicit;
// edges between stages stay implicit.
func placeTree(g *graph, parts []Part, f *sched.Filling) [][]int {
	t := newTree(g, f)
	counts := make([][]int, len(parts))
	for i, p := range parts {
		if i > 0 {
			f.Next()
		}
		t.open(p.GPUs)
		if p.GPUs > 1 {
			t.seed()
		}
		for t.room > 0 {
			t.grow()
		}
		counts[i] = t.here
	}
	return counts
}

// tree is the progress of placing a job. Vertices are numbered stage by stage.
type tree struct {
	*graph
	filling *sched.Filling
	first   []int // first vertex of each stage, and the number of vertices at the end
	stage   []int // of each vertex
	edges   [][]treeEdge
	placed  []bool
	low     []int // lowest unplaced vertex of each stage, or the next stage's first
	here    []int // replicas of each stage on the current server
	room    int   // GPUs left there
	key     []int // rank of the heaviest edge between a stage and others' replicas on the current server
	reach   reachable
}

type treeEdge struct{ to, rank int }

func newTree(g *graph, f *sched.Filling) *tree {
	t := &tree{graph: g, filling: f, first: make([]int, 1, len(g.replicas)+1), key: make([]int, len(g.replicas))}
	for s, k := range g.replicas {
		base := t.first[s]
		t.first = append(t.first, base+k)
		t.low = append(t.low, base)
		for range k {
			t.stage = append(t.stage, s)
			t.edges = append(t.edges, nil)
		}
		for pair, parallel := range doubleTree(k) {
			rank := g.half[s]
			if parallel {
				rank = g.reduce[s]
			}
			u, v := base+pair[0], base+pair[1]
			t.edges[u] = append(t.edges[u], treeEdge{v, rank})
			t.edges[v] = append(t.edges[v], treeEdge{u, rank})
		}
	}
	t.placed = make([]bool, len(t.stage))
	return t
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
func (t *tree) open(gpus int) {
	t.here, t.room = make([]int, len(t.replicas)), gpus
	t.reach = t.reach[:0]
	for s := range t.key {
		t.key[s] = none
	}
}

func (t *tree) take(v int) {
	s := t.stage[v]
	if t.here[s] == 0 {
		for _, l := range t.links[s] {
			t.key[l.stage] = max(t.key[l.stage], l.rank)
		}
	}
	t.placed[v] = true
	t.here[s]++
	t.room -= t.slices[s]
	for t.low[s] < t.first[s+1] && t.placed[t.low[s]] {
		t.low[s]++
	}
	for _, e := range t.edges[v] {
		if !t.placed[e.to] {
			heap.Push(&t.reach, e)
		}
	}
}

// lowest returns the lowest unplaced vertex of stage s.
func (t *tree) lowest(s int) (v int, ok bool) { return t.low[s], t.low[s] < t.first[s+1] }

// seed takes the ends of the heaviest edge between unplaced vertices, if there
// is one whose ends the server can take.
func (t *tree) seed() {
	for u, v, ok := t.heaviestEdge(); ok; u, v, ok = t.heaviestEdge() {
		if t.filling.TakePair(t.stage[u], t.stage[v]) {
			t.take(u)
			t.take(v)
			return
		}
	}
}

// heaviestEdge returns the heaviest edge between unplaced vertices that are not
// refused, ties to the least (u, v).
func (t *tree) heaviestEdge() (u, v int, ok bool) {
	best := none
	consider := func(a, b, rank int) {
		if (rank > best || rank == best && (a < u || a == u && b < v)) && !t.filling.RefusesPair(t.stage[a], t.stage[b]) {
			best, u, v, ok = rank, a, b, true
		}
	}
	for a := range t.edges {
		if t.placed[a] {
			continue
		}
		for _, e := range t.edges[a] {
			if a < e.to && !t.placed[e.to] {
				consider(a, e.to, e.rank)
			}
		}
	}
	for s := range t.links {
		a, okA := t.lowest(s)
		for _, l := range t.links[s] {
			if b, okB := t.lowest(l.stage); l.stage > s && okA && okB {
				consider(a, b, l.rank)
			}
		}
	}
	return u, v, ok
}

// grow takes the unplaced vertex with the heaviest edge to the current server,
// ties to the lowest, or the lowest of all if there is none.
func (t *tree) grow() {
	for len(t.reach) > 0 && (t.placed[t.reach[0].to] || t.filling.Refuses(t.stage[t.reach[0].to])) {
		heap.Pop(&t.reach)
	}
	best, vertex := none-1, -1
	consider := func(v, rank int) {
		if rank > best || rank == best && v < vertex {
			best, vertex = rank, v
		}
	}
	if len(t.reach) > 0 {
		consider(t.reach[0].to, t.reach[0].rank)
	}
	for s := range t.low {
		if v, ok := t.lowest(s); ok && !t.filling.Refuses(s) {
			consider(v, t.key[s])
		}
	}
	if t.filling.Take(t.stage[vertex], 1) == 1 {
		t.take(vertex)
	}
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
