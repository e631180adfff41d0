package milp

import "math"

// Sums of products with a rigorous error bound: compensated summation in
// double precision, where every rounding error is itself a floating-point
// number that is found exactly and summed apart.
//
// Source: T. Ogita, S. M. Rump and S. Oishi, "Accurate sum and dot product",
// SIAM J. Sci. Comput. 26 (2005), algorithm 5.3 (Dot2); twoSum is Knuth's,
// TAOCP 2, 4.2.2 theorem B.

const (
	unit      = 0x1p-53   // u, half an ulp of 1
	minNormal = 0x1p-1022 // the smallest normal number
	// A product at least this large has a representable rounding error.
	safeProduct = 0x1p-900
)

// twoSum returns s = fl(a+b) and e with s + e = a + b exactly.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	v := s - a
	return s, (a - (s - v)) + (b - v)
}

// twoProduct returns p = fl(ab) and e with p + e = ab exactly, unless p
// overflows, or underflows below safeProduct.
func twoProduct(a, b float64) (p, e float64) {
	p = float64(a * b) // the conversion forbids fusing
	return p, math.FMA(a, b, -p)
}

// accumulator holds a sum as s + c, with s the floating-point sum, c the sum
// of the rounding errors made so far, and t the sum of their absolute values.
type accumulator struct{ s, c, t float64 }

// add adds ab. It returns false if the rounding error of the product may have
// been lost to underflow; overflow leaves an s that is not finite.
func (x *accumulator) add(a, b float64) bool {
	p, e := twoProduct(a, b)
	s, f := twoSum(x.s, p)
	q := e + f
	x.s = s
	x.c += q
	x.t += math.Abs(q)
	return math.Abs(p) >= safeProduct || a == 0 || b == 0
}

// value returns h, l and r such that the exact sum of n terms lies within
// [h+l-r, h+l+r], and h = fl(h+l).
//
// Each q, and each partial sum of c, is off by at most u times its computed
// absolute value (standard model). With T = Σ|q| these errors sum to at most
// uT(1 + n(1+u)^n), and t ≥ T(1-u)^n, so that for n ≤ 2^40 they are at most
// 2u(n+1)t, rounding of that product included. r is zero where no operation
// was rounded.
func (x *accumulator) value(n int) (h, l, r float64) {
	h, l = twoSum(x.s, x.c)
	if x.t != 0 {
		r = 2*unit*float64(n+1)*x.t + minNormal
	}
	return h, l, r
}

// below returns a float64 at most h+l-r, the largest one if r is zero.
// It is NaN or infinite if an operand is.
func below(h, l, r float64) float64 {
	if r != 0 {
		l = down(l - r)
	}
	h, l = twoSum(h, l)
	if l < 0 {
		return down(h)
	}
	return h + l // keeps NaN
}

// above returns a float64 at least h+l+r, the smallest one if r is zero.
func above(h, l, r float64) float64 { return -below(-h, -l, r) }

func down(v float64) float64 { return math.Nextafter(v, math.Inf(-1)) }

func up(v float64) float64 { return math.Nextafter(v, math.Inf(1)) }
