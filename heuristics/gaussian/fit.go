package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Gamma is a gamma distribution with density proportional to
// v^(Shape−1) exp(−Rate v). The zero value stands for no prior.
type Gamma struct{ Shape, Rate float64 }

// logDensity returns the logarithm of the density, but for a constant, and its
// derivative.
func (g Gamma) logDensity(v float64) (value, slope float64) {
	if g == (Gamma{}) {
		return 0, 0
	}
	return (g.Shape-1)*math.Log(v) - g.Rate*v, (g.Shape-1)/v - g.Rate
}

// Priors are the distributions of the hyperparameters, in their own units. The
// zero value has none.
type Priors struct{ Length, Scale, Noise Gamma }

// BoTorch returns the priors of BoTorch's SingleTaskGP up to its release 0.11.
func BoTorch() Priors {
	return Priors{Length: Gamma{3, 6}, Scale: Gamma{2, 0.15}, Noise: Gamma{1.1, 0.05}}
}

// Objective returns the negative logarithm of the marginal likelihood of the
// standardised outcomes times the priors, without the priors' constants, and
// its derivatives by the logarithms of lengths, output scale and noise less
// MinNoise, in this order.
//
// Errors: ErrNotPositive.
func (p *Process) Objective() (float64, []float64, error) {
	n := len(p.y)
	if n == 0 {
		return p.addPriors(0, make([]float64, p.dim+2))
	}
	var inverse mat.SymDense
	if err := p.chol.InverseTo(&inverse); err != nil && math.IsInf(p.chol.Cond(), 1) {
		return 0, nil, ErrNotPositive
	}
	value := (mat.Dot(p.standardised(), p.weights) + p.chol.LogDet() + float64(n)*math.Log(2*math.Pi)) / 2
	gradient := make([]float64, p.dim+2)
	for i := range n {
		for j := range i + 1 {
			twice := 2.0
			if i == j {
				twice = 1
			}
			// dObjective/dK_ij is −½ w.
			w := twice * (p.weights.AtVec(i)*p.weights.AtVec(j) - inverse.At(i, j))
			gradient[p.dim] -= w * p.kernel(p.x[i], p.x[j]) / 2
			if i == j {
				gradient[p.dim+1] -= w * (p.theta.Noise - MinNoise) / 2
				continue
			}
			slope := p.slope(p.x[i], p.x[j])
			for d, l := range p.theta.Lengths {
				t := (p.x[i][d] - p.x[j][d]) / l
				gradient[d] -= w * slope * t * t / 2
			}
		}
	}
	return p.addPriors(value, gradient)
}

func (p *Process) addPriors(value float64, gradient []float64) (float64, []float64, error) {
	add := func(g Gamma, v, dv float64, i int) {
		f, slope := g.logDensity(v)
		value -= f
		gradient[i] -= slope * dv
	}
	for d, l := range p.theta.Lengths {
		add(p.priors.Length, l, l, d)
	}
	add(p.priors.Scale, p.theta.Scale, p.theta.Scale, p.dim)
	add(p.priors.Noise, p.theta.Noise, p.theta.Noise-MinNoise, p.dim+1)
	return value, gradient, nil
}

// Fit minimises Objective by L-BFGS from the hyperparameters in use and from
// those of a new process, and keeps the better result.
func (p *Process) Fit() error {
	best := p.Hyperparameters()
	least, _, err := p.Objective()
	if err != nil {
		return err
	}
	for _, start := range []Hyperparameters{best, New(p.dim, p.priors).theta} {
		theta, value := p.from(start)
		if value < least {
			best, least = theta, value
		}
	}
	return p.SetHyperparameters(best)
}

// reach bounds the logarithms of the hyperparameters, so that no step of the
// line search leaves the range of numbers.
const reach = 12

// from runs L-BFGS from one start. Where it fails, the best point seen so
// far is as good as any.
func (p *Process) from(start Hyperparameters) (Hyperparameters, float64) {
	best, least := start, math.Inf(1)
	evaluate := func(z []float64) (float64, []float64) {
		h, inside := hyperparameters(z)
		if !inside || p.SetHyperparameters(h) != nil {
			return math.Inf(1), make([]float64, len(z))
		}
		value, gradient, err := p.Objective()
		if err != nil || math.IsNaN(value) {
			return math.Inf(1), make([]float64, len(z))
		}
		if value < least {
			best, least = h, value
		}
		return value, gradient
	}
	descend(evaluate, logarithms(start), 100, 1e-5)
	return best, least
}

func logarithms(h Hyperparameters) []float64 {
	var z []float64
	for _, v := range append(append([]float64(nil), h.Lengths...), h.Scale, math.Max(h.Noise-MinNoise, 1e-8)) {
		z = append(z, math.Log(v))
	}
	return z
}

func hyperparameters(z []float64) (h Hyperparameters, inside bool) {
	inside = true
	for i, v := range z {
		inside = inside && math.Abs(v) <= 2*reach
		switch {
		case i < len(z)-2:
			h.Lengths = append(h.Lengths, math.Exp(v))
		case i == len(z)-2:
			h.Scale = math.Exp(v)
		default:
			h.Noise = MinNoise + math.Exp(v)
		}
	}
	return h, inside
}
