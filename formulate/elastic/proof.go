package elastic

import (
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
			server = append(server, p.Of[at+r*p.Slots:][:p.Slots])
		}
		d.Price = append(d.Price, server)
	}
	return &bounds.Proof{Kind: "elastic-prices", Data: d}
}
