package instances

import (
	"fmt"
	"math"

	"yardstick/datasets"
	"yardstick/sched"
)

// PreemptiveOptions say how a window becomes an instance of the preemptive
// model. Round also rounds running, load and save times up.
type PreemptiveOptions struct {
	Common

	Models []Model // that jobs are given; nil stands for LazerModels

	// Storage is what a job's checkpoint is read from and written to; NULL is
	// DefaultStorage.
	Storage datasets.Opt[Storage]
	// State is the size of a checkpoint, in bytes per parameter; NULL is
	// DefaultState.
	State datasets.Opt[int64]
	// Startup comes on top of the reading at every (re)start: to start processes,
	// initialise the GPUs and fill caches. 0 means none.
	Startup sched.Time

	// Iteration is about how long one training iteration takes: a job that ran
	// for d has n = d/Iteration iterations, to the nearest and at least 1, of d/n
	// each. 0 makes the whole run one iteration; NULL is Round or, without that, 1s.
	Iteration datasets.Opt[sched.Duration]

	// Past is how many jobs Instance.Past lists, those of Window.Before; 0 is none.
	Past int
}

// The defaults of PreemptiveOptions.
const (
	DefaultStorage sched.Bandwidth = 1e9 // 1 GB/s
	// DefaultState is 4 bytes each for the parameter and the two moments of Adam.
	DefaultState = 12
)

// Storage is what checkpoints are read from and written to.
type Storage struct {
	Bandwidth sched.Bandwidth
	// None says that there is nothing to read or write: preemption costs no time but
	// Startup, as in simulators that count GPUs. Bandwidth is then 0.
	None bool
}

const noStorage = "none"

// String returns the storage as suites have it.
func (s Storage) String() string {
	if s.None {
		return noStorage
	}
	return s.Bandwidth.String()
}

// MarshalText implements encoding.TextMarshaler.
func (s Storage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Storage) UnmarshalText(text []byte) error {
	*s = Storage{None: string(text) == noStorage}
	if s.None {
		return nil
	}
	if err := s.Bandwidth.UnmarshalText(text); err != nil {
		return fmt.Errorf("%w, or none", err)
	}
	return nil
}

// Model is a model as the preemptive model sees it.
type Model struct {
	Name       string
	Parameters int64 // trainable, their number
}

// LazerModels lists the seven models of the Lazer paper's section 3.1. The
// paper names families, not variants; taken are the base variant or, of
// EfficientNet, the largest of the original ones. docs/instances.md gives the
// sources of the totals.
func LazerModels() []Model {
	return []Model{
		{"convnext-b", 88_591_464}, {"efficientnet-b7", 66_347_960}, {"vgg19", 143_667_240}, {"vit-b16", 86_567_656},
		{"swin-b", 87_768_224}, {"conformer-b", 83_300_000}, {"tnt-b", 65_600_000},
	}
}

// Preemptive makes an instance of the preemptive model, as the Lazer paper's
// sections 2 and 3.1 do: gangs and training times are the trace's, and each job
// is given one of the models at random. With a model of h parameters,
//
//	load l  = Startup + ceil(h·State/Storage)
//	pause p = ceil(h·State/Storage)
//
// both rounded up to a microsecond, and without the last term where there is no Storage.
//
// Not in the source, which measured these times and does not publish them: the
// formulas; that the first load takes as long as a later one, although there is
// no checkpoint yet; that the size of the gang does not matter, because
// data-parallel replicas hold the same parameters, one of them writes and all
// read at once. A job is one stage with a replica per GPU, and its time does
// not depend on where it runs, as in the paper.
//
// Errors: a gang larger than the cluster; options out of range; whatever
// sched.Instance.Validate refuses.
func Preemptive(w *datasets.Window, o PreemptiveOptions) (*sched.Instance, error) {
	return o.finish(preemptive(w, &o))
}

func preemptive(w *datasets.Window, o *PreemptiveOptions) (*sched.Instance, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	in, err := o.start(w, sched.ModelPreemptive, 1)
	if err != nil {
		return nil, err
	}
	jobs, gpus := w.List(), o.Cluster.GPUs()
	for i := range jobs {
		j := &jobs[i]
		if err := gangFits(j, gpus); err != nil {
			return nil, err
		}
		if err := o.train(&in.Jobs[i], j, w.Seed); err != nil {
			return nil, err
		}
	}
	past := w.Before(o.Past)
	for i := range past {
		j := &past[i]
		if err := gangFits(j, gpus); err != nil {
			return nil, err
		}
		in.Past = append(in.Past, sched.Job{Name: j.ID, User: j.User, Group: j.Group, Weight: 1, Release: roundUp(j.Submit-past[0].Submit, o.Round), Keys: o.KeysOf[j.ID]})
		if err := o.train(&in.Past[i], j, w.Seed); err != nil {
			return nil, err
		}
	}
	for _, j := range w.Past(o.History) {
		n, _ := divide(j.Run, o.Round, o.Iteration.V)
		in.History = append(in.History, sched.PastJob{User: j.User, Group: j.Group, Gang: j.Gang, Iters: n})
	}
	return in, nil
}

// train gives a job its model, and what the training takes.
func (o *PreemptiveOptions) train(out *sched.Job, j *datasets.Job, seed uint64) error {
	m := o.Models[draw(seed, "model", lotName(j)).IntN(len(o.Models))]
	out.Model = m.Name
	n, compute := divide(j.Run, o.Round, o.Iteration.V)
	out.Iters, out.Stages = n, []sched.Stage{{Replicas: j.Gang, Compute: compute}}
	save, err := o.Storage.V.transfer(m.Parameters, o.State.V)
	if err != nil {
		return fmt.Errorf("model %q: %w", m.Name, err)
	}
	out.Load, out.Pause = roundUp(o.Startup+save, o.Round), roundUp(save, o.Round)
	return nil
}

func (o *PreemptiveOptions) complete() error {
	if o.Models == nil {
		o.Models = LazerModels()
	}
	if !o.Storage.OK {
		o.Storage = datasets.Some(Storage{Bandwidth: DefaultStorage})
	}
	if !o.State.OK {
		o.State = datasets.Some[int64](DefaultState)
	}
	if !o.Iteration.OK {
		o.Iteration = datasets.Some(defaultIteration)
		if o.Round > 0 {
			o.Iteration.V = sched.Duration(o.Round) * 1000
		}
	}
	switch {
	case o.Past < 0:
		return fmt.Errorf("past is %d: it must be at least 0", o.Past)
	case len(o.Models) == 0:
		return fmt.Errorf("there are no models to give to jobs")
	case !o.Storage.V.None && o.Storage.V.Bandwidth <= 0:
		return fmt.Errorf("storage is %v: it must be positive, or none", o.Storage.V)
	case o.State.V < 0 || o.Startup < 0 || o.Startup > sched.MaxTime || o.Iteration.V < 0:
		return fmt.Errorf("state %d bytes per parameter, startup %v, iteration %v: none of these may be negative, nor startup exceed %v", o.State.V, o.Startup, o.Iteration.V, sched.MaxTime)
	}
	return uneven(o.Round, o.Iteration.V)
}

// transfer returns the time to move count items of the given size, rounded up
// to a microsecond.
func (s Storage) transfer(count, size int64) (sched.Time, error) {
	if count < 0 || size > 0 && count > math.MaxInt64/size/1e6 {
		return 0, fmt.Errorf("%d parameters of %d bytes each: sizes up to 9 TB are supported, and none below 0", count, size)
	}
	if s.None {
		return 0, nil
	}
	b := int64(s.Bandwidth)
	return sched.Time((count*size*1e6 + b - 1) / b), nil
}

func (d *description) preemptive() error {
	if err := d.gangs("iteration time"); err != nil {
		return err
	}
	var loads, pauses []sched.Time
	for i := range d.in.Jobs {
		loads, pauses = append(loads, d.in.Jobs[i].Load), append(pauses, d.in.Jobs[i].Pause)
	}
	d.line("load", "%s", quantiles(loads))
	d.line("pause and save", "%s", quantiles(pauses))
	if n := len(d.in.Past); n > 0 {
		d.line("past", "%d jobs, for policies that learn from a replay of them", n)
	}
	return nil
}
