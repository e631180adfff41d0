package instances

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"yardstick/datasets"
	"yardstick/datasets/profile"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// GangOptions say how a window becomes an instance of the gang model: out of the
// trace alone, or with the models and configurations of a profile.
type GangOptions struct {
	Common

	// Configs are the models and the ways to train each, such as
	// profile.BuiltinConfigs makes them. Those that the cluster cannot hold are
	// not used. Nil makes jobs of what the trace tells.
	Configs []profile.Config

	// SingleShare, if set, draws anew which of the window's jobs train on one
	// GPU: that share of them, from 0 to 1, to the nearest whole job. With the
	// same seed, a job that is of one GPU at one share is so at every larger one.
	// NULL follows the trace. It needs Configs.
	SingleShare datasets.Opt[float64]

	// MatchDemand gives distributed jobs configurations of as many GPUs as the
	// trace says, or of the next smaller number for which there are any (two if
	// there is none), instead of any number. It needs Configs.
	MatchDemand bool

	// Shrink divides releases and numbers of iterations; NULL is 1. It needs
	// Configs.
	Shrink datasets.Opt[int64]

	// Iteration is about how long one training iteration takes: a job that ran
	// for d becomes n = d/Iteration iterations (to the nearest, at least 1) of
	// d/n each. 0 makes the whole run one iteration, and so does NULL but where
	// there are Params, of which one exchange in a whole run would not make
	// placement matter: there it is 1s. It does not go with Configs.
	Iteration datasets.Opt[sched.Duration]

	// Params gives every job of two or more GPUs that many bytes of parameters to
	// synchronise after each iteration, so that its placement matters. This is
	// synthetic: traces do not tell. The exchange comes on top of the trace's
	// duration. 0 means none. It does not go with Configs.
	Params sched.Bytes

	Pipelining
}

// Gang makes an instance of the gang model. Without Configs, a job is one stage
// with one replica per GPU that the trace says, and runs for as long as the trace
// says, rounded to the nearest nanosecond; Round applies to releases and durations.
//
// With Configs, it is made as the A-SRPT paper's section V.A, 1-b does, and Round
// applies to releases alone, because running times follow from placements:
//
//   - A group in which some job of the trace asks for a single GPU is given a
//     model that has a configuration for one, and that configuration. Any other
//     is given a model and one of its configurations for several GPUs. Both
//     draws are uniform. All jobs of the group keep them; a job without a group
//     is one of its own.
//   - n = duration/alpha-tilde, where alpha-tilde is the time of an iteration
//     placed by Heavy-Edge on the fewest servers of the empty cluster.
//
// The gang is thus that of the configuration, not the trace's demand, which
// only tells single-GPU jobs from distributed ones.
//
// Not in the source: n is rounded to the nearest whole number, at least 1, and
// divided by Shrink before; jobs that SingleShare draws anew keep the model and
// configuration of their group, of which there may then be two, one for its
// single-GPU jobs and one for its distributed ones.
//
// Errors: a gang larger than the cluster, naming the job; no configuration is left
// for a job; options out of range or that do not go together; whatever
// sched.Instance.Validate refuses.
func Gang(w *datasets.Window, o GangOptions) (*sched.Instance, error) {
	return o.finish(gang(w, &o))
}

func gang(w *datasets.Window, o *GangOptions) (*sched.Instance, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	in, err := o.start(w, sched.ModelGang, o.Shrink.V)
	if err != nil {
		return nil, err
	}
	if o.Configs == nil {
		return in, o.rigid(w, in)
	}
	a, err := newAssigner(w, o)
	if err != nil {
		return nil, err
	}
	jobs := w.List()
	single, err := a.singles()
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		c, err := a.config(&jobs[i], single[i])
		if err != nil {
			return nil, err
		}
		in.Jobs[i].Model = c.Name
		in.Jobs[i].Stages = slices.Clone(c.Stages)
		if in.Jobs[i].Iters, err = a.iterations(c, jobs[i].Run); err != nil {
			return nil, err
		}
	}
	for _, j := range w.Past(o.History) {
		c, err := a.config(&j, a.pastSingle(&j))
		if err != nil {
			return nil, err
		}
		n, err := a.iterations(c, j.Run)
		if err != nil {
			return nil, err
		}
		in.History = append(in.History, sched.PastJob{User: j.User, Group: j.Group, Gang: c.GPUs, Iters: n})
	}
	return in, nil
}

// complete fills in defaults and checks what does not go together.
func (o *GangOptions) complete() error {
	switch profiled := o.Configs != nil; {
	case !profiled && (o.SingleShare.OK || o.MatchDemand || o.Shrink.OK):
		return errors.New("singleShare, matchDemand and shrink are about profiles: give some, such as profiles: builtin:v100 in a suite")
	case profiled && (o.Iteration.OK || o.Params != 0):
		return errors.New("iteration and params make up what profiles tell: drop them, or the profiles")
	case o.Overlap.OK && !profiled && o.Params == 0:
		return errNoAllReduce
	case o.MicroBatches.OK && !profiled:
		return errors.New("microBatches is about pipelines: give some, such as profiles: builtin:v100 in a suite")
	case o.Shrink.OK && o.Shrink.V < 1:
		return fmt.Errorf("shrink is %d: it must be at least 1", o.Shrink.V)
	case o.Iteration.V < 0 || o.Params < 0:
		return fmt.Errorf("iteration %v, params %v: neither may be negative", o.Iteration.V, o.Params)
	}
	if err := o.Pipelining.validate(); err != nil {
		return err
	}
	o.Configs, o.Params = o.Pipelining.configs(o.Configs), o.exposed(o.Params)
	if !o.Shrink.OK {
		o.Shrink = datasets.Some[int64](1)
	}
	if !o.Iteration.OK && o.Params > 0 {
		o.Iteration = datasets.Some(defaultIteration)
	}
	return uneven(o.Round, o.Iteration.V)
}

// rigid fills in jobs that are what the trace tells.
func (o *GangOptions) rigid(w *datasets.Window, in *sched.Instance) error {
	jobs, gpus := w.List(), o.Cluster.GPUs()
	stages := make([]sched.Stage, len(jobs)) // one for each, in one piece
	for i := range jobs {
		if err := gangFits(&jobs[i], gpus); err != nil {
			return err
		}
		n, compute := divide(jobs[i].Run, o.Round, o.Iteration.V)
		stages[i] = sched.Stage{Replicas: jobs[i].Gang, Compute: compute}
		if jobs[i].Gang > 1 {
			stages[i].Params = o.Params
		}
		in.Jobs[i].Iters, in.Jobs[i].Stages = n, stages[i:i+1:i+1]
	}
	past := w.Past(o.History)
	if len(past) > 0 {
		in.History = make([]sched.PastJob, 0, len(past))
	}
	for i := range past {
		j := &past[i]
		n, _ := divide(j.Run, o.Round, o.Iteration.V)
		in.History = append(in.History, sched.PastJob{User: j.User, Group: j.Group, Gang: j.Gang, Iters: n})
	}
	return nil
}

// assigner gives jobs their configurations.
type assigner struct {
	window  *datasets.Window
	options *GangOptions

	groups map[string]bool // without SingleShare: groups with a job of a single GPU

	single      menu
	distributed map[int]menu // by number of GPUs; 0 is any

	rates map[*profile.Config]*rate
}

// rate is what turns the time of a run, in nanoseconds, into iterations of a
// configuration: times up, and of nanoseconds down each.
type rate struct{ up, down *big.Int }

// menu lists configurations by model, in the order in which models come.
type menu [][]*profile.Config

func (m menu) add(c *profile.Config) menu {
	for i := range m {
		if m[i][0].Model == c.Model {
			m[i] = append(m[i], c)
			return m
		}
	}
	return append(m, []*profile.Config{c})
}

func newAssigner(w *datasets.Window, o *GangOptions) (*assigner, error) {
	a := &assigner{window: w, options: o, distributed: map[int]menu{}, rates: map[*profile.Config]*rate{}}
	gpus := o.Cluster.GPUs()
	for i := range o.Configs {
		c := &o.Configs[i]
		total := 0
		for _, s := range c.Stages {
			total += s.Replicas
		}
		switch {
		case c.Model == "" || c.GPUs < 1 || c.GPUs != total:
			return nil, fmt.Errorf("configuration %q of model %q is for %d GPUs and has %d replicas: the two must agree and the model have a name", c.Name, c.Model, c.GPUs, total)
		case c.GPUs > gpus:
		case c.GPUs == 1:
			a.single = a.single.add(c)
		default:
			a.distributed[0] = a.distributed[0].add(c)
			a.distributed[c.GPUs] = a.distributed[c.GPUs].add(c)
		}
	}
	if !o.SingleShare.OK {
		a.groups = singleGroups(w)
	}
	return a, nil
}

// singleGroups returns the groups of which some job of the trace asks for one
// GPU.
func singleGroups(w *datasets.Window) map[string]bool {
	groups := map[string]bool{}
	jobs := w.Trace().Jobs()
	for i := range jobs {
		if jobs[i].Gang == 1 && jobs[i].Group != "" {
			groups[jobs[i].Group] = true
		}
	}
	return groups
}

// singles reports which of the window's jobs train on one GPU.
func (a *assigner) singles() ([]bool, error) {
	jobs, share := a.window.List(), a.options.SingleShare
	single := make([]bool, len(jobs))
	if !share.OK {
		for i := range jobs {
			single[i] = a.isSingle(&jobs[i])
		}
		return single, nil
	}
	if !(share.V >= 0 && share.V <= 1) {
		return nil, fmt.Errorf("the share of single-GPU jobs is %v: it must be between 0 and 1", share.V)
	}
	lots, order := make([]uint64, len(jobs)), make([]int, len(jobs))
	for i := range jobs {
		lots[i], order[i] = a.lot(&jobs[i]), i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(lots[i], lots[j]) })
	for _, i := range order[:int(math.Round(share.V*float64(len(jobs))))] {
		single[i] = true
	}
	return single, nil
}

// pastSingle reports whether a job of before the window trains on one GPU.
func (a *assigner) pastSingle(j *datasets.Job) bool {
	if share := a.options.SingleShare; share.OK {
		return float64(a.lot(j)) < share.V*(1<<53)
	}
	return a.isSingle(j)
}

// isSingle is the rule for what the trace says.
func (a *assigner) isSingle(j *datasets.Job) bool {
	if j.Group == "" {
		return j.Gang == 1
	}
	return a.groups[j.Group]
}

// lot is a job's random number below 2^53; with SingleShare, the jobs of the
// lowest train on one GPU.
func (a *assigner) lot(j *datasets.Job) uint64 {
	return draw(a.window.Seed, "lot", lotName(j)).Uint64() >> 11
}

// config returns the job's configuration.
func (a *assigner) config(j *datasets.Job, single bool) (*profile.Config, error) {
	options, kind, stream := a.single, "single-GPU", "single"
	if !single {
		demand := 0
		if a.options.MatchDemand {
			demand = a.demand(j.Gang)
		}
		options, kind, stream = a.distributed[demand], "distributed", "distributed "+strconv.Itoa(demand)
	}
	if len(options) == 0 {
		return nil, fmt.Errorf("job %q: it needs a %s configuration, and none of the %d given is one that the cluster of %d GPUs can hold", j.ID, kind, len(a.options.Configs), a.options.Cluster.GPUs())
	}
	r := draw(a.window.Seed, stream, kin(j))
	configs := options[r.IntN(len(options))]
	return configs[r.IntN(len(configs))], nil
}

// demand returns the largest number of GPUs, at most the trace's and at least
// 2, that distributed configurations are for; the least of all if there is
// none.
func (a *assigner) demand(gang int) int {
	below, least := 0, 0
	for gpus := range a.distributed {
		if gpus != 0 && gpus <= gang {
			below = max(below, gpus)
		}
		if gpus != 0 && (least == 0 || gpus < least) {
			least = gpus
		}
	}
	if below == 0 {
		return least
	}
	return below
}

// iterations returns n = run/(alpha-tilde·shrink) to the nearest whole number,
// half up, at least 1. It is exact.
func (a *assigner) iterations(c *profile.Config, run sched.Duration) (int64, error) {
	r, err := a.rate(c)
	if err != nil {
		return 0, err
	}
	n := big.NewInt(int64(run)) // floor(run·up/down + 1/2)
	n.Mul(n, r.up).Lsh(n, 1).Add(n, r.down).Quo(n, new(big.Int).Lsh(r.down, 1))
	return max(1, n.Int64()), nil
}

// rate returns that of a configuration: 1/(alpha-tilde·shrink), alpha-tilde in nanoseconds.
func (a *assigner) rate(c *profile.Config) (*rate, error) {
	if r := a.rates[c]; r != nil {
		return r, nil
	}
	probe := &sched.Instance{Name: "probe", Model: sched.ModelGang, Cluster: a.options.Cluster,
		Jobs: []sched.Job{{Weight: 1, Iters: 1, Stages: c.Stages}}}
	if err := probe.Validate(); err != nil {
		return nil, fmt.Errorf("configuration %q: %w", c.Name, err)
	}
	alpha, err := heavyedge.AlphaTilde(probe, 0, heavyedge.Ring)
	if err != nil {
		return nil, fmt.Errorf("configuration %q: %w", c.Name, err)
	}
	down := big.NewRat(1e9, 1)
	down.Mul(down, alpha).Mul(down, new(big.Rat).SetInt64(a.options.Shrink.V))
	r := &rate{up: down.Denom(), down: down.Num()}
	a.rates[c] = r
	return r, nil
}

func (d *description) gang() error { return d.gangs("alpha-tilde") }
