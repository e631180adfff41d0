package certify

import (
	"math"
	"math/big"
)

// The bound that a vector of duals proves. Of a program min c'x, Ax {≤, =} b,
// 0 ≤ x ≤ u, and any y with y ≤ 0 on ≤ rows,
//
//	L(y) = b'y + Σ_j min(0, d_j) u_j,  d = c − A'y.
//
// Programs are built here from the instance, column by column.

// tally adds up rational numbers, each rounded down to a multiple of 2^-64.
type tally struct{ units big.Int }

func (t *tally) add(v *big.Rat) { t.units.Add(&t.units, floor(v, grain)) }

func (t *tally) value() *big.Rat { return scaled(new(big.Int).Set(&t.units), grain) }

// column is the reduced cost of a column, term by term.
type column struct {
	terms []factor
	value float64 // about Σ
	size  float64 // about Σ of absolute values
	tiny  bool    // a number is so small that floating point may have lost its digits
}

// factor is a product.
type factor struct{ a, b *big.Rat }

func (c *column) reset() { c.terms, c.value, c.size, c.tiny = c.terms[:0], 0, 0, false }

// add adds a·b.
func (c *column) add(a, b *big.Rat) {
	c.terms = append(c.terms, factor{a, b})
	x, _ := a.Float64()
	y, _ := b.Float64()
	c.value += x * y
	c.size += math.Abs(x * y)
	const least = 1e-150 // of two larger ones the product is a normal number
	c.tiny = c.tiny || a.Sign() != 0 && math.Abs(x) < least || b.Sign() != 0 && math.Abs(y) < least
}

// close adds min(0, Σ)·upper to the tally. What is positive beyond any rounding
// need not be evaluated: the sum of n products of rounded numbers is within a
// relative (n + 3)·2^-53 of their absolute values, if none leaves the range of normal
// numbers, to either side.
func (c *column) close(t *tally, upper *big.Rat) {
	if slack := c.size * float64(len(c.terms)+8) / (1 << 52); c.value > slack && c.size < 1e290 && !c.tiny {
		return
	}
	sum, term := new(big.Rat), new(big.Rat)
	for _, f := range c.terms {
		sum.Add(sum, term.Mul(f.a, f.b))
	}
	if sum.Sign() < 0 {
		t.add(sum.Mul(sum, upper))
	}
}

// charges reads what rows of kind ≤ charge: their duals with the sign changed.
func charges(y []float64) ([]*big.Rat, error) {
	out, err := numbers(y)
	if err != nil {
		return nil, err
	}
	for i, v := range out {
		if v.Sign() < 0 {
			return nil, refuted("charge %d is %v, and must not be negative", i, y[i])
		}
	}
	return out, nil
}

// numbers reads dual values of equations.
func numbers(y []float64) ([]*big.Rat, error) {
	out := make([]*big.Rat, len(y))
	for i, v := range y {
		var err error
		if out[i], err = exact(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}
