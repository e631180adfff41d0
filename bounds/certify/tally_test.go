package certify

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestColumn: floating point never hides that a column counts, however small or large
// its numbers are.
func TestColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 2300))
	skipped := 0
	for range 20_000 {
		var c column
		exact := new(big.Rat)
		scale := r.IntN(2000) - 1000
		for range 1 + r.IntN(4) {
			e := scale
			if r.IntN(3) == 0 {
				e = r.IntN(2000) - 1000
			}
			a, b := new(big.Rat).SetFloat64(math.Ldexp(r.Float64()-0.3, e/2)), new(big.Rat).SetFloat64(math.Ldexp(1+r.Float64(), (e-e/2)-r.IntN(80)))
			if r.IntN(2) == 0 {
				a.Mul(a, big.NewRat(1, 3))
			}
			c.add(a, b)
			exact.Add(exact, new(big.Rat).Mul(a, b))
		}
		var got, want tally
		if c.close(&got, huge); exact.Sign() < 0 {
			want.add(exact.Mul(exact, huge))
		} else {
			skipped++
		}
		if got.value().Cmp(want.value()) != 0 {
			t.Fatalf("%v adds %v, want %v", c.terms, got.value().RatString(), want.value().RatString())
		}
	}
	if skipped < 2_000 {
		t.Errorf("only %d columns count for nothing", skipped)
	}
	// As float64, 0.6 and 1.4 times the least positive number are that number.
	var c column
	var sum tally
	tiny := new(big.Rat).SetFloat64(math.SmallestNonzeroFloat64)
	c.add(tiny, big.NewRat(6, 10))
	c.add(tiny, big.NewRat(6, 10))
	c.add(tiny, big.NewRat(-14, 10))
	if c.close(&sum, huge); sum.value().Sign() >= 0 {
		t.Errorf("a column of %v adds %v", c.terms, sum.value().RatString())
	}
}
