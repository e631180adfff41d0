package bounds

import (
	"cmp"
	"math/big"
	"math/bits"
)

// uint192 is an unsigned integer of 192 bits, low word first: enough for sums of
// products of a time and a size on a machine, which stay below 2^160, and much
// faster than big.Int.
type uint192 [3]uint64

func (a *uint192) add(b *uint192) {
	var carry uint64
	a[0], carry = bits.Add64(a[0], b[0], 0)
	a[1], carry = bits.Add64(a[1], b[1], carry)
	a[2] += b[2] + carry
}

func (a *uint192) addWord(b uint64) { a.add(&uint192{b}) }

// times returns a·b.
func (a *uint192) times(b uint64) uint192 {
	var out uint192
	var high, carry uint64
	high, out[0] = bits.Mul64(a[0], b)
	h, l := bits.Mul64(a[1], b)
	out[1], carry = bits.Add64(l, high, 0)
	out[2] = a[2]*b + h + carry
	return out
}

// quo divides a by b, rounding down, and returns the remainder.
func (a *uint192) quo(b uint64) (rem uint64) {
	for i := len(a) - 1; i >= 0; i-- {
		a[i], rem = bits.Div64(rem, a[i], b)
	}
	return rem
}

// reaches reports whether a ≥ b.
func (a *uint192) reaches(b uint64) bool { return a[2]|a[1] != 0 || a[0] >= b }

// cmp returns −1, 0 or 1 as a is less than, equal to or greater than b.
func (a *uint192) cmp(b *uint192) int {
	for i := len(a) - 1; i > 0; i-- {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(a[0], b[0])
}

func (a *uint192) big() *big.Int {
	out := new(big.Int)
	for i := len(a) - 1; i >= 0; i-- {
		out.Lsh(out, 64).Or(out, new(big.Int).SetUint64(a[i]))
	}
	return out
}

// float returns a rounded to about 53 bits.
func (a *uint192) float() float64 {
	return float64(float64(a[2])*0x1p128) + float64(float64(a[1])*0x1p64) + float64(a[0])
}
