package interval

import (
	"math"

	"yardstick/bounds"
)

// proofData are dual values of PTI or CONF: see docs/certificates.md.
type proofData struct {
	Grid    []int64        `json:"grid"`
	Jobs    []float64      `json:"jobs"`
	Slots   []float64      `json:"slots"`
	Divisor []int64        `json:"divisor"`
	Parts   []partCharge   `json:"parts,omitempty"`
	Least   []bounds.Claim `json:"least,omitempty"`
}

// partCharge is what a slot charges for a part of so many GPUs of a server of a
// size, for each and every microsecond: Charge/Divisor; or, with both 0, for each GPU
// of a job for which any will do.
type partCharge struct {
	Slot    int     `json:"slot"`
	Size    int     `json:"size"`
	GPUs    int     `json:"gpus"`
	Charge  float64 `json:"charge"`
	Divisor int64   `json:"divisor"`
}

// proof returns the proof that the duals of the rows are, in the order of build.
func (m *program) proof(x Relaxation, duals []float64) *bounds.Proof {
	d := proofData{Grid: m.p.grid.Micros(), Slots: make([]float64, m.p.grid.Slots()), Divisor: make([]int64, m.p.grid.Slots()), Least: m.p.claims}
	next := func() float64 {
		v := duals[0]
		duals = duals[1:]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0
		}
		return v
	}
	for range m.p.jobs {
		d.Jobs = append(d.Jobs, next())
	}
	for k, divisor := range m.divisor {
		if d.Divisor[k] = max(1, divisor); divisor > 0 {
			d.Slots[k] = max(0, -next())
		}
	}
	for _, r := range m.parts {
		// Of the rows that count servers, the check finds the best duals itself.
		if charge := max(0, -next()); charge > 0 && (r.part.gpus > 0 || r.part.size == 0) {
			d.Parts = append(d.Parts, partCharge{r.slot, r.part.size, r.part.gpus, charge, r.divisor})
		}
	}
	return &bounds.Proof{Kind: x.String(), Data: d}
}

// partRow says what a row of packing is about: parts; servers of a size, if gpus
// is 0; or jobs for which any GPUs will do, if both are.
type partRow struct {
	slot    int
	part    part
	divisor int64
}
