package pricing

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"yardstick/sched"
)

// Prices are what a unit of each resource costs on each server in each slot.
// They are not changed once made.
type Prices struct {
	// Slots is how many slots have prices. Later ones are free.
	Slots int
	// Exponent gives the unit: an amount v means v·2^−Exponent.
	Exponent int
	// Of has the prices: that of resource r on server h in slot t is at
	// (h·R + r)·Slots + t. None is negative.
	Of []int64

	total int64 // Σ C δ
}

// maxTotal bounds Σ C δ, so that sums of a few costs fit an int64.
const maxTotal = 1 << 60

// NewPrices returns the given prices. It panics if there are not Slots for every
// server and resource, or one is negative.
//
// Errors: Σ C δ exceeds 2^60.
func NewPrices(in *sched.Instance, slots, exponent int, of []int64) (*Prices, error) {
	p := &Prices{Slots: slots, Exponent: exponent, Of: of}
	resources := len(in.Elastic.Resources)
	if len(of) != len(in.Cluster.Servers)*resources*slots {
		panic(fmt.Sprintf("pricing: %d prices for %d servers, %d resources and %d slots", len(of), len(in.Cluster.Servers), resources, slots))
	}
	at := 0
	for h := range in.Cluster.Servers {
		for _, capacity := range in.Cluster.Servers[h].Capacity {
			for range slots {
				if of[at] < 0 {
					panic(fmt.Sprintf("pricing: a price of %d", of[at]))
				}
				high, low := bits.Mul64(uint64(of[at]), uint64(capacity))
				if high > 0 || low > maxTotal-uint64(p.total) {
					return nil, fmt.Errorf("pricing: all resources together cost more than 2^60 units")
				}
				p.total += int64(low)
				at++
			}
		}
	}
	return p, nil
}

// Round returns prices rounded down to whole units, a power of two such that
// neither Σ C δ nor the amount given is more than 2^59 units, and the larger one
// at least 2^58: the amount is the largest cost of time that queries will add, or
// 0. Prices of what no server has, and those that are not positive numbers,
// become 0.
//
// Shape: delta is laid out as Prices.Of.
func Round(in *sched.Instance, slots int, delta []float64, amount float64) *Prices {
	resources := len(in.Elastic.Resources)
	total := 0.0
	clean := make([]float64, len(delta))
	for i, v := range delta {
		h, r := i/slots/resources, i/slots%resources
		if c := in.Cluster.Servers[h].Capacity[r]; c > 0 && v > 0 && v < math.MaxFloat64/1e40 {
			clean[i] = v
			total += v * float64(c)
		}
	}
	exponent := 0
	if largest := max(total, amount); largest > 0 {
		_, e := math.Frexp(largest) // largest < 2^e
		exponent = min(59-e, 900)   // one less than 60, for the rounding of the sum
	}
	of := make([]int64, len(delta))
	for i, v := range clean {
		of[i] = int64(math.Ldexp(v, exponent))
	}
	p, err := NewPrices(in, slots, exponent, of)
	if err != nil { // a sum of rounded-down terms cannot exceed the sum
		panic(err)
	}
	return p
}

// Total returns Σ C δ, what all resources cost together in all slots, in units.
func (p *Prices) Total() int64 { return p.total }

// Units returns the largest number of units that are worth at most v, which
// must not be negative, and at most 2^61.
func (p *Prices) Units(v float64) int64 {
	return int64(min(math.Floor(math.Ldexp(v, p.Exponent)), maxTimeCost))
}

// Value returns what a number of units is worth.
func (p *Prices) Value(units *big.Int) *big.Rat {
	one := big.NewInt(1)
	if p.Exponent >= 0 {
		return new(big.Rat).SetFrac(units, one.Lsh(one, uint(p.Exponent)))
	}
	return new(big.Rat).SetInt(one.Lsh(units, uint(-p.Exponent)))
}

// Float returns the price of a resource, in the units of what Round was given.
func (p *Prices) Float(index int) float64 { return math.Ldexp(float64(p.Of[index]), -p.Exponent) }

// Cost returns what the schedule takes, without the cost of time, in units. It
// panics if the schedule takes more than there is.
func (p *Prices) Cost(in *sched.Instance, c *Choice) int64 {
	sum := int64(0)
	c.Use(in, func(h, r int, amount int64) {
		if amount > in.Cluster.Servers[h].Capacity[r] {
			panic(fmt.Sprintf("pricing: a schedule takes %d of resource %d of server %d", amount, r, h))
		}
		row := p.row(len(in.Elastic.Resources), h, r)
		for t := min(c.Start, int64(p.Slots)); t < min(c.End(), int64(p.Slots)); t++ {
			sum += amount * row[t]
		}
	})
	return sum
}

func (p *Prices) row(resources, h, r int) []int64 {
	return p.Of[(h*resources+r)*p.Slots:][:p.Slots]
}
