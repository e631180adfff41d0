package bounds

import (
	"fmt"
	"math"
	"math/big"

	"yardstick/sched"
)

// Prices are prices of GPUs over time: in slot k, one GPU costs π_k =
// Price[k]·2^Exponent per microsecond, in units of the objective's weights;
// after the last slot nothing. They are a dual certificate: whatever they are,
// no non-preemptive schedule of exclusive gangs costs less than
//
//	L(π) = Σ_j min_{t ≥ r_j} { w_j (t + d_j) + g_j ∫_t^{t+d_j} π } − G' ∫ π.
//
// Proof. Job j holds g_j GPUs over some interval [t, C_j) with t ≥ r_j and
// C_j ≥ t + d_j, so that w_j C_j and its charge are at least the term of t; and
// the jobs that run at one instant together hold at most G' GPUs, the largest
// sum of gangs that is at most G, so that all charges are at most G' ∫ π.
//
// The expression in t is piecewise linear, and bends only where t or t + d_j is
// a grid point. So it is least at r_j or at one of finitely many integers,
// which are compared in exact arithmetic.
//
// Source: the Lagrangian relaxation of the capacity rows of the time-indexed
// program of Sousa and Wolsey, A time indexed formulation of non-preemptive
// single machine scheduling problems (1992). Not in the source: prices are
// functions of continuous time, so that nothing is rounded to slots.
type Prices struct {
	Grid     Grid    `json:"grid"`
	Price    []int64 `json:"price"`
	Exponent int     `json:"exponent"`
}

// NewPrices returns the prices price[k]·2^scale rounded to 40 significant bits
// of the largest. What is negative or not a number becomes 0.
func NewPrices(grid Grid, price []float64, scale int) *Prices {
	const bits = 40
	largest := 0.0
	for _, v := range price {
		if v > largest {
			largest = v
		}
	}
	_, exponent := math.Frexp(largest)
	out := &Prices{Grid: grid, Exponent: exponent - bits + scale, Price: make([]int64, len(price))}
	for k, v := range price {
		if v > 0 {
			out.Price[k] = int64(math.RoundToEven(math.Ldexp(v, bits-exponent)))
		}
	}
	return out
}

// Limits of the numbers in Prices: a price is exact in float64, and exponents
// go beyond what quotients of float64 need.
const (
	maxPrice    = 1 << 53
	maxExponent = 4096
)

// Validate returns an error unless the grid is valid and there is one price
// per slot, between 0 and 2^53.
func (p *Prices) Validate() error {
	if err := p.Grid.Validate(); err != nil {
		return err
	}
	if len(p.Price) != p.Grid.Slots() {
		return fmt.Errorf("bounds: %d prices for %d slots", len(p.Price), p.Grid.Slots())
	}
	if p.Exponent < -maxExponent || p.Exponent > maxExponent {
		return fmt.Errorf("bounds: the exponent of the prices is %d: it must be within ±%d", p.Exponent, maxExponent)
	}
	for k, v := range p.Price {
		if v < 0 || v > maxPrice {
			return fmt.Errorf("bounds: the price of slot %d is %d: it must be between 0 and 2^53", k, v)
		}
	}
	return nil
}

// Bound returns L(π) for the instance and objective, evaluated in exact
// arithmetic from the raw data. It holds for class N.
//
// Valid when: the objective is a sum of completion times or affine in one.
// Cost: about 10 ns for every grid point between a job's release and the
// start that would cost as much as its best one without any charge.
// Errors: the prices are not valid; sched.ErrNotApplicable.
func (p *Prices) Bound(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return p.BoundOf(sched.N, in, obj)
}

// BoundOf is Bound for schedules of class N, P0 or F(1). In the latter two a job pays
// for the cheapest d_j units of time up to its completion, for the best completion;
// and in F(1), where parts of gangs run, G GPUs are held together and not G'.
func (p *Prices) BoundOf(kind sched.Kind, in *sched.Instance, obj sched.Objective) (Bound, error) {
	w, err := newWorkload(in, obj)
	if err != nil {
		return Bound{}, err
	}
	return p.bound(kind, w, obj)
}

func (p *Prices) bound(kind sched.Kind, w *workload, obj sched.Objective) (Bound, error) {
	if err := p.Validate(); err != nil {
		return Bound{}, err
	}
	if err := priceable(kind); err != nil {
		return Bound{}, err
	}
	b, err := w.bound(method{name: lagrangianName, kind: kind, eval: func(w *workload, obj sched.Objective) (*big.Rat, error) {
		if !obj.IsTotal() {
			return nil, fmt.Errorf("%w to %v", sched.ErrNotApplicable, obj)
		}
		return obj.FromBase(w.in, newTariff(p, w, obj).total(kind)), nil
	}}, obj)
	b.Proof = p.proof(kind, w.claims)
	return b, err
}

// priceable returns an error unless prices bound the schedules of a kind.
func priceable(kind sched.Kind) error {
	if kind != sched.N && kind != sched.P0 && kind != sched.Fluid {
		return fmt.Errorf("bounds: %s: %w to class %v: prices are of N, P0 or F(1)", lagrangianName, sched.ErrNotApplicable, sched.Class{Kind: kind})
	}
	return nil
}
