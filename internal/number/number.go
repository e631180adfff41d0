// Package number has the few functions on integers and rationals that the standard
// library lacks and that several packages need.
package number

import "math/big"

type integer interface{ ~int | ~int64 }

// GCD returns the greatest common divisor of two numbers that are not negative.
func GCD[T integer](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// CeilDiv returns a/b rounded up, for a ≥ 0 and b > 0. It does not overflow.
func CeilDiv[T integer](a, b T) T {
	q := a / b
	if q*b < a {
		q++
	}
	return q
}

// FloorInt returns the largest integer that is not above v, as a new number.
func FloorInt(v *big.Rat) *big.Int {
	return new(big.Int).Div(v.Num(), v.Denom()) // Euclidean: the remainder is not negative
}

// CeilInt returns the least integer that is not below v, as a new number.
func CeilInt(v *big.Rat) *big.Int {
	q, rest := new(big.Int).DivMod(v.Num(), v.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// Floor is FloorInt as a rational.
func Floor(v *big.Rat) *big.Rat { return new(big.Rat).SetInt(FloorInt(v)) }

// Ceil is CeilInt as a rational.
func Ceil(v *big.Rat) *big.Rat { return new(big.Rat).SetInt(CeilInt(v)) }
