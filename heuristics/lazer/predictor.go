package lazer

import (
	"math"
	"math/rand/v2"

	"yardstick/heuristics/gaussian"
	"yardstick/sched"
)

// Longest is h, the longest deferral.
//
// Source: Lazer, section 4.2.
const Longest = 100 * sched.Second

// Shortest is the shortest deferral: a preemption that would be deferred by less is
// done at once. Not in the source.
const Shortest = sched.Second / 1000

// The stages of the deferral predictor.
const (
	bootstrap = 10  // M, the observations that the process starts from
	enough    = 100 // observations after which acquisition may end
	starts    = 5   // points that L-BFGS starts from
	grid      = 25  // points among which exploitation looks for the least mean's neighbourhood
)

// Caps bound what a predictor learns. None of them is in the source: where its second
// criterion is never met, acquisition would go on for ever, at a cost that grows with
// the cube of the observations.
type Caps struct {
	Observations int        // after which acquisition ends whatever improvement is expected; at least 10
	Refit        int        // observations between fits of the hyperparameters; at least 1
	Floor        sched.Time // least f that a tenth is taken of in the criterion of improvement
}

// DefaultCaps are those that a predictor has unless it is told otherwise.
func DefaultCaps() Caps { return Caps{Observations: 110, Refit: 10, Floor: sched.Second} }

// Predictor chooses deferrals by Bayesian optimisation: it models f = |X − F|,
// in seconds, as a Gaussian process over X and the context, and goes through
// three stages. Bootstrapping takes X by Latin hypercube sampling. Acquisition
// takes the X with the largest expected improvement, and ends once there are
// 100 observations and that improvement is below a tenth of the best f seen, or
// of Caps.Floor where that is less; or after Caps.Observations. Exploitation takes the
// X with the least mean and learns no more.
//
// The improvement is over the least mean among the X observed so far, in the
// context at hand: the least f over all contexts is 0 almost at once. Not in
// the source, which names no kernel, scaling or incumbent.
//
// Source: Lazer, section 4.2.
type Predictor struct {
	caps    Caps
	quality Quality
	process *gaussian.Process
	rng     *rand.Rand
	cells   []int // of the hypercube, not yet sampled
	chosen  []float64
	best    float64 // least f observed, in seconds
	done    bool
}

// New returns a predictor that knows nothing. The seed is that of its samples.
func New(seed uint64, c Caps) *Predictor {
	return &Predictor{caps: c, process: gaussian.New(5, gaussian.BoTorch()), rng: rand.New(rand.NewPCG(seed, 0)), best: math.Inf(1)}
}

// Observations returns how many outcomes the predictor has learnt from.
func (p *Predictor) Observations() int { return p.process.Len() }

// Exploiting reports whether the predictor has learnt all that it will.
func (p *Predictor) Exploiting() bool { return p.done }

// Best returns the least f observed, in seconds; +Inf before the first.
func (p *Predictor) Best() float64 { return p.best }

// input scales X, a fraction of Longest, and the context to about [0, 1].
func input(x float64, c Context) []float64 {
	return []float64{x, min(c.Interarrival.Seconds(), 600) / 600, math.Log1p(c.Remaining.Seconds()) / 12, c.Load.Seconds() / 120, c.Pause.Seconds() / 20}
}

// Defer implements Deferral.
func (p *Predictor) Defer(c Context) (sched.Time, error) {
	var x float64
	switch {
	case p.done:
		x = p.exploit(c)
	case p.process.Len() < bootstrap:
		x = p.sample()
	default:
		var improvement float64
		x, improvement = p.acquire(c)
		n := p.process.Len()
		p.done = n >= p.caps.Observations || n >= enough && improvement < 0.1*math.Max(p.best, p.caps.Floor.Seconds())
	}
	return sched.Time(math.Round(x * float64(Longest))), nil
}

// Observe implements Deferral.
func (p *Predictor) Observe(o Outcome) error {
	at, loss := o.Chosen.Seconds()/Longest.Seconds(), lossOf(o.Chosen, o.F)
	if p.process.Len() >= bootstrap {
		p.assess(at, loss, &o)
	}
	if p.done {
		return nil
	}
	if err := p.process.Observe(input(at, o.Context), loss); err != nil {
		return err
	}
	p.chosen = append(p.chosen, at)
	p.best = math.Min(p.best, loss)
	if p.process.Len()%p.caps.Refit == 0 {
		return p.process.Fit()
	}
	return nil
}

// lossOf is f of Eq. (4), in seconds.
func lossOf(x, f sched.Time) float64 { return math.Abs((x - f).Seconds()) }

// sample draws from a cell of [0, 1] that was not drawn from yet.
func (p *Predictor) sample() float64 {
	if len(p.cells) == 0 {
		p.cells = p.rng.Perm(bootstrap)
	}
	cell := p.cells[0]
	p.cells = p.cells[1:]
	return (float64(cell) + p.rng.Float64()) / bootstrap
}

// acquire returns the X with the largest expected improvement that L-BFGS finds
// from five random points, and the improvement in seconds.
func (p *Predictor) acquire(c Context) (x, improvement float64) {
	incumbent := math.Inf(1)
	line := p.process.Along(input(0, c), 0)
	for _, x := range p.chosen {
		mean, _ := line.Mean(x)
		incumbent = math.Min(incumbent, mean)
	}
	from := make([]float64, starts)
	for i := range from {
		from[i] = p.rng.Float64()
	}
	return gaussian.Maximise(func(x float64) (float64, float64) {
		mean, sd, dMean, dSD := p.process.PredictGradient(input(x, c))
		value, byMean, bySD := gaussian.Improvement(mean, sd, incumbent)
		return value, byMean*dMean[0] + bySD*dSD[0]
	}, from)
}

// exploit returns the X with the least mean.
func (p *Predictor) exploit(c Context) float64 {
	return p.process.Along(input(0, c), 0).Least(grid)
}
