package gaussian

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/optimize"
)

// descend sees the points that optimize.Minimize sees, in the same order, each once.
func TestDescendLikeMinimize(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		dim := 1 + rng.IntN(5)
		a, b := point(rng, dim), point(rng, dim)
		wall := math.Inf(1) // beyond which the function is infinite
		if seed%3 == 0 {
			wall = 1 + rng.Float64()
		}
		f := func(x []float64) (value float64, gradient []float64) {
			for i, v := range x {
				u := v - 3*a[i]
				if math.Abs(v) > wall {
					return math.Inf(1), make([]float64, dim)
				}
				value += (1+9*b[i])*u*u + math.Cos(4*v+b[i])
				gradient = append(gradient, 2*(1+9*b[i])*u-4*math.Sin(4*v+b[i]))
			}
			return value, gradient
		}
		iterations, threshold := 1+rng.IntN(40), math.Pow(10, -float64(rng.IntN(12)))
		var ours, theirs [][]float64
		descend(func(x []float64) (float64, []float64) { ours = append(ours, slices.Clone(x)); return f(x) }, a, iterations, threshold)
		_, _ = optimize.Minimize(optimize.Problem{
			Func: func(x []float64) float64 { theirs = append(theirs, slices.Clone(x)); v, _ := f(x); return v },
			Grad: func(g, x []float64) { _, gradient := f(x); copy(g, gradient) },
		}, a, &optimize.Settings{MajorIterations: iterations, GradientThreshold: threshold}, &optimize.LBFGS{})
		theirs = slices.CompactFunc(theirs, slices.Equal[[]float64]) // steps that rounding takes away are evaluated again
		if !slices.EqualFunc(ours, theirs, slices.Equal[[]float64]) {
			t.Fatalf("seed %d: %d points %v, want %d %v", seed, len(ours), ours, len(theirs), theirs)
		}
	}
}
