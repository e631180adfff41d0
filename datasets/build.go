package datasets

import (
	"fmt"
	"math"

	"yardstick/sched"
)

// Options say how a window becomes an instance.
type Options struct {
	Name    string // of the instance
	Cluster sched.Cluster
	Model   sched.Model // "" is gang, the one model that can be built from a trace alone

	// Round rounds releases and durations up to a multiple of it, so that the
	// instance fits time slots of that length without loss; 0 keeps them.
	Round sched.Time

	// Weights are those of weighted objectives.
	Weights Weights

	// Iteration is about how long one training iteration takes: a job that ran
	// for d becomes n = d/Iteration iterations (to the nearest, at least 1) of
	// d/n each. 0 makes the whole run one iteration, or, if Params is set,
	// stands for 1s.
	Iteration sched.Duration

	// Params gives every job of two or more GPUs that many bytes of parameters
	// to synchronise after each iteration, so that its placement matters. This
	// is synthetic: traces do not tell. The exchange comes on top of the trace's
	// duration. 0 means none.
	Params sched.Bytes

	// History is how many jobs that completed before the window's first
	// submission Instance.History lists, the last ones; 0 is none.
	History int
}

// Weights say where job weights come from. Its text form is its value.
type Weights string

// The sources of weights.
const (
	WeightsTrace  Weights = ""       // the column weight, 1 where it is NULL
	WeightsUnit   Weights = "unit"   // 1
	WeightsRandom Weights = "random" // integers from 1 to 10, from the window's seed
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *Weights) UnmarshalText(text []byte) error {
	*w = Weights(text)
	return w.validate()
}

func (w Weights) validate() error {
	switch w {
	case WeightsTrace, WeightsUnit, WeightsRandom:
		return nil
	}
	return fmt.Errorf("weights %q: it must be unit or random, or absent", string(w))
}

// defaultIteration applies where Params is set and Iteration is not: one
// exchange of parameters in a whole run would not make placement matter.
const defaultIteration = sched.Duration(1e9)

// Build makes an instance of the window's jobs, in order of submission. It
// depends on nothing but the window and the options.
//
// Times are in microseconds, with the first release at 0. A job is one stage
// with one replica per GPU of its gang; its duration is rounded to the nearest
// nanosecond and, without Iteration, becomes the time of its one iteration.
//
// Errors: a model that cannot be built from a trace alone; a gang larger than
// the cluster, naming the job; options out of range; whatever
// sched.Instance.Validate refuses.
func (w *Window) Build(o Options) (*sched.Instance, error) {
	in, err := w.build(&o)
	if err != nil {
		return nil, fmt.Errorf("datasets: instance %q: %w", o.Name, err)
	}
	return in, nil
}

func (w *Window) build(o *Options) (*sched.Instance, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	weights, err := w.Weigh(o.Weights)
	if err != nil {
		return nil, err
	}
	jobs := w.List()
	epoch, gpus := jobs[0].Submit, o.Cluster.GPUs()
	in := &sched.Instance{Name: o.Name, Model: o.Model, Cluster: o.Cluster, Jobs: make([]sched.Job, len(jobs))}
	for i := range jobs {
		j := &jobs[i]
		if j.Gang > gpus {
			return nil, fmt.Errorf("job %q needs %d GPUs at once, the cluster has %d: use a larger cluster, or drop such jobs (tooLarge: drop in a suite)", j.ID, j.Gang, gpus)
		}
		iters, compute := o.iterations(j.Run)
		out := sched.Job{
			Name: j.ID, User: j.User, Group: j.Group,
			Release: roundUp(j.Submit-epoch, o.Round), Weight: weights[i], Iters: iters,
			Stages: []sched.Stage{{Replicas: j.Gang, Compute: compute}},
		}
		if j.Gang > 1 {
			out.Stages[0].Params = o.Params
		}
		in.Jobs[i] = out
	}
	in.History = w.history(o)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	return in, nil
}

// complete fills in defaults and checks what Instance.Validate cannot.
func (o *Options) complete() error {
	if o.Model == "" {
		o.Model = sched.ModelGang
	}
	if o.Model != sched.ModelGang {
		return fmt.Errorf("model %q cannot be built from a trace alone: only gang can", o.Model)
	}
	if o.Params > 0 && o.Iteration == 0 {
		o.Iteration = defaultIteration
	}
	switch {
	case o.Round < 0 || o.Round > sched.MaxTime || o.Iteration < 0 || o.Params < 0 || o.History < 0:
		return fmt.Errorf("round %v, iteration %v, params %v, history %d: none of these may be negative, nor round exceed %v", o.Round, o.Iteration, o.Params, o.History, sched.MaxTime)
	case o.Round > 0 && o.Iteration > 0 && sched.Duration(o.Round)*1000%o.Iteration != 0:
		return fmt.Errorf("round %v is no multiple of iteration %v: durations would not stay multiples of it", o.Round, o.Iteration)
	}
	return nil
}

// iterations returns n_j and the time of one iteration for a job that ran for
// the given time. Without Round, n_j times the iteration differs from it by at
// most n_j/2 nanoseconds; with Round, by nothing.
func (o *Options) iterations(run sched.Duration) (int64, sched.Duration) {
	if o.Round > 0 {
		micros := sched.Time((run + 999) / 1000)
		run = sched.Duration(roundUp(micros, o.Round)) * 1000
	}
	if o.Iteration == 0 {
		return 1, run
	}
	n := max(1, int64(math.Round(float64(run)/float64(o.Iteration))))
	return n, max(1, sched.Duration(math.Round(float64(run)/float64(n))))
}

// roundUp returns the least multiple of q that is at least t, or t if q is 0.
func roundUp(t, q sched.Time) sched.Time {
	if q == 0 {
		return t
	}
	return (t + q - 1) / q * q
}

// history lists jobs that completed before the window's epoch.
func (w *Window) history(o *Options) []sched.PastJob {
	var list []sched.PastJob
	for _, j := range w.Past(o.History) {
		iters, _ := o.iterations(j.Run)
		list = append(list, sched.PastJob{User: j.User, Group: j.Group, Gang: j.Gang, Iters: iters})
	}
	return list
}

// Weigh returns the weights of the window's jobs. Errors: there is no such
// source of weights.
func (w *Window) Weigh(from Weights) ([]float64, error) {
	if err := from.validate(); err != nil {
		return nil, err
	}
	r := newRand(w.Seed, streamWeights)
	list := make([]float64, w.Jobs)
	for i := range w.List() {
		list[i] = 1
		switch j := &w.List()[i]; {
		case from == WeightsRandom:
			list[i] = float64(1 + r.IntN(10))
		case from == WeightsTrace && j.Weight.OK:
			list[i] = j.Weight.V
		}
	}
	return list, nil
}
