package primaldual

import (
	"fmt"
	"math"

	"yardstick/sched"
)

// Pricing says how prices rise with the load of a resource.
type Pricing uint8

// The pricings. In all of them a unit of resource r of server h, of which β of C
// are taken, costs mu·(λ^(β/C) − 1), divided by C if Normalised.
const (
	// Printed is Eq. (11): λ = 2THRF + 1, where T is the number of slots, H that
	// of servers, R that of resources, and F the largest ratio of a weight to the
	// amounts that a schedule takes over its slots, all resources added up. The
	// paper scales weights such that the least such ratio is 1; here mu is that
	// ratio, which is the same.
	Printed Pricing = iota
	// Corrected makes the approximation ratio that Theorem 3 claims a proven
	// one, (1 + mu·S)·log2 λ for small demands: λ = 2F/mu + 3, where F is the
	// largest ratio of a weight to any one positive amount that the job's
	// schedules take of a resource in a slot, S the largest ratio of all a schedule
	// takes to the weight, and mu = 1/(S·log2(2FS + 2)). See docs/primaldual.md.
	Corrected
	// Normalised is Corrected in shares f/C of the capacities instead of
	// amounts, with mu = 1/S; it has no proof, but does not depend on the units of
	// the resources.
	Normalised
)

var pricingNames = []string{"printed", "corrected", "normalised"}

func (p Pricing) String() string { return pricingNames[p] }

// MarshalText implements encoding.TextMarshaler.
func (p Pricing) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Pricing) UnmarshalText(text []byte) error {
	return parse(p, text, pricingNames, "pricing")
}

// parse sets v to the index of the text among the names.
func parse[T ~uint8](v *T, text []byte, names []string, what string) error {
	for i, name := range names {
		if name == string(text) {
			*v = T(i)
			return nil
		}
	}
	return fmt.Errorf("%s %q is unknown: %v", what, text, names)
}

// Tariff is the price function of one batch, with the quantities that it was
// made of. Those are bounds over all schedules of the batch that end by the
// horizon, in floating point.
type Tariff struct {
	Mu, Lambda float64
	PerShare   bool    // prices are for shares of the capacity
	F, S       float64 // as defined at Pricing

	// Crowd bounds f·log2(λ)/C, where f is what one job takes of a resource of a
	// server in a slot. Theorem 3 needs at most 1, printed and corrected.
	Crowd float64
}

// Ratio returns (1 + mu·S)·log2 λ, the approximation ratio of A_maxweight with
// corrected prices where no demand f exceeds C/log2 λ.
func (t *Tariff) Ratio() float64 { return (1 + t.Mu*t.S) * math.Log2(t.Lambda) }

// rates collects what a tariff is made of.
type rates struct {
	pricing     Pricing
	least, f, s float64 // least: of w/Σf
	crowd       float64
	factor      float64 // of f, beyond what the jobs need
}

func newRates(p Pricing) *rates { return &rates{pricing: p, least: math.Inf(1), factor: 1} }

// add takes a job into account.
func (x *rates) add(weight float64, d *demands) {
	x.crowd = max(x.crowd, d.crowd)
	switch x.pricing {
	case Printed:
		x.least = min(x.least, weight/d.most)
		x.f, x.s = max(x.f, weight/d.least), max(x.s, d.most/weight)
	case Corrected:
		x.f, x.s = max(x.f, weight/d.unit), max(x.s, d.most/weight)
	case Normalised:
		x.f, x.s = max(x.f, weight/d.unitShare), max(x.s, d.mostShare/weight)
	}
}

// tariff returns the tariff of the jobs taken into account, T being the given
// number of slots.
func (x *rates) tariff(in *sched.Instance, slots int64) Tariff {
	t := Tariff{PerShare: x.pricing == Normalised, F: x.f * x.factor, S: x.s}
	switch x.pricing {
	case Printed:
		t.Mu = x.least
		t.F /= t.Mu
		t.Lambda = 2*float64(slots)*float64(len(in.Cluster.Servers)*len(in.Elastic.Resources))*t.F + 1
	case Corrected:
		t.Mu = 1 / (t.S * math.Log2(2*t.F*t.S+2))
		t.Lambda = 2*t.F/t.Mu + 3
	case Normalised:
		t.Mu = 1 / t.S
		t.Lambda = 2*t.F/t.Mu + 3
	}
	t.Crowd = x.crowd * math.Log2(t.Lambda)
	return t
}

// price returns the price of a unit of a resource of which a part is taken.
func (t *Tariff) price(taken, capacity int64) float64 {
	p := t.Mu * math.Expm1(float64(taken)/float64(capacity)*math.Log(t.Lambda))
	if t.PerShare {
		p /= float64(capacity)
	}
	return p
}
