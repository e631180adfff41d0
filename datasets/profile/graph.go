package profile

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"yardstick/sched"
)

// graph is a model whose layers need not form a chain.
type graph struct {
	nodes []node
	edges []edge
}

// node is a layer of the graph before it has a place in the chain.
type node struct {
	layer Layer // without Activation
	rank  int64 // among nodes that may come next, the lowest comes first
}

// edge says that node to reads volume bytes that node from makes. Volumes of
// edges that leave one node are the same tensor, not several.
type edge struct {
	from, to int
	volume   sched.Bytes
}

// chain lays the graph's nodes out in a row such that every edge goes forward,
// and returns them as layers.
//
// Input nodes, which nothing leads to and which hold no parameters, are
// dropped: their time is that of loading data, and every stage that needs the
// input loads it by itself.
//
// The volume across a cut is the sum, over the nodes before the cut whose
// output is needed after it, of the largest volume of their edges that cross:
// a tensor that three later layers read is sent once, and stages in between
// pass it on. Cost: O((V + E) log V), as each producer is alive over one range
// of cuts per distinct volume.
//
// Errors: the graph has a cycle, or nothing but inputs.
func (g *graph) chain() ([]Layer, error) {
	order, err := g.order()
	if err != nil {
		return nil, err
	}
	input := g.inputs()
	place := make([]int, len(g.nodes))
	var layers []Layer
	for _, v := range order {
		if !input[v] {
			place[v] = len(layers)
			layers = append(layers, g.nodes[v].layer)
		}
	}
	if len(layers) == 0 {
		return nil, errors.New("has no layers besides inputs")
	}
	out := make([][]edge, len(g.nodes))
	for _, e := range g.edges {
		if !input[e.from] {
			out[e.from] = append(out[e.from], e)
		}
	}
	step := make([]float64, len(layers)+1) // difference array over cuts; cut c is after layer c
	for _, edges := range out {
		// From the furthest reader inwards: between a reader and the one before
		// it, the largest volume of those further on crosses.
		slices.SortFunc(edges, func(a, b edge) int { return place[b.to] - place[a.to] })
		volume := sched.Bytes(0)
		for i, e := range edges {
			volume = max(volume, e.volume)
			begin := place[e.from]
			if i+1 < len(edges) {
				begin = max(begin, place[edges[i+1].to])
			}
			step[begin] += float64(volume) // exact: whole numbers below 2^53
			step[place[e.to]] -= float64(volume)
		}
	}
	crossing := 0.0
	for i := range layers {
		crossing += step[i]
		if crossing > float64(maxBytes) {
			return nil, fmt.Errorf("%v bytes cross the cut after layer %q: at most %v is supported", crossing, layers[i].Name, maxBytes)
		}
		layers[i].Activation = sched.Bytes(crossing)
	}
	return layers, nil
}

// inputs reports the nodes that nothing leads to and that hold no parameters.
func (g *graph) inputs() []bool {
	input := make([]bool, len(g.nodes))
	for i := range input {
		input[i] = g.nodes[i].layer.Parameters == 0
	}
	for _, e := range g.edges {
		input[e.to] = false
	}
	return input
}

// order returns a topological order, of the nodes that may come next always the
// one of lowest rank (Kahn's algorithm with a heap).
func (g *graph) order() ([]int, error) {
	waits := make([]int, len(g.nodes)) // edges from nodes not yet placed
	next := make([][]int, len(g.nodes))
	for _, e := range g.edges {
		waits[e.to]++
		next[e.from] = append(next[e.from], e.to)
	}
	before := func(a, b int) bool {
		if g.nodes[a].rank != g.nodes[b].rank {
			return g.nodes[a].rank < g.nodes[b].rank
		}
		return a < b
	}
	var ready intHeap
	for v := range g.nodes {
		if waits[v] == 0 {
			ready.push(v, before)
		}
	}
	var order []int
	for len(ready) > 0 {
		v := ready.pop(before)
		order = append(order, v)
		for _, w := range next[v] {
			if waits[w]--; waits[w] == 0 {
				ready.push(w, before)
			}
		}
	}
	if len(order) < len(g.nodes) {
		stuck := slices.IndexFunc(waits, func(n int) bool { return n > 0 })
		return nil, fmt.Errorf("node %q is on a cycle, or after one: a model must have none", g.nodes[stuck].layer.Name)
	}
	return order, nil
}

// intHeap is a binary heap whose least element is at index 0.
type intHeap []int

func (h *intHeap) push(v int, before func(a, b int) bool) {
	*h = append(*h, v)
	s := *h
	for i := len(s) - 1; i > 0 && before(s[i], s[(i-1)/2]); i = (i - 1) / 2 {
		s[i], s[(i-1)/2] = s[(i-1)/2], s[i]
	}
}

func (h *intHeap) pop(before func(a, b int) bool) int {
	s := *h
	top, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	*h = s
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if before(s[child], s[least]) {
				least = child
			}
		}
		if least == i {
			return top
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
}

// milliseconds converts a time of a published profile, rounded to a nanosecond.
func milliseconds(v float64) (sched.Duration, error) {
	if !(v >= 0) || v*1e6 > float64(maxDuration) {
		return 0, fmt.Errorf("is %v ms: it must be between 0 and %v", v, maxDuration)
	}
	return sched.Duration(math.Round(v * 1e6)), nil
}

// byteCount converts a size of a published profile. Files write whole numbers
// as decimals, and some hold fractions of a byte.
func byteCount(v float64) (sched.Bytes, error) {
	if !(v >= 0) || v > float64(maxBytes) {
		return 0, fmt.Errorf("is %v bytes: it must be between 0 and %v", v, maxBytes)
	}
	return sched.Bytes(math.Round(v)), nil
}
