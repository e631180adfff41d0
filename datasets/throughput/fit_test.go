package throughput

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// Measurement is one measured iteration time.
type Measurement struct {
	Point
	Seconds float64 // of an iteration, positive
}

// String says it in one line.
func (q Quality) String() string {
	return fmt.Sprintf("%d rows, R² %.4f (of logarithms %.4f), RMSE of logarithms %.4f, worst %.1f %%", q.Rows, q.R2, q.LogR2, q.LogRMSE, 100*q.Worst)
}

// Evaluate compares the model with measurements.
//
// Errors: there are none, or IterTime's.
func (p *Params) Evaluate(rows []Measurement) (Quality, error) {
	if len(rows) == 0 {
		return Quality{}, errors.New("throughput: there are no measurements")
	}
	q := Quality{Rows: len(rows)}
	n := float64(len(rows))
	mean, logMean := 0.0, 0.0
	for _, r := range rows {
		mean += r.Seconds / n
		logMean += math.Log(r.Seconds) / n
	}
	var rest, all, logRest, logAll float64
	for _, r := range rows {
		t, err := p.IterTime(r.Point)
		if err != nil {
			return Quality{}, err
		}
		rest += square(t - r.Seconds)
		all += square(r.Seconds - mean)
		logRest += square(math.Log(t / r.Seconds))
		logAll += square(math.Log(r.Seconds) - logMean)
		q.Worst = max(q.Worst, math.Abs(t/r.Seconds-1))
	}
	q.R2, q.LogR2, q.LogRMSE = 1-rest/all, 1-logRest/logAll, math.Sqrt(logRest/n)
	return q, nil
}

func square(v float64) float64 { return v * v }

// Fit returns the parameters that minimise Σ ln(T/t)² over the measurements,
// T being the model's and t the measured time: a least-squares fit of relative
// errors. It starts BFGS from several values of γ and keeps the best.
//
// Not in the source: Pollux adds the error of the computing time and penalties
// on γ and on the b of T_sync, which stabilise fits to few measurements; here
// there are many, and what is reported is the fit to the iteration time alone.
//
// Errors: fewer than two batch sizes or less than seven measurements; a
// measurement is not positive; no fit converges.
func Fit(rows []Measurement) (*Params, Quality, error) {
	p, err := fit(rows)
	if err != nil {
		return nil, Quality{}, fmt.Errorf("throughput: %w", err)
	}
	q, err := p.Evaluate(rows)
	return p, q, err
}

func fit(rows []Measurement) (*Params, error) {
	var batches []int
	var times []float64
	for _, r := range rows {
		if err := r.check(); err != nil {
			return nil, err
		}
		if !(r.Seconds > 0) || math.IsInf(r.Seconds, 0) {
			return nil, fmt.Errorf("%+v: a measured time must be positive", r)
		}
		batches, times = append(batches, r.Batch), append(times, r.Seconds)
	}
	slices.Sort(batches)
	slices.Sort(times)
	if len(rows) < coordinates || len(slices.Compact(slices.Clone(batches))) < 2 {
		return nil, fmt.Errorf("%d measurements with %d batch sizes: at least %d with two are needed to tell the parameters apart",
			len(rows), len(slices.Compact(batches)), coordinates)
	}
	f := &objective{rows: rows}
	// Half of the median time for each term of T_grad, less for T_sync.
	t, m := times[len(times)/2], float64(batches[len(batches)/2])
	var best *optimize.Result
	var failed error
	for _, gamma := range []float64{1.2, 2, 4, 8} {
		start := f.coordinates(&Params{AlphaGrad: t / 2, BetaGrad: t / 2 / m, Local: Sync{true, t / 10, t / 200}, Node: Sync{true, t / 4, t / 100}, Gamma: gamma})
		r, err := optimize.Minimize(optimize.Problem{Func: f.value, Grad: f.gradient}, start,
			&optimize.Settings{MajorIterations: 2000, GradientThreshold: 1e-10, Converger: &optimize.FunctionConverge{Absolute: 1e-14, Iterations: 200}}, &optimize.BFGS{})
		// A line search that finds nothing better ends in an error with the
		// best point found.
		if r == nil || math.IsNaN(r.F) || math.IsInf(r.F, 0) {
			failed = errors.Join(failed, err)
			continue
		}
		if best == nil || r.F < best.F {
			best = r
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no fit converges: %w", failed)
	}
	p := f.params(best.X)
	for _, r := range rows {
		if s := p.sync(r.Point); s != nil {
			s.Known = true
		}
	}
	// What the fit drives towards 0 is 0.
	for _, v := range []*float64{&p.AlphaGrad, &p.BetaGrad, &p.Local.Alpha, &p.Local.Beta, &p.Node.Alpha, &p.Node.Beta} {
		if *v < 1e-9*t {
			*v = 0
		}
	}
	for _, s := range []*Sync{&p.Local, &p.Node} {
		if !s.Known {
			*s = Sync{}
		}
	}
	return &p, nil
}

// objective is the mean of ln(T/t)² as a function of seven free coordinates:
// the logarithms of the six times, and g with γ = 1 + 9/(1 + e^−g).
type objective struct{ rows []Measurement }

const coordinates = 7

func (f *objective) coordinates(p *Params) []float64 {
	share := (p.Gamma - minGamma) / (maxGamma - minGamma)
	return []float64{math.Log(p.AlphaGrad), math.Log(p.BetaGrad), math.Log(p.Local.Alpha), math.Log(p.Local.Beta),
		math.Log(p.Node.Alpha), math.Log(p.Node.Beta), math.Log(share / (1 - share))}
}

func (f *objective) params(x []float64) Params {
	return Params{AlphaGrad: math.Exp(x[0]), BetaGrad: math.Exp(x[1]), Local: Sync{Alpha: math.Exp(x[2]), Beta: math.Exp(x[3])},
		Node: Sync{Alpha: math.Exp(x[4]), Beta: math.Exp(x[5])}, Gamma: minGamma + (maxGamma-minGamma)/(1+math.Exp(-x[6]))}
}

func (f *objective) value(x []float64) float64 {
	p := f.params(x)
	sum := 0.0
	for i := range f.rows {
		sum += square(math.Log(p.iterTime(f.rows[i].Point) / f.rows[i].Seconds))
	}
	return sum / float64(len(f.rows))
}

// gradient: with w the share of T_grad^γ in T_iter^γ,
//
//	∂ln T/∂ln T_grad = w,    ∂ln T/∂ln T_sync = 1 − w,
//	∂ln T/∂γ = (w·ln T_grad + (1−w)·ln T_sync − ln T)/γ.
func (f *objective) gradient(out, x []float64) {
	clear(out)
	p := f.params(x)
	dGamma := (p.Gamma - minGamma) * (maxGamma - p.Gamma) / (maxGamma - minGamma) // dγ/dg
	for i := range f.rows {
		at := f.rows[i].Point
		t := p.iterTime(at)
		grad, sync := p.parts(at)
		c := 2 * math.Log(t/f.rows[i].Seconds) / float64(len(f.rows))
		w := math.Pow(grad/t, p.Gamma)
		out[0] += c * w * p.AlphaGrad / grad
		out[1] += c * w * p.BetaGrad * float64(at.Batch) / grad
		s := p.sync(at)
		if s == nil || sync == 0 {
			continue
		}
		first := 2 // of the two coordinates of T_sync
		if at.Nodes > 1 {
			first = 4
		}
		out[first] += c * (1 - w) * s.Alpha / sync
		out[first+1] += c * (1 - w) * (sync - s.Alpha) / sync
		out[6] += c * (w*math.Log(grad) + (1-w)*math.Log(sync) - math.Log(t)) / p.Gamma * dGamma
	}
}
