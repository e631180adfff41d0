package branch

import (
	"math"

	"yardstick/solvers/milp"
)

const integral = 1e-6 // how far from an integer a value of a linear program may be to pass for one

// choose returns the two changes that split the current box, the more
// promising first, or false if every integer variable is fixed. x is the point
// of the node's linear program, or nil.
//
// Assignment rows come first: in the fractional one with the largest spread,
// the list of columns in order of cost is cut at the mean of x, so that in a
// time-indexed model a job starts before or after some time. Then the most
// fractional variable; then, if x is integral or missing, whatever is not
// fixed.
func (t *tree) choose(x []float64) (first, second change, ok bool) {
	if x != nil {
		if g, cut := t.widestGroup(x); g != nil {
			return t.cutGroup(g, cut, x)
		}
		if j := t.mostFractional(x); j >= 0 {
			return t.cutVariable(j, x[j])
		}
	}
	for k := range t.groups {
		if g := &t.groups[k]; t.freeColumns(g) >= 2 {
			return t.cutGroup(g, t.middle(g, x), x)
		}
	}
	widest := -1
	for j := range t.box.Vars {
		if v := &t.box.Vars[j]; v.Integer && v.Upper > v.Lower &&
			(widest < 0 || v.Upper-v.Lower > t.box.Vars[widest].Upper-t.box.Vars[widest].Lower) {
			widest = j
		}
	}
	if widest < 0 {
		return change{}, change{}, false
	}
	v := &t.box.Vars[widest]
	at := v.Lower + (v.Upper-v.Lower)/2
	if x != nil {
		at = x[widest]
	}
	return t.cutVariable(widest, at)
}

func fractional(v float64) bool { return math.Abs(v-math.Round(v)) > integral }

// widestGroup returns the group in which the positions of x spread most, and
// the last position left of the cut, or nil if x is integral on all.
func (t *tree) widestGroup(x []float64) (*group, int) {
	var best *group
	var bestSpread float64
	var bestCut int
	for k := range t.groups {
		g := &t.groups[k]
		total, sum, squares, some := 0.0, 0.0, 0.0, false
		for p, j := range g.cols {
			if v := x[j]; v > 0 {
				total += v
				sum += v * float64(p)
				squares += v * float64(p) * float64(p)
				some = some || fractional(v)
			}
		}
		if !some || t.freeColumns(g) < 2 {
			continue // one free column and an elastic one share the row
		}
		mean := sum / total
		if spread := squares/total - mean*mean; best == nil || spread > bestSpread {
			best, bestSpread, bestCut = g, spread, int(mean)
		}
	}
	if best == nil {
		return nil, 0
	}
	return best, bestCut
}

// freeColumns counts the columns of g that may still be 1.
func (t *tree) freeColumns(g *group) int {
	n := 0
	for _, j := range g.cols {
		if t.box.Vars[j].Upper > 0 {
			n++
		}
	}
	return n
}

// middle returns a cut of a group with at least two free columns: at the
// column that is 1 in x, if there is one, and otherwise halfway.
func (t *tree) middle(g *group, x []float64) int {
	half, seen := t.freeColumns(g)/2, 0
	for p, j := range g.cols {
		if t.box.Vars[j].Upper > 0 {
			seen++
		}
		if x != nil && x[j] > 0.5 || x == nil && seen == half {
			return p
		}
	}
	return 0
}

// cutGroup fixes to zero what is right of position cut, or what is not. The
// cut is moved so that both parts hold a free column.
func (t *tree) cutGroup(g *group, cut int, x []float64) (first, second change, ok bool) {
	lo, hi := -1, -1 // first and last free position
	for p, j := range g.cols {
		if t.box.Vars[j].Upper > 0 {
			if lo < 0 {
				lo = p
			}
			hi = p
		}
	}
	cut = min(max(cut, lo), hi-1)
	left := change{cols: g.cols[cut+1:]}
	right := change{cols: g.cols[:cut+1]}
	inLeft, inRight := 0.0, 0.0
	if x != nil {
		for p, j := range g.cols {
			if p <= cut {
				inLeft += x[j]
			} else {
				inRight += x[j]
			}
		}
	}
	if inRight > inLeft {
		return right, left, true
	}
	return left, right, true
}

// mostFractional returns the integer variable farthest from an integer, or -1.
func (t *tree) mostFractional(x []float64) int {
	best, bestDistance := -1, integral
	for j := range t.box.Vars {
		v := &t.box.Vars[j]
		if !v.Integer || v.Upper <= v.Lower {
			continue
		}
		if d := math.Abs(x[j] - math.Round(x[j])); d > bestDistance {
			best, bestDistance = j, d
		}
	}
	return best
}

// cutVariable splits variable j, which is not fixed, near at. It returns false
// where float64 has no integers in between.
func (t *tree) cutVariable(j int, at float64) (first, second change, ok bool) {
	v := &t.box.Vars[j]
	below := min(max(math.Floor(at), v.Lower), v.Upper-1)
	if below+1 <= below || below >= v.Upper {
		return change{}, change{}, false
	}
	cols := []int{j}
	low := change{cols: cols, lower: v.Lower, upper: below}
	high := change{cols: cols, lower: below + 1, upper: v.Upper}
	if at-below > 0.5 {
		return high, low, true
	}
	return low, high, true
}

// keepRoot stores what fixing columns at the root needs. The bound is over the
// current box, which propagation may have made smaller than the root's, and so
// the root's has to shrink with it.
func (t *tree) keepRoot(bound float64) {
	t.rootBound = bound
	copy(t.root.Vars, t.box.Vars)
	for j := range t.box.Vars {
		lo, hi := t.safe.ReducedCost(j)
		t.rootLow, t.rootTop = append(t.rootLow, lo), append(t.rootTop, hi)
	}
}

// fixRoot fixes columns in the root box, after the incumbent has improved.
func (t *tree) fixRoot() {
	for j := range t.rootLow {
		v := &t.root.Vars[j]
		if at, ok := t.fixedAt(v, t.rootBound, t.rootLow[j], t.rootTop[j]); ok {
			v.Lower, v.Upper = at, at
		}
	}
}

// fixByReducedCost returns the fixings of the current node, whose duals were
// the last to be evaluated, that its box does not have yet.
func (t *tree) fixByReducedCost(bound float64) []change {
	if math.IsInf(t.cutoff, 1) {
		return nil
	}
	at := map[float64][]int{}
	for j := range t.box.Vars {
		v := &t.box.Vars[j]
		lo, hi := t.safe.ReducedCost(j)
		if value, ok := t.fixedAt(v, bound, lo, hi); ok {
			at[value] = append(at[value], j)
		}
	}
	var out []change
	for value, cols := range at { // the order does not matter: each column occurs once
		out = append(out, change{cols: cols, lower: value, upper: value})
	}
	return out
}

// fixedAt returns the bound that an integer variable must be at in every point
// better than the incumbent: moving one unit off it costs at least |d|, and
// bound + |d| reaches the incumbent's objective. bound is L(y) for the box of
// v, and [lo, hi] holds the reduced cost d.
func (t *tree) fixedAt(v *milp.Variable, bound, lo, hi float64) (float64, bool) {
	if !v.Integer || v.Lower >= v.Upper {
		return 0, false
	}
	reaches := func(d float64) bool {
		return t.dropped(t.values.roundUp(math.Nextafter(bound+d, math.Inf(-1))))
	}
	switch {
	case lo > 0 && reaches(lo):
		return v.Lower, true
	case hi < 0 && reaches(-hi):
		return v.Upper, true
	}
	return 0, false
}
