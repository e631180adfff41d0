package milp

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"
)

// However many steps there are, a trajectory stays within its limit, in order,
// with the first step of every incumbent.
func TestAddStep(t *testing.T) {
	var steps []Step
	first := map[float64]int{}
	for i := range 50_000 {
		primal := float64(100 - i/5000)
		if _, seen := first[primal]; !seen {
			first[primal] = i
		}
		steps = AddStep(steps, Step{At: time.Duration(i), Primal: primal, Dual: float64(i), Nodes: i})
		if len(steps) > MostSteps {
			t.Fatalf("%d steps after %d", len(steps), i)
		}
	}
	seen := map[float64]bool{}
	for i, s := range steps {
		if i > 0 && s.At <= steps[i-1].At {
			t.Fatalf("step %d at %d after one at %d", i, s.At, steps[i-1].At)
		}
		if !seen[s.Primal] && s.Nodes != first[s.Primal] {
			t.Errorf("the first step with incumbent %v is of node %d, not %d", s.Primal, s.Nodes, first[s.Primal])
		}
		seen[s.Primal] = true
	}
	if len(seen) != 10 || steps[len(steps)-1].Nodes != 49_999 {
		t.Errorf("%d incumbents, last node %d", len(seen), steps[len(steps)-1].Nodes)
	}
}

// Steps survive JSON, with infinite values too.
func TestStepJSON(t *testing.T) {
	want := []Step{{At: 1, Primal: math.Inf(1), Dual: math.Inf(-1), Nodes: 2}, {Primal: -3.5, Dual: math.Inf(-1)}, {Primal: math.Inf(1), Dual: math.Inf(1)}, {Primal: 1e300 / 3, Dual: 0.1, Nodes: 7}}
	text, err := json.Marshal(want)
	var got []Step
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v: %s", got, err, text)
	}
}
