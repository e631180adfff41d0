package lazer

import "math"

// Quality is how good a predictor's process and its deferrals have been, by the
// outcomes of the choices since the bootstrap, each held against the process as it was
// before it learnt from it. Times are in seconds; sums, so that runs can be added.
//
// The improvement of a choice X over preempting at once is f(0) − f(X). What it came
// to is known because the counterfactual F is, whichever F the process learns from.
type Quality struct {
	Choices  int // with an outcome
	Deferred int // of these, those of at least Shortest
	Trained  int // of these choices, those of a predictor that has learnt all that it will

	Promised float64 // Σ mean(0) − mean(X), the means being those of the process
	Realised float64 // Σ F − |X − F|, F the counterfactual

	Loss, Square float64 // Σ f(X) and Σ f(X)²
	Error        float64 // Σ (f(X) − mean(X))²
	Within       int     // outcomes within the process's interval of 95 %
}

// Assessed is a deferral that knows how good its choices have been.
type Assessed interface{ Quality() Quality }

// Quality implements Assessed.
func (p *Predictor) Quality() Quality { return p.quality }

// Quality returns that of the policy's deferral; ok is false where it predicts nothing.
func (p *Policy) Quality() (q Quality, ok bool) {
	if a, assessed := p.deferral.(Assessed); assessed {
		return a.Quality(), true
	}
	return Quality{}, false
}

// assess counts an outcome, of an X that is a fraction of Longest.
func (p *Predictor) assess(x, loss float64, o *Outcome) {
	q := &p.quality
	mean, sd := p.process.Predict(input(x, o.Context))
	atOnce, _ := p.process.Predict(input(0, o.Context))
	q.Choices++
	if o.Chosen >= Shortest {
		q.Deferred++
	}
	if p.done {
		q.Trained++
	}
	q.Promised += atOnce - mean
	q.Realised += o.Counterfactual.Seconds() - lossOf(o.Chosen, o.Counterfactual)
	q.Loss, q.Square = q.Loss+loss, q.Square+loss*loss
	q.Error += (loss - mean) * (loss - mean)
	if math.Abs(loss-mean) <= 1.96*math.Hypot(sd, p.process.NoiseSD()) {
		q.Within++
	}
}

// Explained is the share of the variance of f that the process explains: 1 if it is
// always right, 0 if it does no better than the mean of f, and below where it does
// worse; NaN where f does not vary.
func (q *Quality) Explained() float64 {
	n := float64(q.Choices)
	return 1 - q.Error/(q.Square-q.Loss*q.Loss/n)
}
