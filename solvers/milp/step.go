package milp

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"yardstick/internal/strictjson"
)

// Step is a moment of a search at which its bound or its incumbent changed.
type Step struct {
	At     time.Duration // since the solve began
	Primal float64       // objective of the incumbent; +Inf without one
	Dual   float64       // proven bound; -Inf without one
	Nodes  int
}

// stepJSON is a Step in JSON, whose numbers are not infinite: values are texts.
type stepJSON struct {
	At           time.Duration
	Primal, Dual string
	Nodes        int
}

// MarshalJSON implements json.Marshaler.
func (s Step) MarshalJSON() ([]byte, error) {
	exact := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return json.Marshal(stepJSON{s.At, exact(s.Primal), exact(s.Dual), s.Nodes})
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Step) UnmarshalJSON(text []byte) error {
	var j stepJSON
	if err := strictjson.Unmarshal(text, &j); err != nil {
		return err
	}
	primal, err1 := strconv.ParseFloat(j.Primal, 64)
	dual, err2 := strconv.ParseFloat(j.Dual, 64)
	*s = Step{At: j.At, Primal: primal, Dual: dual, Nodes: j.Nodes}
	return errors.Join(err1, err2)
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
