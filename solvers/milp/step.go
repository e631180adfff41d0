package milp

import "time"

// Step is a moment of a search at which its bound or its incumbent changed.
type Step struct {
	At     time.Duration // since the solve began
	Primal float64       // objective of the incumbent; +Inf without one
	Dual   float64       // proven bound; -Inf without one
	Nodes  int
}

// MostSteps is how many steps a trajectory holds at most.
const MostSteps = 2000

// AddStep appends a step to a trajectory. A full one first loses every second
// of its steps, except the first of each incumbent.
func AddStep(steps []Step, s Step) []Step {
	if len(steps) >= MostSteps {
		kept := steps[:0]
		last := Step{}
		for i, old := range steps {
			if i%2 == 0 || old.Primal != last.Primal {
				kept = append(kept, old)
			}
			last = old
		}
		steps = kept
	}
	return append(steps, s)
}
