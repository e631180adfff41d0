package law

import (
	"fmt"
	"math"
	"sort"
)

// Law is a distribution, given by its quantile function.
type Law interface {
	// At returns the quantile of probability p, from 0 to 1. It does not
	// decrease in p.
	At(p float64) float64
}

// Point is one quantile.
type Point struct{ P, Value float64 }

// Table is a quantile function given by points in ascending order, the first at
// probability 0 and the last at 1. The logarithm of the value is linear in
// between.
type Table []Point

// At returns the quantile of probability p.
func (t Table) At(p float64) float64 {
	i := sort.Search(len(t)-2, func(i int) bool { return p <= t[i+1].P })
	low, high := t[i], t[i+1]
	return low.Value * math.Pow(high.Value/low.Value, (p-low.P)/(high.P-low.P))
}

// Mean returns the mean of the distribution.
func (t Table) Mean() float64 {
	sum := 0.0
	for i, high := range t[1:] {
		low := t[i]
		mean := low.Value // of log-uniform values between the two points
		if high.Value != low.Value {
			mean = (high.Value - low.Value) / math.Log(high.Value/low.Value)
		}
		sum += (high.P - low.P) * mean
	}
	return sum
}

// LogNormal is a log-normal distribution whose values above a maximum are put
// down to it.
type LogNormal struct{ mu, sigma, max float64 }

// NewLogNormal returns the log-normal distribution that has, after values above
// max were put down to it, the given median and mean: the two figures that
// official summaries of traces report. The mean of min(X, M) for a log-normal X
// is exp(μ+σ²/2)·Φ((ln M−μ−σ²)/σ) + M·(1−Φ((ln M−μ)/σ)), which grows with σ.
//
// Errors: not 0 < median < mean < max/2. (However large σ, the mean of the
// capped law stays below (median+max)/2.)
func NewLogNormal(median, mean, most float64) (LogNormal, error) {
	if !(0 < median && median < mean && mean < most/2) {
		return LogNormal{}, fmt.Errorf("law: no log-normal has median %v and mean %v with values up to %v: 0 < median < mean < half the maximum is required", median, mean, most)
	}
	l := LogNormal{mu: math.Log(median), max: most}
	low, high := 0.0, 64.0
	for range 100 {
		l.sigma = (low + high) / 2
		if l.Mean() < mean {
			low = l.sigma
		} else {
			high = l.sigma
		}
	}
	return l, nil
}

// At returns the quantile of probability p.
func (l LogNormal) At(p float64) float64 {
	return min(math.Exp(l.mu+l.sigma*math.Sqrt2*math.Erfinv(2*p-1)), l.max)
}

// Mean returns the mean of the distribution.
func (l LogNormal) Mean() float64 {
	m := math.Log(l.max) - l.mu
	return math.Exp(l.mu+l.sigma*l.sigma/2)*normal(m/l.sigma-l.sigma) + l.max*(1-normal(m/l.sigma))
}

// normal is the distribution function of the standard normal law.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
