package tables

import (
	"math/big"
	"testing"

	"yardstick/bench/record"
)

// Numbers that records refuse, because solvers write them for "none", are left out
// of theorems, which may really say them.
func TestStated(t *testing.T) {
	power := func(k int64) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(k), nil))
	}
	for _, c := range []struct {
		v    *big.Rat
		want record.Opt[float64]
	}{
		{nil, record.Opt[float64]{}},
		{power(29), record.Some(1e29)},
		{power(30), record.Opt[float64]{}},
		{power(400), record.Opt[float64]{}},
		{new(big.Rat).Neg(power(31)), record.Opt[float64]{}},
		{new(big.Rat), record.Some(0.0)},
	} {
		if got := stated(c.v); got != c.want {
			t.Errorf("%v: %v, want %v", c.v, got, c.want)
		}
	}
}
