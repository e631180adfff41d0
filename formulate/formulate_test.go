package formulate_test

import (
	"math"
	"math/big"
	"testing"

	"yardstick/formulate"
	"yardstick/solvers/milp"
)

// Only the bounds of exact programs and relaxations bound the instance.
func TestDualBound(t *testing.T) {
	r := milp.NoResult(milp.NodeLimit)
	r.Dual, r.DualBound = milp.Proven, 7
	for relation, want := range map[formulate.Relation]float64{formulate.Exact: 7, formulate.Relaxation: 7, formulate.Restriction: math.Inf(-1)} {
		p := &formulate.Program{Relation: relation}
		bound, evidence := p.DualBound(r)
		if bound != want || (evidence == milp.Proven) != (want == 7) {
			t.Errorf("%v: %v, %q", relation, bound, evidence)
		}
		if relation.String() == "" {
			t.Errorf("relation %d has no name", relation)
		}
	}
}

// A shifted model keeps the promise of integral costs only by integers, and never
// costs more than it should.
func TestShift(t *testing.T) {
	for _, c := range []struct {
		by       *big.Rat
		integral bool
	}{{big.NewRat(-7, 1), true}, {big.NewRat(-7, 2), false}, {big.NewRat(1, 3), false}, {big.NewRat(1<<53+1, 1), true}} {
		m := &milp.Model{Constant: 2, IntegralCost: true}
		formulate.Shift(m, c.by)
		want := new(big.Rat).Add(c.by, big.NewRat(2, 1))
		got := new(big.Rat).SetFloat64(m.Constant)
		if m.IntegralCost != c.integral || got.Cmp(want) > 0 || want.Sub(want, got).Cmp(big.NewRat(2, 1)) > 0 {
			t.Errorf("shifted by %v: constant %v, integral %v", c.by, m.Constant, m.IntegralCost)
		}
	}
}
