package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// descend minimises f, which returns a value and a fresh gradient, by L-BFGS from a
// start, until no slope is as large as the threshold or after so many iterations. It
// returns nothing: f keeps the best point that it saw.
//
// It takes the steps of optimize.Minimize with optimize.LBFGS, in the goroutine of the
// caller, which measures the time of its thread, and with one evaluation where Minimize
// makes two.
func descend(f func(x []float64) (float64, []float64), start []float64, iterations int, threshold float64) {
	search := optimize.LinesearchMethod{NextDirectioner: &optimize.LBFGS{Store: 15}, Linesearcher: &optimize.Bisection{}}
	at := &optimize.Location{X: slices.Clone(start)}
	evaluated := slices.Clone(start)
	at.F, at.Gradient = f(evaluated)
	if math.IsInf(at.F, 1) || math.IsNaN(at.F) || floats.HasNaN(at.Gradient) || math.IsInf(floats.Norm(at.Gradient, math.Inf(1)), 1) {
		return
	}
	next := search.Init
	for op, done := optimize.MajorIteration, 0; ; {
		if op == optimize.MajorIteration {
			done++
			if done >= iterations || math.IsInf(at.F, -1) || floats.Norm(at.Gradient, math.Inf(1)) < threshold {
				return
			}
		} else if !slices.Equal(at.X, evaluated) { // value and slope of a point are asked for in turn
			evaluated = slices.Clone(at.X)
			at.F, at.Gradient = f(evaluated)
		}
		var err error
		if op, err = next(at); err != nil { // no progress in this direction
			return
		}
		next = search.Iterate
	}
}
