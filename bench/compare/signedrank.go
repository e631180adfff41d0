package compare

import (
	"math"
	"slices"
)

// exactPairs is the greatest number of pairs whose signed-rank distribution is
// computed exactly.
const exactPairs = 200

// SignedRank returns the two-sided p-value of the Wilcoxon signed-rank test
// that paired differences are symmetric around 0, and how many of them count:
// differences of 0 are left out, ties have the mean of their ranks. Up to 200
// pairs the distribution is exact, given the ties; beyond that it is normal,
// with the correction for ties and continuity. Without pairs p is 1.
//
// Source: Wilcoxon, Individual comparisons by ranking methods, Biometrics
// Bulletin 1, 1945; ties as in Hollander and Wolfe, Nonparametric Statistical
// Methods, section 3.1.
func SignedRank(differences []float64) (p float64, n int) {
	var d []float64
	for _, v := range differences {
		if v != 0 {
			d = append(d, v)
		}
	}
	n = len(d)
	if n == 0 {
		return 1, 0
	}
	slices.SortFunc(d, func(a, b float64) int {
		switch x, y := math.Abs(a), math.Abs(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	ranks := make([]int, n) // twice the rank, so that mean ranks are integers
	ties := 0.0             // sum of t³ − t
	for from := 0; from < n; {
		to := from
		for to < n && math.Abs(d[to]) == math.Abs(d[from]) {
			to++
		}
		for i := from; i < to; i++ {
			ranks[i] = from + 1 + to
		}
		t := float64(to - from)
		ties += t*t*t - t
		from = to
	}
	plus, total := 0, 0
	for i, v := range d {
		total += ranks[i]
		if v > 0 {
			plus += ranks[i]
		}
	}
	extreme := min(plus, total-plus)
	if n <= exactPairs {
		return exactTail(ranks, total, extreme), n
	}
	m := float64(n)
	mean, variance := m*(m+1)/4, m*(m+1)*(2*m+1)/24-ties/48
	z := (math.Abs(float64(plus)/2-mean) - 0.5) / math.Sqrt(variance)
	return min(1, math.Erfc(max(z, 0)/math.Sqrt2)), n
}

// exactTail is twice the probability that the signed ranks of one side sum up
// to at most extreme, if every sign is a fair coin.
func exactTail(ranks []int, total, extreme int) float64 {
	probability := make([]float64, total+1) // of each sum
	probability[0] = 1
	sum := 0
	for _, r := range ranks {
		sum += r
		for s := sum; s >= 0; s-- {
			v := probability[s] / 2
			if s >= r {
				v += probability[s-r] / 2
			}
			probability[s] = v
		}
	}
	tail := 0.0
	for s := range extreme + 1 {
		tail += probability[s]
	}
	return min(1, 2*tail)
}
