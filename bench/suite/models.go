package suite

import (
	"fmt"
	"slices"
	"strings"

	"yardstick/datasets"
	"yardstick/datasets/instances"
	"yardstick/datasets/interference"
	"yardstick/datasets/profile"
	"yardstick/sched"
)

// defaultModel is that of sources that name none.
const defaultModel = sched.ModelGang

// model is what a suite says of instances of a model.
type model struct {
	sched.Model
	// keys are those that not every model knows, in front of a dot all keys under them.
	keys  []string
	build func(*Source, *datasets.Window, instances.Common, []profile.Config) (*sched.Instance, error)
}

// models has a row for each model.
var models = []model{
	{sched.ModelGang, []string{"profiles", "singleShare", "matchDemand", "shrink", "params", "iteration", "prove", "overlap", "microBatches"}, (*Source).buildGang},
	{sched.ModelPreemptive, []string{"iteration", "storage", "startup", "past"}, (*Source).buildPreemptive},
	{sched.ModelSharing, []string{"gpuMemory", "sharing"}, (*Source).buildSharing},
	{sched.ModelElastic, []string{"startup", "ring", "capacity", "maxWorkers", "workerType"}, (*Source).buildElastic},
}

// heavyTailed is the table of interference that stands for no file.
const heavyTailed = "builtin:heavy-tailed"

// keysOfGangs are about gangs. Other jobs have no running time of their own and so no
// load, and their servers are drawn.
var keysOfGangs = []string{"cluster.gpusPerServer", "cluster.inter", "cluster.intra", "slice.load", "offeredLoad"}

// knows reports whether the model knows a key that no row lists.
func (m *model) knows(key string) bool {
	return (m.Gangs() || !slices.Contains(keysOfGangs, key)) && (!m.Slotted() || key != "slotted")
}

// knowing lists the models that know a key.
func knowing(key string) (list []sched.Model) {
	top, _, _ := strings.Cut(key, ".")
	for _, m := range models {
		if slices.Contains(m.keys, top) {
			list = append(list, m.Model)
		}
	}
	if list != nil {
		return list
	}
	for _, m := range models {
		if m.knows(key) {
			list = append(list, m.Model)
		}
	}
	return list
}

func (src *Source) buildGang(w *datasets.Window, common instances.Common, configs []profile.Config) (*sched.Instance, error) {
	o := instances.GangOptions{Common: common, MatchDemand: src.MatchDemand, Shrink: optional(src, "shrink", src.Shrink),
		Iteration: optional(src, "iteration", src.Iterate), Params: src.Params, Configs: configs,
		Pipelining: instances.Pipelining{Overlap: optional(src, "overlap", src.Overlap), MicroBatches: optional(src, "microBatches", src.MicroBatches)}}
	if src.SingleShare != nil {
		o.SingleShare = datasets.Some(*src.SingleShare)
	}
	return instances.Gang(w, o)
}

func (src *Source) buildPreemptive(w *datasets.Window, common instances.Common, _ []profile.Config) (*sched.Instance, error) {
	return instances.Preemptive(w, instances.PreemptiveOptions{Common: common, Storage: optional(src, "storage", src.Storage), Startup: src.Startup,
		Iteration: optional(src, "iteration", src.Iterate), Past: src.Past})
}

func (src *Source) buildSharing(w *datasets.Window, common instances.Common, _ []profile.Config) (*sched.Instance, error) {
	o := instances.SharingOptions{Common: common, GPUMemory: optional(src, "gpuMemory", src.GPUMemory),
		Xi: optional(src, "sharing.xi", src.Sharing.Xi), Rate: optional(src, "sharing.rate", src.Sharing.Rate),
		Pause: src.Sharing.Pause, Malleable: src.Sharing.Malleable}
	if file := optional(src, "sharing.interference", src.Sharing.Interference); file.OK {
		var err error
		if file.V == heavyTailed {
			if o.Table, err = instances.HeavyTailed(); err != nil {
				return nil, err
			}
			return instances.Sharing(w, o)
		}
		if o.Table, err = interference.ReadFile(file.V); err != nil {
			return nil, fmt.Errorf("sharing.interference: %w", err)
		}
	}
	return instances.Sharing(w, o)
}

func (src *Source) buildElastic(w *datasets.Window, common instances.Common, _ []profile.Config) (*sched.Instance, error) {
	common.Cluster = sched.Cluster{} // its servers are drawn
	return instances.Elastic(w, instances.ElasticOptions{Common: common, Ring: src.Ring, Servers: datasets.Some(src.Cluster.Servers), Startup: src.Startup,
		Capacity: optional(src, "capacity", src.Capacity), MaxWorkers: src.MaxWorkers, WorkerType: src.WorkerType})
}
