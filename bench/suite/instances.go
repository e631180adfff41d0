package suite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"yardstick/bench/record"
	"yardstick/datasets"
	"yardstick/datasets/instances"
	"yardstick/datasets/interference"
	"yardstick/datasets/profile"
	"yardstick/internal/input"
	"yardstick/sched"
)

// Instance is one built instance of a suite.
type Instance struct {
	*sched.Instance
	Family string            // the source's name
	Swept  map[string]string // values that the suite's matrix gave
	SHA256 string
	Seed   uint64
	Note   string // what was dropped on the way from the trace, on the first instance of a family
}

// OfferedLoad returns the offered load of the instance's jobs, as
// [instances.OfferedLoad] defines it: missing of a burst, of elastic jobs, and where a
// job would run for longer than there is time.
func (in *Instance) OfferedLoad() record.Opt[float64] {
	load, ok, err := instances.OfferedLoad(in.Instance)
	return record.Opt[float64]{V: load, Valid: ok && err == nil}
}

// Build makes the source's instances: the one of its file, or one per window
// of its trace.
func (src *Source) Build(master uint64) ([]*Instance, error) {
	if err := src.validate(); err != nil {
		return nil, err
	}
	if src.File != "" {
		return src.readFile(master)
	}
	trace, err := src.load()
	if err != nil {
		return nil, err
	}
	// Sweeping a parameter leaves the seed as it is, so that random choices are
	// shared by all its values.
	slice := src.Slice
	slice.GPUs = src.Cluster.Servers * src.Cluster.GPUsPerServer
	windows, err := trace.Windows(slice, master, src.seedName())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Trace, err)
	}
	configs, err := src.configurations()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Trace, err)
	}
	var built []*Instance
	for _, w := range windows {
		in, err := src.buildWindow(&w, configs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.Trace, err)
		}
		built = append(built, &Instance{Instance: in, Family: src.Name, Swept: src.Swept, SHA256: in.Hash(), Seed: w.Seed})
	}
	if s := trace.Summary(); len(s.Dropped) > 0 {
		built[0].Note = fmt.Sprintf("%s: %v", src.Trace, s)
	}
	return built, nil
}

// instanceName is the source's name, the repetition and the swept values:
// "small/03" or "small/03 cluster.inter=1Gbps".
func (src *Source) instanceName(repetition int) string {
	name := fmt.Sprintf("%s/%02d", src.Name, repetition)
	for _, key := range slices.Sorted(maps.Keys(src.Swept)) {
		name += " " + key + "=" + src.Swept[key]
	}
	return name
}

func (src *Source) readFile(master uint64) ([]*Instance, error) {
	f, err := input.Document(src.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := sched.ReadInstance(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.File, err)
	}
	in.Name = src.Name
	return []*Instance{{Instance: in, Family: src.Name, SHA256: in.Hash(), Seed: datasets.Seed(master, src.seedName(), 0)}}, nil
}

func (src *Source) seedName() string { return cmp.Or(src.DrawAs, src.Name) }

func (src *Source) load() (*datasets.Trace, error) {
	filter, err := datasets.ParseFilter(src.Where)
	if err != nil {
		return nil, fmt.Errorf("where: %w", err)
	}
	selection := datasets.Selection{Where: filter}
	if src.TooLarge == "drop" {
		selection.MaxGPUs = src.Cluster.Servers * src.Cluster.GPUsPerServer
	}
	if rows, ok, err := generated(src.Trace); err != nil {
		return nil, err
	} else if ok {
		return datasets.NewTrace(rows, selection)
	}
	source, err := datasets.Open(src.Trace)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	return source.Load(selection)
}

// buildWindow makes an instance of the source's model, in that of gangs of the
// configurations.
func (src *Source) buildWindow(w *datasets.Window, configs []profile.Config) (*sched.Instance, error) {
	c := src.Cluster
	cluster := sched.Uniform(c.Servers, c.GPUsPerServer, c.Inter, c.Intra)
	common := instances.Common{Name: src.instanceName(w.Repetition), Cluster: cluster, Weights: src.Weights, Round: src.Round,
		Slotted: src.Slotted, Deadline: src.Deadline, History: src.history(), OfferedLoad: optional(src, "offeredLoad", src.OfferedLoad)}
	switch src.Model {
	case sched.ModelGang:
		return src.buildGang(w, common, configs)
	case sched.ModelPreemptive:
		return instances.Preemptive(w, instances.PreemptiveOptions{Common: common, Storage: optional(src, "storage", src.Storage), Startup: src.Startup,
			Iteration: optional(src, "iteration", src.Iterate)})
	case sched.ModelSharing:
		return src.buildSharing(w, common)
	case sched.ModelElastic:
		common.Cluster = sched.Cluster{} // its servers are drawn
		return instances.Elastic(w, instances.ElasticOptions{Common: common, Ring: src.Ring, Servers: datasets.Some(c.Servers), Startup: src.Startup,
			MaxWorkers: src.MaxWorkers, WorkerType: src.WorkerType})
	}
	return nil, fmt.Errorf("model %q is unknown: gang, preemptive, sharing, elastic", src.Model)
}

// optional returns a key's value, NULL where the source was not given the key. A
// field that a program has set counts as given.
func optional[T comparable](src *Source, key string, v T) datasets.Opt[T] {
	var zero T
	return datasets.Opt[T]{V: v, OK: src.has(key) || v != zero}
}

func (src *Source) buildGang(w *datasets.Window, common instances.Common, configs []profile.Config) (*sched.Instance, error) {
	o := instances.GangOptions{Common: common, MatchDemand: src.MatchDemand, Shrink: optional(src, "shrink", src.Shrink),
		Iteration: optional(src, "iteration", src.Iterate), Params: src.Params, Configs: configs}
	if src.SingleShare != nil {
		o.SingleShare = datasets.Some(*src.SingleShare)
	}
	return instances.Gang(w, o)
}

func (src *Source) buildSharing(w *datasets.Window, common instances.Common) (*sched.Instance, error) {
	o := instances.SharingOptions{Common: common, GPUMemory: optional(src, "gpuMemory", src.GPUMemory),
		Xi: optional(src, "sharing.xi", src.Sharing.Xi), Rate: optional(src, "sharing.rate", src.Sharing.Rate),
		Pause: src.Sharing.Pause, Malleable: src.Sharing.Malleable}
	if file := optional(src, "sharing.interference", src.Sharing.Interference); file.OK {
		var err error
		if o.Table, err = interference.ReadFile(file.V); err != nil {
			return nil, fmt.Errorf("sharing.interference: %w", err)
		}
	}
	return instances.Sharing(w, o)
}

// configurations returns those of the source's profiles, nil if it has none.
func (src *Source) configurations() ([]profile.Config, error) {
	if src.Profiles == "" {
		return nil, nil
	}
	configs, err := configurations(src.Profiles)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	if len(configs) == 0 {
		return nil, fmt.Errorf("profiles: %s has none", src.Profiles)
	}
	return configs, nil
}

// configurations plans the pipeline configurations of the built-in models on a
// GPU (builtin:v100), or of the profiles in a Parquet file.
func configurations(name string) ([]profile.Config, error) {
	if gpu, ok := strings.CutPrefix(name, "builtin:"); ok {
		return profile.BuiltinConfigs(gpu)
	}
	profiles, err := profile.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []profile.Config
	for i := range profiles {
		configs, err := profile.Configs(&profiles[i], profile.ConfigOptions{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, configs...)
	}
	return all, nil
}
