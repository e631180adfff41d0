package theorems

import "math/big"

// log2 returns rational bounds on the binary logarithm of x ≥ 1, at most 2^-48
// apart and equal for a power of two. It panics for a smaller x.
//
// Squaring a number doubles its logarithm: of x = 2^n·m, 1 ≤ m < 2, the next binary
// digit is whether m² ≥ 2. Numbers are kept as intervals of fixed precision.
func log2(x *big.Rat) (low, high *big.Rat) {
	const digits, precision = 48, 256
	if x.Cmp(whole(1)) < 0 {
		panic("theorems: the logarithm of a number below 1")
	}
	n := x.Num().BitLen() - x.Denom().BitLen() // 2^(n−1) < x < 2^(n+1)
	if power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(n, 0)))); power.Cmp(x) > 0 {
		n--
	}
	scaled := new(big.Int).Lsh(x.Num(), precision)
	least, rest := scaled.QuoRem(scaled, new(big.Int).Lsh(x.Denom(), uint(n)), new(big.Int)) // m, rounded down
	most := new(big.Int).Set(least)
	if rest.Sign() > 0 {
		most.Add(most, big.NewInt(1))
	}
	low = whole(n)
	if rest.Sign() == 0 && least.BitLen() == precision+1 && least.TrailingZeroBits() == precision { // m = 1
		return low, new(big.Rat).Set(low)
	}
	digit := big.NewRat(1, 1)
	two := new(big.Int).Lsh(big.NewInt(1), precision+1)
	for range digits {
		least, most = squared(least, precision, false), squared(most, precision, true)
		half := new(big.Rat).Mul(digit, big.NewRat(1, 2))
		if least.Cmp(two) < 0 && most.Cmp(two) >= 0 {
			break // not known
		}
		digit = half
		if least.Cmp(two) >= 0 {
			low.Add(low, digit)
			least.Rsh(least, 1)
			most.Add(most, big.NewInt(1)).Rsh(most, 1)
		}
	}
	return low, new(big.Rat).Add(low, digit)
}

// squared returns v² of a fixed-point number, rounded down or up.
func squared(v *big.Int, precision uint, up bool) *big.Int {
	s := new(big.Int).Mul(v, v)
	if up {
		s.Add(s, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), precision), big.NewInt(1)))
	}
	return s.Rsh(s, precision)
}

// powers returns the largest k ≥ 0 with base^k ≤ x, for base > 1 and x ≥ 1, and
// whether they are equal.
func powers(base, x *big.Rat) (k int, equal bool) {
	left, right := new(big.Int).Set(x.Denom()), new(big.Int).Set(x.Num()) // base^k ≤ x iff left ≤ right
	for {
		left.Mul(left, base.Num())
		right.Mul(right, base.Denom())
		switch left.Cmp(right) {
		case 1:
			return k, k == 0 && x.Num().Cmp(x.Denom()) == 0
		case 0:
			return k + 1, true
		}
		k++
	}
}
