package forest

import (
	"fmt"
	"math"
	"slices"

	"yardstick/sched"
)

// Retraining says when a predictor learns from the jobs that completed since it
// last did. The two rules add up; the zero value never retrains: the history is
// all that is ever learnt, as in the paper's simulations.
type Retraining struct {
	Completions int        // after so many completions; 0 turns the rule off
	Period      sched.Time // at every multiple of this time; 0 turns the rule off
}

// Predictor predicts numbers of iterations online. It starts from a history,
// sees completions as they happen, and learns from them on schedule. Training
// on completions is done when a prediction is next asked for, on what was due,
// so that a model that nobody asks is not made. A Predictor is for one
// simulation, in one goroutine.
type Predictor struct {
	name       string
	model      model
	retraining Retraining
	pending    []sched.PastJob // seen, not learnt; the first due of them are to be
	due        int
	period     int64 // number of the current period
	trainings  int
}

// model is what a predictor learns with.
type model interface {
	// learn takes in more jobs.
	learn([]sched.PastJob) error
	// predict is asked for jobs whatever their Iters.
	predict(sched.PastJob) int64
}

// ForestOptions are the settings of NewForest; the zero value is the paper's.
type ForestOptions struct {
	Train      TrainOptions
	Retraining Retraining
	// Gang makes the number of GPUs a third feature. Not in the paper.
	Gang bool
}

// NewForest returns a predictor by random forest regression on the job's group
// and user, rounded to the nearest integer. Retraining trains on all jobs
// learnt so far, the history included. Jobs of a group that none of these has,
// and jobs without a group, are unseen: they are expected to take 0 iterations.
// Not in the paper: a user who is new in a known group counts as the ordinal −1,
// before all others.
func NewForest(history []sched.PastJob, o ForestOptions) (*Predictor, error) {
	return newPredictor("forest", &regression{options: o}, history, o.Retraining)
}

// Key says which earlier jobs the mean or the median is taken over. The paper
// speaks of "previous job iterations" only.
type Key uint8

// The keys of NewMean and NewMedian.
const (
	ByGroup Key = iota // jobs of the same group: the jobs that the paper calls recurrent
	ByUser             // jobs of the same user
	Overall            // all jobs
)

var keyNames = []string{"group", "user", "overall"}

// String returns the key's name: group, user or overall.
func (k Key) String() string { return keyNames[k] }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Key) UnmarshalText(text []byte) error {
	i := slices.Index(keyNames, string(text))
	if i < 0 {
		return fmt.Errorf("key %q is unknown: %v", text, keyNames)
	}
	*k = Key(i)
	return nil
}

// NewMean returns a predictor of the mean number of iterations of earlier jobs
// with the same key, rounded to the nearest integer, halves up; 0 if there is
// none. The mean over groups or users leaves out jobs without one.
func NewMean(history []sched.PastJob, by Key, r Retraining) (*Predictor, error) {
	return newPredictor("mean", &means{key: by}, history, r)
}

// NewMedian returns a predictor of the median, as NewMean does of the mean; of
// an even number of jobs it is the mean of the middle two.
func NewMedian(history []sched.PastJob, by Key, r Retraining) (*Predictor, error) {
	return newPredictor("median", &medians{key: by}, history, r)
}

func newPredictor(name string, m model, history []sched.PastJob, r Retraining) (*Predictor, error) {
	if r.Completions < 0 || r.Period < 0 {
		return nil, fmt.Errorf("forest: retraining every %d completions and %v: neither may be negative", r.Completions, r.Period)
	}
	p := &Predictor{name: name, model: m, retraining: r, pending: slices.Clone(history), due: len(history)}
	return p, p.train() // so that a bad history is an error here
}

// Name returns forest, mean or median.
func (p *Predictor) Name() string { return p.name }

// Trainings returns how often the predictor has learnt, the history included.
func (p *Predictor) Trainings() int { return p.trainings }

// Predict returns how many iterations a job of this user, group and gang is
// expected to take, at least 0. Errors are those of training.
func (p *Predictor) Predict(user, group string, gang int) (int64, error) {
	if err := p.train(); err != nil {
		return 0, err
	}
	return p.model.predict(sched.PastJob{User: user, Group: group, Gang: gang}), nil
}

// Observe is told of every completion.
func (p *Predictor) Observe(j sched.PastJob) {
	p.pending = append(p.pending, j)
	if k := p.retraining.Completions; k > 0 && len(p.pending)-p.due >= k {
		p.due = len(p.pending)
	}
}

// Advance is told the time, which must not decrease, before what happens at that
// time. Only Retraining.Period needs it: the first call at or after a multiple
// of it makes all completions so far due.
func (p *Predictor) Advance(now sched.Time) {
	if p.retraining.Period == 0 {
		return
	}
	if k := int64(now / p.retraining.Period); k > p.period {
		p.period, p.due = k, len(p.pending)
	}
}

// train learns what is due.
func (p *Predictor) train() error {
	if p.due == 0 {
		return nil
	}
	for _, j := range p.pending[:p.due] {
		if j.Iters < 0 {
			return fmt.Errorf("forest: a job of user %q and group %q took %d iterations: it must be at least 0", j.User, j.Group, j.Iters)
		}
	}
	if err := p.model.learn(p.pending[:p.due]); err != nil {
		return err
	}
	p.pending = slices.Delete(p.pending, 0, p.due)
	p.due = 0
	p.trainings++
	return nil
}

// regression is the model of NewForest.
type regression struct {
	options       ForestOptions
	jobs          []sched.PastJob // learnt so far, without those of no group
	groups, users map[string]int32
	trees         *Regressor
	known         map[Point]int64 // predictions made since the last training
}

func (m *regression) learn(jobs []sched.PastJob) error {
	for _, j := range jobs {
		if j.Group != "" {
			m.jobs = append(m.jobs, j)
		}
	}
	if len(m.jobs) == 0 {
		return nil
	}
	m.groups = ordinals(m.jobs, func(j *sched.PastJob) string { return j.Group })
	m.users = ordinals(m.jobs, func(j *sched.PastJob) string { return j.User })
	samples := make([]Sample, len(m.jobs))
	for i, j := range m.jobs {
		samples[i] = Sample{m.point(j), j.Iters}
	}
	trees, err := Train(samples, m.options.Train)
	m.trees, m.known = trees, map[Point]int64{}
	return err
}

func (m *regression) predict(j sched.PastJob) int64 {
	if _, seen := m.groups[j.Group]; !seen {
		return 0
	}
	x := m.point(j)
	n, ok := m.known[x]
	if !ok {
		n = int64(math.Round(m.trees.Predict(x)))
		m.known[x] = n
	}
	return n
}

// point returns the features of a job of a known group.
func (m *regression) point(j sched.PastJob) Point {
	user, ok := m.users[j.User]
	if !ok {
		user = -1
	}
	x := Point{m.groups[j.Group], user}
	if m.options.Gang {
		x[2] = int32(min(j.Gang, math.MaxInt32))
	}
	return x
}

// ordinals numbers the distinct names in sorted order, from 0.
func ordinals(jobs []sched.PastJob, name func(*sched.PastJob) string) map[string]int32 {
	numbers := make(map[string]int32)
	var names []string
	for i := range jobs {
		n := name(&jobs[i])
		if _, ok := numbers[n]; !ok {
			numbers[n] = 0
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for i, n := range names {
		numbers[n] = int32(i)
	}
	return numbers
}
