package bounds

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestUint192 compares with big.Int.
func TestUint192(t *testing.T) {
	modulus := new(big.Int).Lsh(big.NewInt(1), 192)
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 40))
		random := func() uint192 {
			w := uint192{rng.Uint64(), rng.Uint64(), rng.Uint64()}
			for i := 2 - rng.IntN(3); i < 3; i++ {
				w[i] = uint64(rng.IntN(2)) * -uint64(rng.IntN(2))
			}
			return w
		}
		a, b, word := random(), random(), rng.Uint64()>>rng.IntN(64)|1
		x, y, z := a.big(), b.big(), new(big.Int).SetUint64(word)
		sum, plus, quo := a, a, a
		sum.add(&b)
		plus.addWord(word)
		rem := quo.quo(word)
		product := a.times(word)
		wantQuo, wantRem := new(big.Int).QuoRem(x, z, new(big.Int))
		reduced := func(v *big.Int) *big.Int { return v.Mod(v, modulus) }
		for name, pair := range map[string][2]*big.Int{
			"sum":       {sum.big(), reduced(new(big.Int).Add(x, y))},
			"plus":      {plus.big(), reduced(new(big.Int).Add(x, z))},
			"product":   {product.big(), reduced(new(big.Int).Mul(x, z))},
			"quotient":  {quo.big(), wantQuo},
			"remainder": {new(big.Int).SetUint64(rem), wantRem},
		} {
			if pair[0].Cmp(pair[1]) != 0 {
				t.Fatalf("seed %d: %s of %v, %v and %v is %v, want %v", seed, name, x, y, word, pair[0], pair[1])
			}
		}
		if a.cmp(&b) != x.Cmp(y) || a.reaches(word) != (x.Cmp(z) >= 0) {
			t.Fatalf("seed %d: comparison of %v with %v and %v", seed, x, y, z)
		}
		exact, _ := new(big.Float).SetInt(x).Float64()
		if f := a.float(); f < exact*(1-0x1p-51) || f > exact*(1+0x1p-51) {
			t.Fatalf("seed %d: %v is %v as a float", seed, x, f)
		}
	}
}
