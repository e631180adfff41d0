package sharing

import (
	"errors"
	"math"
	"math/big"
	"slices"

	search "yardstick/solvers/exhaustive/sharing"
)

// ErrRounded reports a point of a program whose schedule takes longer than the
// point says.
var ErrRounded = errors.New("sharing: the point owes its cost to rounding")

const grain = 1 << 30

// grid rounds down to a multiple of 1/grain.
func grid(v float64) float64 { return math.Floor(v*grain) / grain }

// work returns d_js on the grid.
func (pr *program) work(o *search.Option) float64 {
	d, _ := new(big.Rat).Mul(o.Work, big.NewRat(grain, 1)).Float64()
	return max(0, math.Floor(d)-1) / grain // a float64 may have been rounded up
}

// loss returns 1 − 1/xi on the grid.
func loss(xi float64) float64 {
	if xi == 1 {
		return 0
	}
	return max(0, grid(1-1/xi)-1.0/grain)
}

// sharp reports whether job i is done after the same numbers of slots at each
// level in the program as in truth.
func (pr *program) sharp(i int) bool {
	j := &pr.Jobs[i]
	const most = 300_000
	tried := 0
	counts := make([]int32, len(j.Xi))
	rate := make([]float64, len(j.Xi))
	for l, xi := range j.Xi {
		rate[l] = 1 - loss(xi)
	}
	var try func(o *search.Option, l, left int, sum float64) bool
	try = func(o *search.Option, l, left int, sum float64) bool {
		if tried++; tried > most {
			return false
		}
		if l == len(counts) {
			return (sum >= pr.work(o)) == j.Done(o, counts)
		}
		for n := range left + 1 {
			counts[l] = int32(n)
			if !try(o, l+1, left-n, sum+float64(n)*rate[l]) {
				return false
			}
		}
		counts[l] = 0
		return true
	}
	return !slices.ContainsFunc(j.Options, func(o search.Option) bool { return !try(&o, 0, pr.deadline[i]-j.Release, 0) })
}
