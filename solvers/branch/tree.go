package branch

import (
	"container/heap"
	"context"
	"math"
	"math/big"
	"slices"
	"time"

	"yardstick/solvers/milp"
)

// node is a box within the root box, given by the changes along the path from
// the root. bound is proven: no feasible point of the box is below it.
type node struct {
	parent  *node
	changes []change
	bound   float64
	depth   int
	id      int // order of creation
}

// change sets the bounds of some columns to their intersection with
// [lower, upper].
type change struct {
	cols         []int
	lower, upper float64
}

// tree is the state of one search.
type tree struct {
	root       *milp.Model               // as given, integer bounds rounded inwards
	box        *milp.Model               // the same rows; Vars carries the bounds of the current node
	round      func([]float64) []float64 // of milp.Start, or nil
	opt        Options
	groups     []group
	capacities []capacity
	listing    *listing // or nil
	freeCols   []int    // scratch of propagate: free columns of each group
	least      []int64  // and least use of each part of a row
	values     lattice
	relax      *relaxation
	safe       *milp.BoundEvaluator // over box

	floor, ceiling float64 // no point of the root box has an objective below or above

	x      []float64 // the incumbent, or nil
	cutoff float64   // its objective, rounded up; +Inf without one

	mixed   bool      // there are continuous variables
	claim   []float64 // the best point that is feasible to within a tolerance, if mixed
	claimed float64   // its objective, or +Inf

	open      frontier
	plunge    *node   // the child to look at next, ahead of open, or nil
	unsettled float64 // least bound of the leaves that could not be decided
	created   int

	// The root's bound and reduced costs fix columns again whenever the
	// incumbent improves.
	rootBound        float64
	rootLow, rootTop []float64

	nodes, iterations       int
	stopped                 milp.Termination // empty unless a limit ended the search
	shownBound, shownCutoff float64
	begin                   time.Time
	steps                   []milp.Step
}

func newTree(m *milp.Model, round func([]float64) []float64, o Options) *tree {
	root, box := *m, *m
	root.Vars = append([]milp.Variable(nil), m.Vars...)
	box.Vars = append([]milp.Variable(nil), m.Vars...)
	for j := range root.Vars {
		if v := &root.Vars[j]; v.Integer {
			v.Lower, v.Upper = math.Ceil(v.Lower), math.Floor(v.Upper)
		}
	}
	t := &tree{root: &root, box: &box, round: round, opt: o, cutoff: math.Inf(1), claimed: math.Inf(1), unsettled: math.Inf(1), rootBound: math.Inf(-1),
		shownBound: math.Inf(-1), shownCutoff: math.Inf(1)}
	t.mixed = slices.ContainsFunc(m.Vars, func(v milp.Variable) bool { return !v.Integer })
	t.groups = findGroups(&root)
	t.capacities = findCapacities(&root, t.groups)
	t.listing = newListing(&root, t.groups)
	t.freeCols = make([]int, len(t.groups))
	t.values = newLattice(&root, t.groups)
	t.safe = milp.NewBoundEvaluator(t.box)
	return t
}

// emptyRoot reports whether the root box is empty, or a row without columns
// is violated. Then nothing has to be searched.
func (t *tree) emptyRoot() bool {
	for _, v := range t.root.Vars {
		if v.Lower > v.Upper {
			return true
		}
	}
	for _, r := range t.root.Rows {
		if len(r.Cols) == 0 && (r.Sense != milp.GE && r.RHS < 0 || r.Sense != milp.LE && r.RHS > 0) {
			return true
		}
	}
	return false
}

func (t *tree) push(n *node) { heap.Push(&t.open, n) }

// search looks at nodes until none is left or a limit is reached.
func (t *tree) search(ctx context.Context, begin time.Time, l milp.Limits) {
	t.begin = begin
	t.push(&node{bound: t.values.roundUp(t.floor)})
	for t.plunge != nil || t.open.Len() > 0 {
		n := t.next()
		if t.dropped(n.bound) {
			continue
		}
		var left milp.Limits
		if l.Time > 0 {
			left.Time = l.Time - time.Since(begin)
		}
		switch {
		case ctx.Err() != nil:
			t.stopped = milp.Interrupted
		case l.Time > 0 && left.Time <= 0:
			t.stopped = milp.TimeLimit
		case l.Nodes > 0 && t.nodes >= l.Nodes:
			t.stopped = milp.NodeLimit
		default:
			t.visit(ctx, n, left)
		}
		if t.stopped != "" {
			t.push(n)
			return
		}
		t.report()
	}
}

// next removes the child being plunged into, or else the open node of least
// bound. A plunge ends where the bound has left the best quarter of the gap:
// it keeps the next linear program close to the last, at little cost in nodes.
func (t *tree) next() *node {
	if n := t.plunge; n != nil {
		t.plunge = nil
		if t.open.Len() == 0 || math.IsInf(t.cutoff, 1) {
			return n
		}
		if least := t.open[0].bound; n.bound <= least+(t.cutoff-least)/4 {
			return n
		}
		t.push(n)
	}
	return heap.Pop(&t.open).(*node)
}

// bound returns the proven lower bound of the whole model: the least bound of
// what has not been dropped, or the incumbent's objective.
func (t *tree) bound() float64 {
	b := min(t.unsettled, t.cutoff)
	if t.open.Len() > 0 {
		b = min(b, t.open[0].bound)
	}
	if t.plunge != nil {
		b = min(b, t.plunge.bound)
	}
	if t.x != nil && b == t.cutoff { // the cutoff is rounded up, a bound must not be
		b = floorOf(t.root.ExactObjective(t.x))
	}
	return b
}

// floorOf returns the largest float64 that is at most r.
func floorOf(r *big.Rat) float64 {
	f, exact := r.Float64()
	if !exact && new(big.Rat).SetFloat64(f).Cmp(r) > 0 {
		return math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// dropped reports whether a node with the given proven bound holds no point
// that is better than the incumbent.
func (t *tree) dropped(bound float64) bool { return bound >= t.cutoff || bound > t.ceiling }

// near reports whether a bound, in a model with continuous variables, is
// within rounding of the best point known. Such a node is not split; its bound
// keeps counting.
func (t *tree) near(bound float64) bool {
	best := min(t.cutoff, t.claimed)
	return t.mixed && !math.IsInf(best, 1) && within(best, bound)
}

// within reports whether a exceeds b by no more than rounding.
func within(a, b float64) bool {
	const gap = 1e-9
	return a-b <= gap*max(1, math.Abs(b))
}

// visit solves the node's linear program, drops the node or splits it.
func (t *tree) visit(ctx context.Context, n *node, left milp.Limits) {
	if !t.enter(n) || !t.propagate() {
		return
	}
	t.nodes++
	x, state := t.relax.solve(ctx, left)
	t.iterations += t.relax.iterations
	if state == aborted { // by ctx or by the time left
		t.nodes--
		t.stopped = milp.TimeLimit
		if ctx.Err() != nil {
			t.stopped = milp.Interrupted
		}
		return
	}
	var fixed []change
	switch state {
	case infeasible:
		if t.relax.y != nil && t.safe.Farkas(t.relax.y) > 0 {
			return
		}
	case solved:
		raw := t.safe.Bound(t.relax.y)
		n.bound = max(n.bound, t.values.roundUp(raw))
		if t.dropped(n.bound) {
			return
		}
		if n.parent == nil {
			t.keepRoot(raw)
		}
		t.tryPoint(x)
		if t.dropped(n.bound) {
			return
		}
		fixed = t.fixByReducedCost(raw)
	}
	t.split(n, x, fixed)
}

// enter sets the bounds of t.box to the node's. It returns false if the box is
// empty: the node held only points that its reduced costs, or the root's, have
// proven no better than the incumbent.
func (t *tree) enter(n *node) bool {
	vars := t.box.Vars
	for j := range vars {
		vars[j].Lower, vars[j].Upper = t.root.Vars[j].Lower, t.root.Vars[j].Upper
	}
	for ; n != nil; n = n.parent {
		for _, c := range n.changes {
			for _, j := range c.cols {
				v := &vars[j]
				v.Lower, v.Upper = max(v.Lower, c.lower), min(v.Upper, c.upper)
				if v.Lower > v.Upper {
					return false
				}
			}
		}
	}
	return true
}

// split creates the children of n. Without an integer variable left to split,
// n is a leaf: see settle.
func (t *tree) split(n *node, x []float64, fixed []change) {
	if t.near(n.bound) {
		t.unsettled = min(t.unsettled, n.bound)
		return
	}
	first, second, ok := t.choose(x)
	if !ok {
		t.settle(n)
		return
	}
	if len(fixed) > 0 { // they hold in both children
		n.changes = append(n.changes[:len(n.changes):len(n.changes)], fixed...)
	}
	for i, c := range []change{first, second} {
		t.created++
		child := &node{parent: n, changes: []change{c}, bound: n.bound, depth: n.depth + 1, id: t.created}
		if i == 0 {
			t.plunge = child
		} else {
			t.push(child)
		}
	}
}

// settle decides a leaf, whose integer variables are all fixed. If there are
// no others, its only point has been tried or is tried now.
func (t *tree) settle(n *node) {
	x := make([]float64, len(t.box.Vars))
	pure := true
	for j := range t.box.Vars {
		v := &t.box.Vars[j]
		x[j] = v.Lower
		pure = pure && v.Lower == v.Upper
	}
	t.offer(x)
	if !pure {
		t.unsettled = min(t.unsettled, n.bound)
	}
}

// report records, and tells Progress, if there is news.
func (t *tree) report() {
	b := t.bound()
	if b <= t.shownBound && t.cutoff >= t.shownCutoff {
		return
	}
	t.shownBound, t.shownCutoff = b, t.cutoff
	t.steps = milp.AddStep(t.steps, milp.Step{At: time.Since(t.begin), Primal: t.cutoff, Dual: b, Nodes: t.nodes})
	if t.opt.Progress != nil {
		t.opt.Progress(b, t.cutoff, t.nodes)
	}
}

// frontier is a heap of nodes: least bound first, then the deepest, then the
// youngest.
type frontier []*node

func (f frontier) Len() int      { return len(f) }
func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(x any)   { *f = append(*f, x.(*node)) }
func (f *frontier) Pop() any {
	old := *f
	n := old[len(old)-1]
	old[len(old)-1] = nil
	*f = old[:len(old)-1]
	return n
}
func (f frontier) Less(i, j int) bool {
	a, b := f[i], f[j]
	if a.bound != b.bound {
		return a.bound < b.bound
	}
	if a.depth != b.depth {
		return a.depth > b.depth
	}
	return a.id > b.id
}
