package preemptive

import (
	"math"
	"math/big"

	"yardstick/bounds"
)

// aloneData are the data of the bound of jobs alone.
type aloneData struct {
	Least []bounds.Claim `json:"least,omitempty"`
}

// gridData are the data of the program over a grid: see docs/certificates.md.
type gridData struct {
	Slot  int64          `json:"slot"`
	Slots int            `json:"slots"`
	Jobs  []float64      `json:"jobs"`
	Unit  string         `json:"unit"`
	Rules []rule         `json:"rules"`
	Rows  [][]gridRow    `json:"rows"`
	Least []bounds.Claim `json:"least,omitempty"`
}

// rule is a limit for all jobs.
type rule struct {
	Most  int64   `json:"most"`
	Share []int64 `json:"share"`
}

type gridRow struct {
	Rule   int     `json:"rule"`
	Charge float64 `json:"charge"`
}

// addRules adds limits of the jobs that are present.
func (g *grid) addRules(present []int, rows []limit) {
	for _, l := range rows {
		r := rule{Most: int64(l.most), Share: make([]int64, len(g.jobs))}
		for c, i := range present {
			r.Share[i] = int64(l.share[c])
		}
		g.rules = append(g.rules, r)
	}
}

// proof returns the proof that the duals of the rows are, in the order of build.
func (g *grid) proof(duals []float64) *bounds.Proof {
	d := gridData{Slot: int64(g.slot), Slots: g.slots, Rules: g.rules, Rows: make([][]gridRow, g.slots), Least: g.claims}
	unit := new(big.Rat).Quo(g.scale, new(big.Rat).SetInt64(int64(g.unit)))
	d.Unit = unit.RatString()
	for i := range g.jobs {
		d.Jobs = append(d.Jobs, clean(duals[i]))
	}
	duals = duals[len(g.jobs):]
	for k, rules := range g.rows {
		d.Rows[k] = []gridRow{}
		for n, r := range rules {
			if charge := -clean(duals[n]); charge > 0 {
				d.Rows[k] = append(d.Rows[k], gridRow{r, charge})
			}
		}
		duals = duals[len(rules):]
	}
	return &bounds.Proof{Kind: "grid-lp", Data: d}
}

// clean returns v, or 0 for what is no number.
func clean(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
