package forest

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// node is a split or a leaf. Nodes are in preorder: a split's left child, for
// x[feature] ≤ value, comes next.
type node struct {
	feature int32   // −1 in a leaf
	right   int32   // index of the right child
	value   float64 // a split's threshold, a leaf's mean
}

// cell is a point with the number and the sum of the targets drawn there.
type cell struct {
	x   Point
	n   int32
	sum int64
}

// grower grows one tree after another, reusing its memory.
//
// It holds the cells once per feature, sorted by that feature. A node owns the
// same range of each of these lists, and splitting it partitions each list
// stably, so that nothing is ever sorted again and memory is read in sequence.
type grower struct {
	table    *table
	maxDepth int
	times    []uint16 // how often each target is drawn; 65,536 times would take a chance below 1/65536!
	drawn    []cell   // the cells of the table with what is drawn
	cells    [Features][]cell
	scratch  []cell
	rng      *rand.Rand
	nodes    []node
}

func newGrower(t *table, maxDepth int) *grower {
	if maxDepth == 0 {
		maxDepth = math.MaxInt
	}
	return &grower{table: t, maxDepth: maxDepth, times: make([]uint16, len(t.y)),
		drawn: make([]cell, len(t.points)), scratch: make([]cell, len(t.points))}
}

// tree grows a tree on as many samples as there are, drawn with replacement,
// or on each sample once.
func (g *grower) tree(rng *rand.Rand, bootstrap bool) []node {
	n, sum := g.draw(rng, bootstrap)
	var live features
	for f, order := range g.table.order {
		g.cells[f] = g.cells[f][:0]
		for _, c := range order {
			if d := &g.drawn[c]; d.n > 0 {
				g.cells[f] = append(g.cells[f], *d)
			}
		}
		if order != nil {
			live = live.with(f)
		}
	}
	g.rng, g.nodes = rng, g.nodes[:0]
	if live.len == 0 {
		g.nodes = append(g.nodes, node{feature: -1, value: float64(sum) / float64(n)})
	} else {
		g.grow(0, len(g.cells[live.list[0]]), live, 0, n, sum)
	}
	return slices.Clone(g.nodes)
}

// draw fills in what each cell of the table gets, and returns the totals.
func (g *grower) draw(rng *rand.Rand, bootstrap bool) (n, sum int64) {
	t := g.table
	clear(g.times)
	for i := range g.times {
		if bootstrap {
			i = int(rng.Uint32N(uint32(len(g.times))))
		}
		g.times[i]++
	}
	var i int32
	for c, end := range t.ends {
		d := cell{x: t.points[c]}
		for ; i < end; i++ {
			d.n += int32(g.times[i])
			d.sum += int64(g.times[i]) * t.y[i]
		}
		g.drawn[c] = d
		n += int64(d.n)
		sum += d.sum
	}
	return n, sum
}

// features is a short list of features.
type features struct {
	list [Features]uint8
	len  uint8
}

func (s features) with(f int) features {
	s.list[s.len] = uint8(f)
	s.len++
	return s
}

// split divides the cells sorted by a feature into the first at and the rest.
type split struct {
	gain    float64
	feature int
	at      int
	n, sum  int64 // of the left side
}

// grow appends the tree of cells [lo, hi), which hold n targets of the given
// sum. The lists of the features in live, at least one, are up to date; the
// other features are constant here.
//
// A node becomes a leaf if its cells are one, or all have the same mean: then
// splits would change no prediction. Otherwise the best split is taken, even if
// it gains nothing, as scikit-learn does: splits below it may gain.
func (g *grower) grow(lo, hi int, live features, depth int, n, sum int64) {
	at := len(g.nodes)
	g.nodes = append(g.nodes, node{feature: -1, value: float64(sum) / float64(n)})
	if depth == g.maxDepth || sameMean(g.cells[live.list[0]][lo:hi]) {
		return
	}
	// Features constant here are so in the whole subtree: their lists are left
	// as they are.
	var varying features
	for _, f := range live.list[:live.len] {
		if c := g.cells[f][lo:hi]; c[0].x[f] != c[len(c)-1].x[f] {
			varying = varying.with(int(f))
		}
	}
	// The first of equally good splits wins; scikit-learn, too, looks at the
	// features in random order.
	tried := varying
	g.rng.Shuffle(int(tried.len), func(i, j int) { tried.list[i], tried.list[j] = tried.list[j], tried.list[i] })
	best := split{gain: math.Inf(-1)}
	for _, f := range tried.list[:tried.len] {
		if s := scan(g.cells[f][lo:hi], int(f), n, sum); s.gain > best.gain {
			best = s
		}
	}
	f, mid := best.feature, lo+best.at
	// The midpoint is exact: the sum of two int32 and its half are float64.
	threshold := (float64(g.cells[f][mid-1].x[f]) + float64(g.cells[f][mid].x[f])) / 2
	last := g.cells[f][mid-1].x[f]
	for _, other := range varying.list[:varying.len] {
		if int(other) != f {
			g.partition(g.cells[other][lo:hi], f, last)
		}
	}
	g.grow(lo, mid, varying, depth+1, best.n, best.sum)
	right := len(g.nodes)
	g.grow(mid, hi, varying, depth+1, n-best.n, sum-best.sum)
	g.nodes[at] = node{int32(f), int32(right), threshold}
}

// scan returns the best split of cells sorted by feature f, the lowest among
// equals. The squared error of a split is Σy² − (S_L²/n_L + S_R²/n_R), so the
// term in brackets is to be greatest; it is computed as scikit-learn's
// criterion "squared_error" does, from the same exact sums while these are
// below 2⁵³.
func scan(cells []cell, f int, n, sum int64) split {
	best := split{gain: math.Inf(-1), feature: f}
	var left, leftSum int64
	for i := range len(cells) - 1 {
		left += int64(cells[i].n)
		leftSum += cells[i].sum
		if cells[i].x[f] == cells[i+1].x[f] {
			continue
		}
		l, r := float64(leftSum), float64(sum-leftSum)
		if gain := l*l/float64(left) + r*r/float64(n-left); gain > best.gain {
			best.gain, best.at, best.n, best.sum = gain, i+1, left, leftSum
		}
	}
	return best
}

// partition moves the cells with x[f] ≤ last to the front, keeping the order
// within both sides.
func (g *grower) partition(cells []cell, f int, last int32) {
	left, right := 0, 0
	for i := range cells {
		if cells[i].x[f] <= last {
			cells[left] = cells[i]
			left++
		} else {
			g.scratch[right] = cells[i]
			right++
		}
	}
	copy(cells[left:], g.scratch[:right])
}

// sameMean reports whether all cells have the same mean, exactly: s/n = t/m if
// s·m = t·n.
func sameMean(cells []cell) bool {
	n, sum := uint64(cells[0].n), uint64(cells[0].sum)
	for i := 1; i < len(cells); i++ {
		h1, l1 := bits.Mul64(sum, uint64(cells[i].n))
		h2, l2 := bits.Mul64(uint64(cells[i].sum), n)
		if h1 != h2 || l1 != l2 {
			return false
		}
	}
	return true
}
