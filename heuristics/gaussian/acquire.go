package gaussian

import "math"

// Improvement returns the expected improvement E[max(0, best − f)] of a normal
// f, and its derivatives by mean and standard deviation.
//
// Source: Jones, Schonlau and Welch, Efficient global optimization of expensive
// black-box functions (1998), Eq. (15).
func Improvement(mean, sd, best float64) (value, dMean, dSD float64) {
	if sd <= 0 {
		if mean < best {
			return best - mean, -1, 0
		}
		return 0, 0, 0
	}
	u := (best - mean) / sd
	return sd * (u*cumulative(u) + density(u)), -cumulative(u), density(u)
}

func density(u float64) float64    { return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) }
func cumulative(u float64) float64 { return math.Erfc(-u/math.Sqrt2) / 2 }

// Maximise returns the best point of [0, 1] found by L-BFGS from the starts,
// among these and what L-BFGS made of them. f returns a value and its
// derivative.
//
// The box is kept by the substitution x = 1/(1 + exp(−z)); its ends are also
// tried.
func Maximise(f func(x float64) (value, slope float64), starts []float64) (x, value float64) {
	x, value = 0, math.Inf(-1)
	try := func(at float64) (float64, float64) {
		v, slope := f(at)
		if v > value {
			x, value = at, v
		}
		return v, slope
	}
	try(0)
	try(1)
	sigmoid := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	within := func(z []float64) (float64, []float64) {
		at := sigmoid(z[0])
		v, slope := try(at)
		return -v, []float64{-slope * at * (1 - at)}
	}
	for _, s := range starts {
		s = math.Min(math.Max(s, 1e-3), 1-1e-3)
		descend(within, []float64{math.Log(s / (1 - s))}, 50, 1e-9)
	}
	return x, value
}
