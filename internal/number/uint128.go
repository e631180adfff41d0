package number

import (
	"cmp"
	"math/big"
	"math/bits"
)

// Uint128 is an unsigned integer of 128 bits: weighted sums of times fit it.
type Uint128 struct{ Hi, Lo uint64 }

// NewUint128 returns v, which must be at least 0 and below 2^128.
func NewUint128(v *big.Int) Uint128 {
	low := new(big.Int).And(v, new(big.Int).SetUint64(1<<64-1))
	return Uint128{new(big.Int).Rsh(v, 64).Uint64(), low.Uint64()}
}

// Product returns a·b.
func Product(a, b uint64) Uint128 {
	hi, lo := bits.Mul64(a, b)
	return Uint128{hi, lo}
}

// Plus returns a + b, which must be below 2^128.
func (a Uint128) Plus(b Uint128) Uint128 {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	return Uint128{a.Hi + b.Hi + carry, lo}
}

// Minus returns a − b, or 0 if that is negative.
func (a Uint128) Minus(b Uint128) Uint128 {
	if a.Less(b) {
		return Uint128{}
	}
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	return Uint128{a.Hi - b.Hi - borrow, lo}
}

// Half returns a/2 rounded up. It must be below 2^127.
func (a Uint128) Half() Uint128 {
	a = a.Plus(Uint128{0, 1})
	return Uint128{a.Hi >> 1, a.Hi<<63 | a.Lo>>1}
}

// Over returns a/b rounded down, for b > 0.
func (a Uint128) Over(b uint64) Uint128 {
	lo, _ := bits.Div64(a.Hi%b, a.Lo, b)
	return Uint128{a.Hi / b, lo}
}

// Less reports whether a < b.
func (a Uint128) Less(b Uint128) bool { return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo }

// Compare returns −1, 0 or 1 as a is below, at or above b.
func (a Uint128) Compare(b Uint128) int {
	if a.Hi != b.Hi {
		return cmp.Compare(a.Hi, b.Hi)
	}
	return cmp.Compare(a.Lo, b.Lo)
}

// Max returns the larger of the two.
func (a Uint128) Max(b Uint128) Uint128 {
	if a.Less(b) {
		return b
	}
	return a
}

// Big returns a as a new number.
func (a Uint128) Big() *big.Int {
	v := new(big.Int).SetUint64(a.Hi)
	return v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(a.Lo))
}
