package milp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestTwoSumAndTwoProductAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 60_000 {
		a, b := nasty(r, 500), nasty(r, 500)
		s, e := twoSum(a, b)
		if got := new(big.Rat).Add(rat(s), rat(e)); got.Cmp(new(big.Rat).Add(rat(a), rat(b))) != 0 {
			t.Fatalf("pair %d: twoSum(%g, %g) = %g + %g", n, a, b, s, e)
		}
		p, e := twoProduct(a, b)
		if math.Abs(p) < safeProduct {
			continue
		}
		if got := new(big.Rat).Add(rat(p), rat(e)); got.Cmp(new(big.Rat).Mul(rat(a), rat(b))) != 0 {
			t.Fatalf("pair %d: twoProduct(%g, %g) = %g + %g", n, a, b, p, e)
		}
	}
}

// The interval of value holds the exact sum, is a point where nothing was
// rounded twice, and is tight.
func TestAccumulatorEnclosesTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	exactCases := 0
	for seed := range 10_000 {
		n := r.IntN(30)
		var sum accumulator
		exact, size := new(big.Rat), new(big.Rat)
		ok := true
		for k := range n {
			a, b := nasty(r, 90), nasty(r, 90)
			if k%2 == 1 && r.IntN(2) == 0 { // cancel what is there
				h, _, _ := sum.value(k)
				a, b = -h, 1
			}
			ok = sum.add(a, b) && ok
			term := new(big.Rat).Mul(rat(a), rat(b))
			exact.Add(exact, term)
			size.Add(size, term.Abs(term))
		}
		if !ok {
			continue
		}
		h, l, err := sum.value(n)
		lo, hi := below(h, l, err), above(h, l, err)
		if rat(lo).Cmp(exact) > 0 || rat(hi).Cmp(exact) < 0 {
			t.Fatalf("case %d: [%g, %g] does not hold %v", seed, lo, hi, exact.FloatString(40))
		}
		if err == 0 {
			exactCases++
			if lo != ratDown(exact) || hi != ratUp(exact) {
				t.Fatalf("case %d: [%g, %g] is not the tightest interval", seed, lo, hi)
			}
		}
		width, _ := new(big.Rat).Sub(rat(hi), rat(lo)).Float64()
		value, _ := exact.Float64()
		total, _ := size.Float64()
		if width > 0x1p-50*math.Abs(value)+0x1p-90*total+1e-300 {
			t.Fatalf("case %d: width %g of a sum %g with absolute terms %g", seed, width, value, total)
		}
	}
	if exactCases < 500 {
		t.Errorf("only %d sums were exact", exactCases)
	}
}

func TestRatToFloatRoundsOutwards(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 2000))
	if ratDown(huge) != math.MaxFloat64 || !math.IsInf(ratUp(huge), 1) || !math.IsInf(ratDown(new(big.Rat).Neg(huge)), -1) {
		t.Error("numbers beyond float64 round inwards")
	}
	tiny := new(big.Rat).Inv(huge)
	if ratDown(tiny) != 0 || ratUp(tiny) != math.SmallestNonzeroFloat64 || ratDown(new(big.Rat).Neg(tiny)) != -math.SmallestNonzeroFloat64 {
		t.Error("numbers that underflow round inwards")
	}
	for n := range 10_000 {
		v := new(big.Rat).SetFrac64(r.Int64N(1<<50)-1<<49, 1+r.Int64N(1<<40))
		v.Mul(v, rat(math.Ldexp(1, r.IntN(2097)-1073)))
		lo, hi := ratDown(v), ratUp(v)
		if !math.IsInf(lo, 0) && (rat(lo).Cmp(v) > 0 || !math.IsInf(up(lo), 0) && rat(up(lo)).Cmp(v) <= 0) {
			t.Fatalf("case %d: ratDown gives %g", n, lo)
		}
		if !math.IsInf(hi, 0) && (rat(hi).Cmp(v) < 0 || !math.IsInf(down(hi), 0) && rat(down(hi)).Cmp(v) >= 0) {
			t.Fatalf("case %d: ratUp gives %g", n, hi)
		}
	}
}
