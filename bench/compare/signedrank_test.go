package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// bruteSignedRank tries every assignment of signs.
func bruteSignedRank(d []float64) float64 {
	d = slices.DeleteFunc(slices.Clone(d), func(v float64) bool { return v == 0 })
	n := len(d)
	if n == 0 {
		return 1
	}
	rank := make([]float64, n)
	for i := range d {
		below, equal := 0, 0
		for k := range d {
			switch {
			case math.Abs(d[k]) < math.Abs(d[i]):
				below++
			case math.Abs(d[k]) == math.Abs(d[i]):
				equal++
			}
		}
		rank[i] = float64(below) + float64(equal+1)/2
	}
	total, plus := 0.0, 0.0
	for i := range d {
		total += rank[i]
		if d[i] > 0 {
			plus += rank[i]
		}
	}
	extreme, count := min(plus, total-plus), 0
	for signs := range 1 << n {
		sum := 0.0
		for i := range d {
			if signs>>i&1 == 1 {
				sum += rank[i]
			}
		}
		if sum <= extreme {
			count++
		}
	}
	return min(1, 2*float64(count)/float64(int(1)<<n))
}

func TestSignedRankAgainstEnumeration(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := make([]float64, 1+rng.IntN(10))
		for i := range d {
			d[i] = float64(rng.IntN(9) - 3) // zeros and ties are frequent
		}
		p, _ := SignedRank(d)
		if want := bruteSignedRank(d); math.Abs(p-want) > 1e-12 {
			t.Errorf("seed %d: %v: p = %v, want %v", seed, d, p, want)
		}
	}
}

// Critical values of the textbooks' tables, two-sided at 0.05: with n pairs, a
// smaller rank sum of w is significant and one of w+1 is not.
func TestSignedRankTable(t *testing.T) {
	for n, w := range map[int]int{6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 12: 13, 15: 25, 20: 52, 25: 89} {
		for extra, significant := range []bool{true, false} {
			d := make([]float64, n)
			for i := range d {
				d[i] = float64(i + 1)
			}
			left := w + extra // the sum of the negative ranks, taken from the largest
			for i := n - 1; i >= 0 && left > 0; i-- {
				if i+1 <= left {
					d[i] = -d[i]
					left -= i + 1
				}
			}
			p, got := SignedRank(d)
			if got != n || (p < Alpha) != significant {
				t.Errorf("n = %d, w = %d: p = %v, significant should be %v", n, w+extra, p, significant)
			}
		}
	}
}

// The normal approximation takes over where the exact distribution ends.
func TestSignedRankSeam(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	d := make([]float64, exactPairs+1)
	for i := range d {
		d[i] = rng.NormFloat64() + 0.12
	}
	exact, _ := SignedRank(d[:exactPairs])
	normal, _ := SignedRank(d)
	if exact <= 0.001 || exact >= 0.9 || math.Abs(exact-normal) > 0.1*exact+0.02 {
		t.Errorf("p = %v of %d pairs, %v of one more", exact, exactPairs, normal)
	}
	if p, n := SignedRank([]float64{0, 0}); p != 1 || n != 0 {
		t.Errorf("only zeros: p = %v of %d", p, n)
	}
}
