package gaussian

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Process is a Gaussian process and what it has observed. It is not for
// concurrent use.
type Process struct {
	dim    int
	priors Priors
	theta  Hyperparameters

	x    [][]float64
	y    []float64 // as observed
	chol mat.Cholesky
	// weights is K⁻¹ times the standardised outcomes; mean and scale take those
	// back to outcomes.
	weights     *mat.VecDense
	mean, scale float64
}

// Hyperparameters are those of the kernel and of the noise. Scale and Noise are
// variances of standardised outcomes.
type Hyperparameters struct {
	Lengths []float64 // one per input
	Scale   float64
	Noise   float64 // at least MinNoise
}

// MinNoise is the least variance of the noise.
const MinNoise = 1e-4

// ErrNotPositive is returned where the covariance matrix cannot be factorised.
var ErrNotPositive = errors.New("gaussian: the covariance matrix is not positive definite")

// New returns a process over inputs of the given dimension, each about from 0
// to 1, that has observed nothing.
func New(dim int, priors Priors) *Process {
	p := &Process{dim: dim, priors: priors, scale: 1}
	p.theta = Hyperparameters{Lengths: make([]float64, dim), Scale: 1, Noise: 0.01}
	for i := range p.theta.Lengths {
		p.theta.Lengths[i] = 0.5
	}
	return p
}

// Len returns the number of observations.
func (p *Process) Len() int { return len(p.y) }

// Hyperparameters returns a copy of those in use.
func (p *Process) Hyperparameters() Hyperparameters {
	h := p.theta
	h.Lengths = append([]float64(nil), h.Lengths...)
	return h
}

// SetHyperparameters replaces those in use.
//
// Errors: wrong number or sign; ErrNotPositive.
func (p *Process) SetHyperparameters(h Hyperparameters) error {
	ok := len(h.Lengths) == p.dim && h.Scale > 0 && h.Noise >= MinNoise
	for _, l := range h.Lengths {
		ok = ok && l > 0
	}
	if !ok {
		return fmt.Errorf("gaussian: hyperparameters %+v: %d positive lengths, a positive scale and noise of at least %v are needed", h, p.dim, MinNoise)
	}
	p.theta = h
	p.theta.Lengths = append([]float64(nil), h.Lengths...)
	return p.factorise()
}

// Observe adds an observation, at the cost of one row of the factor: O(n²).
//
// Errors: an input of the wrong dimension, or a number that is not finite;
// ErrNotPositive, after which the observation is not part of the process.
func (p *Process) Observe(x []float64, y float64) error {
	if len(x) != p.dim {
		return fmt.Errorf("gaussian: input of dimension %d: it must be %d", len(x), p.dim)
	}
	for _, v := range append([]float64{y}, x...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("gaussian: observation %v at %v is not finite", y, x)
		}
	}
	n := len(p.y)
	row := mat.NewVecDense(n+1, nil)
	for i := range n {
		row.SetVec(i, p.kernel(x, p.x[i]))
	}
	row.SetVec(n, p.theta.Scale+p.theta.Noise)
	var extended mat.Cholesky
	if n == 0 {
		if !extended.Factorize(mat.NewSymDense(1, []float64{row.AtVec(0)})) {
			return ErrNotPositive
		}
	} else if !extended.ExtendVecSym(&p.chol, row) {
		return ErrNotPositive
	}
	p.chol = extended
	p.x, p.y = append(p.x, append([]float64(nil), x...)), append(p.y, y)
	return p.solve()
}

// factorise computes the factor anew. Cost: O(n³).
func (p *Process) factorise() error {
	if len(p.y) == 0 {
		return nil
	}
	if !p.chol.Factorize(p.covariance()) {
		return ErrNotPositive
	}
	return p.solve()
}

// covariance returns K with the noise on its diagonal.
func (p *Process) covariance() *mat.SymDense {
	n := len(p.y)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			k.SetSym(i, j, p.kernel(p.x[i], p.x[j]))
		}
		k.SetSym(i, i, p.theta.Scale+p.theta.Noise)
	}
	return k
}

// solve standardises the outcomes and computes the weights.
func (p *Process) solve() error {
	p.mean, p.scale = stat.Mean(p.y, nil), 1
	if len(p.y) > 1 {
		if sd := stat.StdDev(p.y, nil); sd > 0 {
			p.scale = sd
		}
	}
	p.weights = mat.NewVecDense(len(p.y), nil)
	if err := p.chol.SolveVecTo(p.weights, p.standardised()); err != nil {
		if c := mat.Condition(0); !errors.As(err, &c) { // a large condition number is only a warning
			return fmt.Errorf("gaussian: %w", err)
		}
	}
	return nil
}

func (p *Process) standardised() *mat.VecDense {
	z := mat.NewVecDense(len(p.y), nil)
	for i, y := range p.y {
		z.SetVec(i, (y-p.mean)/p.scale)
	}
	return z
}

// kernel is the covariance of the process at two inputs.
func (p *Process) kernel(a, b []float64) float64 {
	r := p.distance(a, b)
	return p.theta.Scale * (1 + math.Sqrt(5)*r + 5*r*r/3) * math.Exp(-math.Sqrt(5)*r)
}

// distance is r, in length scales.
func (p *Process) distance(a, b []float64) float64 {
	sum := 0.0
	for i, l := range p.theta.Lengths {
		d := (a[i] - b[i]) / l
		sum += d * d
	}
	return math.Sqrt(sum)
}

// slope is what derivatives of the kernel have in common:
// s² (5/3)(1 + √5 r) exp(−√5 r), so that dk/da_i = −slope·(a_i − b_i)/l_i².
func (p *Process) slope(a, b []float64) float64 {
	r := p.distance(a, b)
	return p.theta.Scale * 5 / 3 * (1 + math.Sqrt(5)*r) * math.Exp(-math.Sqrt(5)*r)
}

// NoiseSD returns the standard deviation of the noise, in the unit of the outcomes.
func (p *Process) NoiseSD() float64 { return p.scale * math.Sqrt(p.theta.Noise) }

// Predict returns mean and standard deviation of the process, without noise,
// at x. Before any observation they are 0 and the square root of the output
// scale.
func (p *Process) Predict(x []float64) (mean, sd float64) {
	if len(p.y) == 0 {
		return 0, math.Sqrt(p.theta.Scale)
	}
	k, solved := p.against(x)
	variance := p.theta.Scale - mat.Dot(k, solved)
	return p.mean + p.scale*mat.Dot(k, p.weights), p.scale * math.Sqrt(math.Max(variance, 0))
}

// PredictGradient also returns the derivatives of mean and standard deviation
// by the inputs. There must be an observation.
func (p *Process) PredictGradient(x []float64) (mean, sd float64, dMean, dSD []float64) {
	k, solved := p.against(x)
	m, s := mat.Dot(k, p.weights), math.Sqrt(math.Max(p.theta.Scale-mat.Dot(k, solved), 0))
	dMean, dSD = make([]float64, p.dim), make([]float64, p.dim)
	for i := range p.x {
		slope := p.slope(x, p.x[i])
		for d, l := range p.theta.Lengths {
			dk := -slope * (x[d] - p.x[i][d]) / (l * l)
			dMean[d] += p.scale * dk * p.weights.AtVec(i)
			if s > 0 {
				dSD[d] -= p.scale * dk * solved.AtVec(i) / s
			}
		}
	}
	return p.mean + p.scale*m, p.scale * s, dMean, dSD
}

// against returns the covariances k of x with the observations, and K⁻¹k.
func (p *Process) against(x []float64) (k, solved *mat.VecDense) {
	k, solved = mat.NewVecDense(len(p.x), nil), mat.NewVecDense(len(p.x), nil)
	for i := range p.x {
		k.SetVec(i, p.kernel(x, p.x[i]))
	}
	// The error says that the condition number is large; solve has seen it.
	_ = p.chol.SolveVecTo(solved, k)
	return k, solved
}
