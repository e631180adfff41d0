// Package predict gives policies their predictions: it makes the predictors of
// package forest answer a simulation, under names and options that a suite can
// give.
package predict

import (
	"fmt"
	"slices"

	"yardstick/heuristics/forest"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Model is what predicts the number of iterations of a job.
type Model uint8

// The models.
const (
	Perfect Model = iota // the truth; the simulator tells it, see Options.New
	Forest               // random forest regression on group and user, as in the A-SRPT paper
	Mean                 // of earlier jobs with the same key
	Median               // of earlier jobs with the same key
)

var modelNames = []string{"perfect", "forest", "mean", "median"}

func (m Model) String() string { return modelNames[m] }

// MarshalText implements encoding.TextMarshaler.
func (m Model) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Model) UnmarshalText(text []byte) error {
	i := slices.Index(modelNames, string(text))
	if i < 0 {
		return fmt.Errorf("predictor %q is unknown: %v", text, modelNames)
	}
	*m = Model(i)
	return nil
}

// Options say how predictions are made.
type Options struct {
	Model      Model
	By         forest.Key // Mean and Median: which earlier jobs count
	Trees      int        // Forest: number of trees; 0 stands for 100
	Gang       bool       // Forest: the number of GPUs is a feature too. Not in the paper
	Retraining forest.Retraining
}

// New returns a predictor that has learnt the instance's history, for one
// simulation of it. It is nil for Perfect: a simulation without a predictor
// tells the truth, and says so. The seed is that of the forest's random
// choices.
func (o Options) New(in *sched.Instance, seed uint64) (sim.Predictor, error) {
	var p *forest.Predictor
	var err error
	switch o.Model {
	case Perfect:
		return nil, nil
	case Forest:
		p, err = forest.NewForest(in.History, forest.ForestOptions{Retraining: o.Retraining, Gang: o.Gang,
			Train: forest.TrainOptions{Trees: o.Trees, Seed: seed}})
	case Mean:
		p, err = forest.NewMean(in.History, o.By, o.Retraining)
	case Median:
		p, err = forest.NewMedian(in.History, o.By, o.Retraining)
	default:
		return nil, fmt.Errorf("predict: no model %d", o.Model)
	}
	if err != nil {
		return nil, err
	}
	return online{p}, nil
}

// online makes a predictor the simulator's. Policies ask at release, so that
// this is when what is due is learnt.
type online struct{ *forest.Predictor }

func (o online) Predict(j sim.Job) (int64, error) {
	o.Advance(j.Release)
	return o.Predictor.Predict(j.User, j.Group, j.Gang)
}

func (o online) Observe(j sim.Job, iters int64) {
	o.Predictor.Observe(sched.PastJob{User: j.User, Group: j.Group, Gang: j.Gang, Iters: iters})
}
