package heavyedge

import (
	"math/big"
	"slices"

	"yardstick/sched"
)

// vertexGraph is the job's communication graph, vertex by vertex, with exact
// weights.
type vertexGraph struct {
	n      int
	stage  []int
	weight map[[2]int]*big.Rat // u < v
}

func newVertexGraph(j *sched.Job, shape AllReduce) *vertexGraph {
	g := &vertexGraph{weight: map[[2]int]*big.Rat{}}
	var first []int
	for s := range j.Stages {
		first = append(first, g.n)
		for range j.Stages[s].Replicas {
			g.stage = append(g.stage, s)
			g.n++
		}
	}
	add := func(u, v int, w *big.Rat) {
		key := [2]int{min(u, v), max(u, v)}
		if g.weight[key] == nil {
			g.weight[key] = new(big.Rat)
		}
		g.weight[key].Add(g.weight[key], w)
	}
	join := func(s, u int, bytes sched.Bytes) {
		k, other := j.Stages[s].Replicas, j.Stages[u].Replicas
		w := big.NewRat(2*int64(bytes), int64(k*other))
		for a := range k {
			for b := range other {
				add(first[s]+a, first[u]+b, w)
			}
		}
	}
	for s, st := range j.Stages {
		k := st.Replicas
		if len(j.Edges) == 0 && s+1 < len(j.Stages) {
			join(s, s+1, st.Boundary)
		}
		if k < 2 {
			continue
		}
		volume := big.NewRat(2*int64(k-1)*int64(st.Params), int64(k))
		if shape == Ring {
			for i := range k {
				if k == 2 && i == 1 {
					break // one edge for two replicas
				}
				add(first[s]+i, first[s]+(i+1)%k, volume)
			}
			continue
		}
		half := new(big.Rat).Quo(volume, big.NewRat(2, 1))
		for r := 1; r < k; r++ {
			p := parent(r, k)
			add(first[s]+r, first[s]+p, half)
			add(first[s]+other(r, k), first[s]+other(p, k), half)
		}
	}
	for _, e := range j.Edges {
		join(e.From, e.To, e.Bytes)
	}
	return g
}

// parent and other restate NCCL's double binary tree (Sanders, Speck and
// Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
// scan").
func parent(r, k int) int {
	bit := 1
	for r&bit == 0 {
		bit <<= 1
	}
	if up := (r &^ bit) | bit<<1; up < k {
		return up
	}
	return r &^ bit
}

func other(r, k int) int {
	if k%2 == 0 {
		return k - 1 - r
	}
	return (r + 1) % k
}

// fillable reports whether vertices with so many GPUs each fill the rooms to
// the last GPU: it tries every room for every vertex.
func fillable(rooms, vertices []int) bool {
	if len(vertices) == 0 {
		return !slices.ContainsFunc(rooms, func(r int) bool { return r != 0 })
	}
	var tried []int
	for i, room := range rooms {
		if room < vertices[0] || slices.Contains(tried, room) {
			continue
		}
		tried = append(tried, room)
		rooms[i] -= vertices[0]
		ok := fillable(rooms, vertices[1:])
		rooms[i] += vertices[0]
		if ok {
			return true
		}
	}
	return false
}

// reference is Heavy-Edge on vertices and edges, as the paper states it but for
// the vertices that may not be taken because whole replicas could not fill the
// parts any more. It returns nil if they cannot to begin with.
func reference(j *sched.Job, sizes []int, shape AllReduce) [][]int {
	g := newVertexGraph(j, shape)
	left := map[int]bool{}
	for v := range g.n {
		left[v] = true
	}
	rooms := slices.Clone(sizes)
	// may reports whether these vertices can go on the present server.
	may := func(here int, take ...int) bool {
		if !j.Sliced() {
			return true
		}
		var rest []int
		for v := range g.n {
			if left[v] && !slices.Contains(take, v) {
				rest = append(rest, j.Slices(g.stage[v]))
			}
		}
		slices.Sort(rest)
		slices.Reverse(rest)
		rooms := slices.Clone(rooms[here:])
		for _, v := range take {
			rooms[0] -= j.Slices(g.stage[v])
		}
		return rooms[0] >= 0 && fillable(rooms, rest)
	}
	if !may(0) {
		return nil
	}
	var out [][]int
	for here, q := range sizes {
		set := map[int]bool{}
		take := func(v int) { set[v] = true; delete(left, v); rooms[here] -= j.Slices(g.stage[v]) }
		if q > 1 {
			bu, bv := -1, -1
			var best *big.Rat
			for u := range g.n {
				for v := u + 1; v < g.n; v++ {
					w := g.weight[[2]int{u, v}]
					if w != nil && left[u] && left[v] && (best == nil || w.Cmp(best) > 0) && may(here, u, v) {
						best, bu, bv = w, u, v
					}
				}
			}
			if best != nil {
				take(bu)
				take(bv)
			}
		}
		for rooms[here] > 0 {
			pick := -1
			var best *big.Rat
			for v := range g.n {
				if !left[v] {
					continue
				}
				for u := range g.n {
					w := g.weight[[2]int{min(u, v), max(u, v)}]
					if set[u] && w != nil && (best == nil || w.Cmp(best) > 0) && may(here, v) {
						best, pick = w, v
					}
				}
			}
			for v := 0; pick < 0; v++ {
				if left[v] && may(here, v) {
					pick = v
				}
			}
			take(pick)
		}
		counts := make([]int, len(j.Stages))
		for v := range set {
			counts[g.stage[v]]++
		}
		out = append(out, counts)
	}
	return out
}
