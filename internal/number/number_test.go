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
