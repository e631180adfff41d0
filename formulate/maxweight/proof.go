package maxweight

import "yardstick/bounds"

// proofData are prices of resources, of a unit of resource r on server h in slot t
// Price[h][r][t]·2^−Exponent, and the factor that they are multiplied by.
type proofData struct {
	Theta    string      `json:"theta"`
	Slots    int         `json:"slots"`
	Exponent int         `json:"exponent"`
	Price    [][][]int64 `json:"price"`
}

// Proof returns what a certificate of the bound is made of, for an instance of so
// many servers and resources.
func (b *Bound) Proof(servers, resources int) *bounds.Proof {
	p := b.Prices
	d := proofData{Theta: b.Theta.RatString(), Slots: p.Slots, Exponent: p.Exponent, Price: [][][]int64{}}
	for h := range servers {
		server := [][]int64{}
		for r := range resources {
			server = append(server, append([]int64{}, p.Of[(h*resources+r)*p.Slots:][:p.Slots]...))
		}
		d.Price = append(d.Price, server)
	}
	return &bounds.Proof{Kind: "weight-prices", Data: d}
}
