package elastic

import (
	"math"
	"math/big"

	"yardstick/bounds"
	"yardstick/formulate/maxweight/pricing"
)

// busyData are the data of MeanBusyTime: what share of each resource counts, and
// the sizes of the jobs on the machine, in ticks times Unit.
type busyData struct {
	Mix   []string `json:"mix"`
	Unit  int64    `json:"unit"`
	Sizes []int64  `json:"sizes"`
}

// proof returns the proof of the bound with a mix of resources.
func (w *work) proof(mix []*big.Rat) *bounds.Proof {
	sizes, _, unit := w.machine(mix)
	d := busyData{Unit: unit.Int64(), Sizes: sizes}
	for r, v := range mix { // λ_r/C_r
		share := new(big.Rat).Mul(v, new(big.Rat).SetInt(w.capacity[r]))
		d.Mix = append(d.Mix, share.RatString())
	}
	return &bounds.Proof{Kind: "elastic-busy", Data: d}
}

// gridData are what is charged for volume up to, or from, points of a grid in ticks.
type gridData struct {
	Grid   []int64     `json:"grid"`
	Charge [][]float64 `json:"charge"`
}

// gridProof returns the proof that the duals of the rows are of which there is one
// for every point of the grid and resource, before all others.
func (w *work) gridProof(kind string, grid []int64, duals []float64) *bounds.Proof {
	d := gridData{Grid: append([]int64{}, grid...), Charge: [][]float64{}}
	for k := range grid {
		list := make([]float64, len(w.capacity))
		for r := range list {
			if v := -duals[k*len(list)+r]; v > 0 && !math.IsInf(v, 0) {
				list[r] = v
			}
		}
		d.Charge = append(d.Charge, list)
	}
	return &bounds.Proof{Kind: kind, Data: d}
}

// pricesData are prices of resources: of a unit of resource r on server h in slot t,
// Price[h][r][t]·2^−Exponent.
type pricesData struct {
	Slots    int         `json:"slots"`
	Exponent int         `json:"exponent"`
	Price    [][][]int64 `json:"price"`
}

// pricesProof returns the proof that prices are.
func pricesProof(p *pricing.Prices, resources int) *bounds.Proof {
	d := pricesData{Slots: p.Slots, Exponent: p.Exponent}
	for at := 0; at < len(p.Of); at += resources * p.Slots {
		var server [][]int64
		for r := range resources {
			server = append(server, append([]int64{}, p.Of[at+r*p.Slots:][:p.Slots]...))
		}
		d.Price = append(d.Price, server)
	}
	return &bounds.Proof{Kind: "elastic-prices", Data: d}
}
