package bench

import (
	"time"

	"yardstick/internal/strictjson"
)

// Estimate says how long the cells of a plan that are not finished will take,
// by the wall-clock times of those that are: the mean of the same method on the
// same family of instances, of the same method, or of all, whichever there is.
type Estimate struct {
	Cells    []time.Duration // by index; 0 for finished cells
	Open     []bool          // by index: not finished
	Finished int             // cells whose times are known
}

// Estimate reads the times of the plan's finished cells.
func (s *Store) Estimate(plan *Plan) Estimate {
	type mean struct {
		total time.Duration
		count time.Duration
	}
	keys := func(c Cell) [3]string {
		method := c.Method.Ref().String()
		return [3]string{method + "\x00" + c.Instance.Family, method, ""}
	}
	means := map[string]mean{}
	e := Estimate{Cells: make([]time.Duration, len(plan.Cells)), Open: make([]bool, len(plan.Cells))}
	for i, c := range plan.Cells {
		if _, ok := s.find(c); !ok {
			e.Open[i] = true
			continue
		}
		e.Finished++
		for _, key := range keys(c) {
			m := means[key]
			means[key] = mean{m.total + s.wall(c), m.count + 1}
		}
	}
	for i, c := range plan.Cells {
		if !e.Open[i] {
			continue
		}
		for _, key := range keys(c) {
			if m, ok := means[key]; ok {
				e.Cells[i] = m.total / m.count
				break
			}
		}
	}
	return e
}

// wall is the wall-clock time of a finished cell.
func (s *Store) wall(c Cell) time.Duration {
	var known struct {
		Wall time.Duration `json:"wall_ns"`
	}
	if entry, ok := s.journal.Find(c.ID); ok {
		if content, err := s.journal.Read(entry); err != nil || strictjson.UnmarshalPart(content, &known) != nil {
			return 0 // it has become unreadable since it was found
		}
	}
	return known.Wall
}
