package formulate_test

import (
	"math"
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
