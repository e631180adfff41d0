package profile

import (
	"cmp"
	"fmt"
	"slices"

	"yardstick/sched"
)

// Config is one way to train a model on a number of GPUs.
type Config struct {
	Name   string // MODEL-8g-2s: GPUs and stages
	Model  string
	GPUs   int
	Stages []sched.Stage

	Slowest   sched.Duration // time of the slowest stage, as the plan has it
	Memory    sched.Bytes    // that the fullest GPU holds
	Recompute bool           // forward passes are repeated to save memory
	Offload   bool           // optimizer states are in the host's memory
}

// ConfigOptions say what configurations are for. The zero value is usable.
type ConfigOptions struct {
	Demands   []int           // numbers of GPUs; nil means 1, 2, 4, …, 64
	Batch     int             // as in Options
	Capacity  sched.Bytes     // of a GPU; 0: not checked
	States    int64           // as in Memory
	Bandwidth sched.Bandwidth // as in Options; 0 means DefaultBandwidth
}

// DefaultBandwidth is the 10 Gbit/s network card of the A-SRPT paper's servers.
const DefaultBandwidth sched.Bandwidth = 1_250_000_000

// stageCounts are the numbers of stages that a configuration is sought for
// besides the best: data parallelism and three pipelines.
var stageCounts = [...]int{1, 2, 4, 8}

// Configs returns, for every demand in turn, the plans of 1, 2, 4 and 8 stages
// and the best of any number, as far as they exist and differ. Names are
// distinct.
//
// Memory: the first of these ways in which the model fits the demand's GPUs is
// taken, by all plans of the demand: everything on the GPU; forward passes
// recomputed (Chen et al., Training deep nets with sublinear memory cost, 2016);
// optimizer states offloaded as well (Ren et al., ZeRO-Offload, ATC 2021), taken
// to overlap with the backward pass. A demand that is too small for all three
// has no configuration.
//
// Errors: the profile or an option is invalid.
func Configs(p *Profile, o ConfigOptions) ([]Config, error) {
	if o.Demands == nil {
		o.Demands = []int{1, 2, 4, 8, 16, 32, 64}
	}
	if o.Bandwidth == 0 {
		o.Bandwidth = DefaultBandwidth
	}
	open := slices.Clone(o.Demands) // demands without a configuration
	slices.Sort(open)
	open = slices.Compact(open)
	if len(open) == 0 || open[0] < 1 {
		return nil, fmt.Errorf("profile: %q for demands %v: each must be at least 1 GPU", p.Model, o.Demands)
	}
	var out []Config
	for _, m := range []Memory{{States: o.States}, {States: o.States, Recompute: true}, {States: Offloaded, Recompute: true}} {
		if len(open) == 0 {
			break
		}
		m.Capacity = o.Capacity
		s, err := newSolver(p, Options{GPUs: open[len(open)-1], Stages: stageCounts[len(stageCounts)-1], Batch: o.Batch, Memory: m, Bandwidth: o.Bandwidth})
		if err != nil {
			return nil, err
		}
		s.fill()
		left := open[:0]
		for _, gpus := range open {
			found := s.configs(p.Model, gpus)
			if len(found) == 0 {
				left = append(left, gpus)
			}
			out = append(out, found...)
		}
		open = left
	}
	slices.SortStableFunc(out, func(a, b Config) int {
		return cmp.Or(cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(len(a.Stages), len(b.Stages)))
	})
	return out, nil
}

// configs returns the distinct plans for one number of GPUs.
func (s *solver) configs(model string, gpus int) []Config {
	var out []Config
	add := func(p *Plan) {
		if p == nil || slices.ContainsFunc(out, func(c Config) bool { return len(c.Stages) == len(p.Stages) }) {
			return
		}
		out = append(out, Config{
			Name:      fmt.Sprintf("%s-%dg-%ds", model, gpus, len(p.Stages)),
			Model:     model,
			GPUs:      gpus,
			Stages:    p.Stages,
			Slowest:   p.Slowest,
			Memory:    p.Memory,
			Recompute: s.options.Memory.Recompute,
			Offload:   s.options.Memory.States == Offloaded,
		})
	}
	for _, n := range stageCounts {
		add(s.plan(gpus, n))
	}
	add(s.plan(gpus, 0))
	return out
}

// BuiltinConfigs returns the configurations of the nine models on a GPU of
// [GPUs], each model's in turn, within the GPU's memory and otherwise with the
// default options.
func BuiltinConfigs(gpu string) ([]Config, error) {
	g, err := FindGPU(gpu)
	if err != nil {
		return nil, err
	}
	profiles, err := Builtin(gpu)
	if err != nil {
		return nil, err
	}
	var out []Config
	for i := range profiles {
		list, err := Configs(&profiles[i], ConfigOptions{Capacity: g.Memory})
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}
