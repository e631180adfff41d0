package tables

import (
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/sched"
)

// A best-known schedule of class Y says what class X can reach iff Y → X: the reverse of
// bounds, of which one of class Y divides schedules of X iff X → Y. All pairs of classes
// are compared with the lattice.
func TestBestKnownByClass(t *testing.T) {
	kinds := []sched.Kind{sched.N, sched.P, sched.P0, sched.S, sched.SP0, sched.E, sched.EP, sched.M}
	related := 0
	for _, y := range kinds {
		for _, x := range kinds {
			for k := range 4 {
				from, to := sched.Class{Kind: y, Slotted: k&1 == 1}, sched.Class{Kind: x, Slotted: k&2 == 2}
				s := standing{objective: sched.TotalJCT, schedules: []verifiedCost{{"some", from, big.NewRat(13, 1)}}}
				if got := s.bestKnown(to); (got != nil) != from.Reaches(to) {
					t.Errorf("a schedule of class %v as the best known of class %v: %v", from, to, got)
				} else if got != nil {
					related++
				}
				b := bounds.Bound{Name: "other", Class: to, Objective: sched.TotalJCT, Value: big.NewRat(13, 1)}
				if (b.Divides(from, sched.TotalJCT) == nil) != from.Reaches(to) {
					t.Errorf("a bound of class %v divides class %v", to, from)
				}
			}
		}
	}
	if related < 2*len(kinds) {
		t.Errorf("%d related pairs", related)
	}
}

// A schedule without the rules of N that costs 13 makes no statement beside an optimum
// of N of 14: the ratio of the optimal policy is 1 and not 14/13.
func TestCheaperClassIsNoBestKnown(t *testing.T) {
	n, p0 := sched.Class{Kind: sched.N}, sched.Class{Kind: sched.P0}
	s := standing{objective: sched.TotalJCT,
		schedules: []verifiedCost{{"relaxed", p0, big.NewRat(13, 1)}, {"policy", n, big.NewRat(15, 1)}, {"exact", n, big.NewRat(14, 1)}, {"again", n, big.NewRat(14, 1)}},
		bounds:    []bounds.Bound{{Name: "exact", Class: n, Objective: sched.TotalJCT, Value: big.NewRat(14, 1)}}}
	if best := s.bestKnown(n); best.method != "exact" || best.cost.Cmp(big.NewRat(14, 1)) != 0 {
		t.Errorf("the best known of N is %v", best)
	}
	if best := s.bestKnown(p0); best.method != "relaxed" {
		t.Errorf("the best known of P0 is %v", best)
	}
	if s.optimum(n) == nil || s.optimum(p0) != nil {
		t.Errorf("optima %v and %v", s.optimum(n), s.optimum(p0))
	}
}
