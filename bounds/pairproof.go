package bounds

import "math"

// pairData are the data of the program over pairs: its dual values, by slot and
// job, with the sign changed in rows of kind ≤.
type pairData struct {
	Slotted  bool        `json:"slotted"`
	Slot     int64       `json:"slot"`
	Slots    int         `json:"slots"`
	Done     []float64   `json:"done"`
	Progress [][]float64 `json:"progress"`
	Gang     [][]float64 `json:"gang"`
	Capacity []float64   `json:"capacity"`
}

// proof returns the proof that the duals of the rows are, in the order of model.
func (p *pairs) proof(duals []float64) *Proof {
	n, slots := len(p.jobs), p.grid.Slots()
	d := pairData{Slotted: p.slotted, Slot: int64(p.slot), Slots: slots, Done: make([]float64, n), Capacity: make([]float64, slots)}
	next := func() float64 {
		v := duals[0]
		duals = duals[1:]
		return v
	}
	charge := func() float64 { return max(0, -finiteOr0(next())) }
	for k := range slots {
		progress, gang, present := make([]float64, n), make([]float64, n), false
		for j := range n {
			if _, part := p.span(j, k); part {
				progress[j], gang[j], present = charge(), charge(), true
			}
		}
		d.Progress, d.Gang = append(d.Progress, progress), append(d.Gang, gang)
		if present {
			d.Capacity[k] = charge()
		}
	}
	for j := range n {
		d.Done[j] = finiteOr0(next())
	}
	return &Proof{"pair-lp", d}
}

// finiteOr0 returns v, or 0 for what is no number.
func finiteOr0(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
