package number

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestIntegers(t *testing.T) {
	for a := range 40 {
		for b := range 40 {
			want := 0
			for d := 1; d <= max(a, b); d++ {
				if a%d == 0 && b%d == 0 {
					want = d
				}
			}
			if got := GCD(a, b); got != want {
				t.Errorf("GCD(%d, %d) = %d, want %d", a, b, got, want)
			}
			if b == 0 {
				continue
			}
			if got, want := CeilDiv(a, b), int(math.Ceil(float64(a)/float64(b))); got != want {
				t.Errorf("CeilDiv(%d, %d) = %d, want %d", a, b, got, want)
			}
		}
	}
	if got := CeilDiv(int64(math.MaxInt64), 2); got != 1<<62 {
		t.Errorf("%d", got)
	}
}

// TestRationals: floor and ceiling are the integers next to a number, whatever its
// sign.
func TestRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	one := big.NewRat(1, 1)
	for range 2000 {
		v := big.NewRat(r.Int64N(41)-20, 1+r.Int64N(6))
		low, high := Floor(v), Ceil(v)
		if low.Cmp(v) > 0 || high.Cmp(v) < 0 || new(big.Rat).Sub(v, low).Cmp(one) >= 0 || new(big.Rat).Sub(high, v).Cmp(one) >= 0 {
			t.Errorf("%v lies between %v and %v", v, low, high)
		}
		if v.IsInt() && (low.Cmp(v) != 0 || high.Cmp(v) != 0) {
			t.Errorf("%v lies between %v and %v", v, low, high)
		}
	}
}

func TestUint128(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	draw := func() Uint128 { return Uint128{rng.Uint64() >> (1 + rng.IntN(60)), rng.Uint64()} }
	for range 2000 {
		a, b, d := draw(), draw(), rng.Uint64()>>rng.IntN(63)+1
		x, y := a.Big(), b.Big()
		sum := new(big.Int).Add(x, y)
		if got := a.Plus(b); got.Big().Cmp(sum) != 0 || got != NewUint128(sum) {
			t.Fatalf("%v + %v = %v", a, b, got)
		}
		if got := Product(a.Lo, b.Lo).Big(); got.Cmp(new(big.Int).Mul(new(big.Int).SetUint64(a.Lo), new(big.Int).SetUint64(b.Lo))) != 0 {
			t.Fatalf("%d · %d = %v", a.Lo, b.Lo, got)
		}
		if got := a.Over(d).Big(); got.Cmp(new(big.Int).Quo(x, new(big.Int).SetUint64(d))) != 0 {
			t.Fatalf("%v / %d = %v", a, d, got)
		}
		if got := a.Half().Big(); got.Cmp(new(big.Int).Rsh(new(big.Int).Add(x, big.NewInt(1)), 1)) != 0 {
			t.Fatalf("half of %v is %v", a, got)
		}
		if diff := new(big.Int).Sub(x, y); diff.Sign() >= 0 && a.Minus(b).Big().Cmp(diff) != 0 || diff.Sign() < 0 && a.Minus(b) != (Uint128{}) {
			t.Fatalf("%v − %v = %v", a, b, a.Minus(b))
		}
		if a.Less(b) != (x.Cmp(y) < 0) || a.Compare(b) != x.Cmp(y) || a.Max(b).Big().Cmp(x) < 0 || a.Max(b).Big().Cmp(y) < 0 {
			t.Fatalf("order of %v and %v", a, b)
		}
	}
}
