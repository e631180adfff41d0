package gaussian

import "math"

// Line is a process along one input, the others fixed: what does not change
// along it is computed once.
type Line struct {
	at, rest, weights []float64 // per observation: its input, 5 r² without the input's part, its weight
	length            float64   // of the input, over √5
	mean, scale       float64
}

// Along returns the process along an input from x, which is not kept. It is
// valid until the next observation or change of hyperparameters.
func (p *Process) Along(x []float64, input int) *Line {
	n := len(p.x)
	l := &Line{at: make([]float64, n), rest: make([]float64, n), length: p.theta.Lengths[input] / math.Sqrt(5), mean: p.mean, scale: p.scale * p.theta.Scale}
	if n > 0 {
		l.weights = p.weights.RawVector().Data
	}
	for i, xi := range p.x {
		l.at[i] = xi[input]
		for d, length := range p.theta.Lengths {
			if t := (x[d] - xi[d]) / length; d != input {
				l.rest[i] += 5 * t * t
			}
		}
	}
	return l
}

// Mean returns the mean at a value of the input, and its derivative. Cost: O(n).
func (l *Line) Mean(at float64) (mean, slope float64) {
	for i, rest := range l.rest {
		t := (at - l.at[i]) / l.length
		square := rest + t*t
		root := math.Sqrt(square) // √5 r
		w := l.weights[i] * math.Exp(-root)
		mean += w * (1 + root + square/3)
		slope -= w * (1 + root) * t
	}
	return l.mean + l.scale*mean, l.scale * slope / 3 / l.length
}

// Least returns where in [0, 1] the mean is least: near the least of so many
// evenly spaced points, at least two, at the local minimum that halving finds to
// 1e-8 as a root of the slope.
//
// Not in the source of the optimisation, which runs L-BFGS: along one input a
// bracketed root is the same minimum for a fraction of the evaluations.
func (l *Line) Least(points int) float64 {
	step := 1 / float64(points-1)
	best, least, slope := 0.0, math.Inf(1), 0.0
	for i := range points {
		at := float64(i) * step
		if mean, s := l.Mean(at); mean < least {
			best, least, slope = at, mean, s
		}
	}
	a, b := best, math.Min(best+step, 1)
	if slope > 0 {
		a, b = math.Max(best-step, 0), best
	}
	for b-a > 1e-8 {
		middle := (a + b) / 2
		if _, slope := l.Mean(middle); slope > 0 {
			b = middle
		} else {
			a = middle
		}
	}
	// Where the slope has one sign, an end of the range is left.
	if left, _ := l.Mean(a); left < least {
		best, least = a, left
	}
	if right, _ := l.Mean(b); right < least {
		best = b
	}
	return best
}
