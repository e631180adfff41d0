package certify

import (
	"math"
	"math/big"
	"math/bits"
)

// Integers here are exact or there are none: every sum, difference, product and
// shift of numbers that come from an instance or a certificate is one of this file,
// or of math/big. A result that its type does not hold ends the check at once,
// which then says that it is too hard (Checker.proof): no comparison ever sees a
// number that has wrapped around. The lint of the module (internal/lint) keeps raw
// operators out of the other files.

// signed is what is checked. Plain int counts what is in memory, and only its
// products need to be checked.
type signed interface{ ~int | ~int64 }

// beyond is the panic by which a result that 63 bits do not hold ends a check.
type beyond struct{}

//go:noinline
func overflow() { panic(beyond{}) }

// add returns a + b.
func add[T signed](a, b T) T {
	c := a + b
	if (a^c)&(b^c) < 0 { // c has the sign of neither
		overflow()
	}
	return c
}

// sub returns a − b.
func sub[T signed](a, b T) T {
	c := a - b
	if (a^b)&(a^c) < 0 { // a and b differ in sign, and c is not on a's side
		overflow()
	}
	return c
}

// mul returns a·b.
func mul[T signed](a, b T) T {
	if uint64(a|b)>>31 == 0 { // both are below 2^31, and not negative
		return a * b
	}
	return T(mulAny(int64(a), int64(b)))
}

func mulAny(a, b int64) int64 {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	switch {
	case hi == 0 && lo <= math.MaxInt64 && negative:
		return -int64(lo)
	case hi == 0 && lo <= math.MaxInt64:
		return int64(lo)
	}
	overflow()
	return 0
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// up returns a/b rounded up, of a ≥ 0 and b > 0.
func up[T signed](a, b T) T {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

// fraction returns a·b/c rounded down, of numbers that are not negative with b ≤ c.
func fraction(a, b, c int64) int64 {
	if a < 0 || b < 0 || b > c || c == 0 {
		panic("certify: not a fraction")
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c)) // at most a
	return int64(q)
}

// small returns an integer as an int64.
func small(v *big.Int) int64 {
	if !v.IsInt64() {
		overflow()
	}
	return v.Int64()
}

// set is a set of numbers below 64.
type set uint64

// firsts returns the set of the first n numbers.
func firsts(n int) (s set) {
	for i := range n {
		s = s.with(i)
	}
	return s
}

func (s set) has(i int) bool    { return s>>i&1 == 1 }
func (s set) with(i int) set    { return s | 1<<i }
func (s set) without(i int) set { return s &^ (1 << i) }
