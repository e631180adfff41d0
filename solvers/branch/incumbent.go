package branch

import (
	"math"
	"slices"

	"yardstick/solvers/milp"
)

// tryPoint looks for an incumbent near the point of a linear program, which
// may be missing: the point itself if it is integral, and what the caller's
// rounding, or else the list, makes of it.
func (t *tree) tryPoint(x []float64) {
	if x == nil {
		return
	}
	if !t.fractionalPoint(x) {
		near, err := milp.Certify(t.root, x)
		if err == nil {
			t.offer(near)
		}
		if t.mixed {
			t.offerShort(x)
			t.keepClaim(near)
		}
	}
	switch {
	case t.round != nil:
		t.offer(t.round(x))
	case t.listing != nil:
		t.offer(t.listing.point(x, t.root.Vars))
	}
}

func (t *tree) fractionalPoint(x []float64) bool {
	for j := range t.root.Vars {
		if t.root.Vars[j].Integer && fractional(x[j]) {
			return true
		}
	}
	return false
}

// offerShort offers x with its continuous values rounded to short binary
// fractions, to the nearest one, up and down. A linear program returns 3.5 as
// 3.4999999999999996, which an exact check refuses, and pushed until it
// passes may be a little above the optimum.
func (t *tree) offerShort(x []float64) {
	for _, bits := range []int{0, 4, 10, 20, 30} {
		for _, round := range []func(float64) float64{math.Round, math.Ceil, math.Floor} {
			near := slices.Clone(x)
			for j := range t.root.Vars {
				v := &t.root.Vars[j]
				if v.Integer {
					near[j] = math.Round(x[j])
				} else {
					near[j] = math.Ldexp(round(math.Ldexp(x[j], bits)), -bits)
				}
				near[j] = min(max(near[j], v.Lower), v.Upper) + 0 // +0: no negative zero
			}
			t.offer(near)
		}
	}
}

// keepClaim remembers a point that is feasible within a tolerance.
func (t *tree) keepClaim(x []float64) {
	const tolerance = 1e-6
	if milp.CheckWithin(t.root, x, tolerance) != nil {
		return
	}
	if o := t.root.Objective(x); o < t.claimed {
		t.claim, t.claimed = x, o
	}
}

// offer makes x the incumbent if it is feasible and better.
func (t *tree) offer(x []float64) {
	if len(x) != len(t.root.Vars) || slices.ContainsFunc(x, notANumber) || !t.better(x) || milp.Check(t.root, x) != nil {
		return
	}
	t.x, t.cutoff = append([]float64{}, x...), t.root.Objective(x) // not nil, even without variables
	t.fixRoot()
}

func notANumber(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// better compares x exactly with the incumbent.
func (t *tree) better(x []float64) bool {
	if t.x == nil {
		return true
	}
	if o := t.root.Objective(x); o != t.cutoff {
		return o < t.cutoff
	}
	if t.values.known { // sums of integers: the objectives were not rounded
		return false
	}
	return t.root.ExactObjective(x).Cmp(t.root.ExactObjective(t.x)) < 0
}
