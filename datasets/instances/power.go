package instances

import (
	"math/big"

	"yardstick/sched"
)

// precision is that of the arithmetic below, in bits. big.Float is computed in
// integers, so that results are the same on every machine, which those of
// math.Pow are not.
const precision = 192

func newFloat() *big.Float { return new(big.Float).SetPrec(precision) }

// power returns x^e for x > 0 and e ≥ 0. The integer part of e is done by
// multiplication, each bit of the rest by a square root.
func power(x, e *big.Float) *big.Float {
	whole, _ := e.Int(nil)
	result := newFloat().SetInt64(1)
	for range whole.Int64() {
		result.Mul(result, x)
	}
	rest := newFloat().Sub(e, newFloat().SetInt(whole))
	root, one := newFloat().Set(x), newFloat().SetInt64(1)
	for range precision {
		if rest.Sign() == 0 {
			break
		}
		root.Sqrt(root)
		if rest.Add(rest, rest); rest.Cmp(one) >= 0 {
			rest.Sub(rest, one)
			result.Mul(result, root)
		}
	}
	return result
}

// overlap returns (u^delta + c^delta)^(1/delta) in nanoseconds, for u > 0,
// c ≥ 0 and delta ≥ 1. With m the larger of the two and r their ratio it is
// m (1 + r^delta)^(1/delta).
func overlap(u *big.Rat, c sched.Duration, delta float64) *big.Float {
	high, low := newFloat().SetRat(u), newFloat().SetInt64(int64(c))
	if high.Cmp(low) < 0 {
		high, low = low, high
	}
	if low.Sign() == 0 {
		return high
	}
	d, one := newFloat().SetFloat64(delta), newFloat().SetInt64(1)
	sum := power(newFloat().Quo(low, high), d)
	sum.Add(sum, one)
	return high.Mul(high, power(sum, newFloat().Quo(one, d)))
}

// ceil rounds a positive number up to a whole one. What is above a whole
// number by less than 2^-64 counts as that number: rounding errors are far
// below that, and where the exact result is whole they must not add one.
func ceil(x *big.Float) int64 {
	whole, _ := x.Int64()
	rest := newFloat().Sub(x, newFloat().SetInt64(whole))
	if rest.Cmp(newFloat().SetMantExp(newFloat().SetInt64(1), -64)) < 0 {
		return whole
	}
	return whole + 1
}
