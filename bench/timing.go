package bench

import "time"

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
		r, ok := s.find(c)
		if !ok {
			e.Open[i] = true
			continue
		}
		e.Finished++
		for _, key := range keys(c) {
			m := means[key]
			means[key] = mean{m.total + r.Wall, m.count + 1}
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
