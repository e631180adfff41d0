package schedtest

import (
	"fmt"

	"yardstick/sched"
)

// Every draws an instance of every model and variant of one: with time in
// slots or not, placements that matter or not, a server whose GPUs are too few for
// some gangs, and one job alone.
func Every(seed uint64) map[string]*sched.Instance {
	r := Rand(seed)
	all := map[string]*sched.Instance{}
	for _, jobs := range []int{1, 3} {
		// All data are whole seconds, so that linear programs over time are small.
		plain := Shape{Jobs: jobs, Servers: 2, GPUs: 3, Stages: 1, Weights: true, Slot: sched.Second}
		placed, graphs := plain, plain
		placed.Stages, placed.Traffic, placed.Span = 2, true, true
		graphs.Stages, graphs.Slices, graphs.Graph, graphs.Uniform = 3, 2, true, true
		add := func(what string, in *sched.Instance) {
			all[fmt.Sprintf("%s of %d, slotted", what, jobs)] = in
			continuous := *in
			continuous.Slot = 0
			all[fmt.Sprintf("%s of %d", what, jobs)] = &continuous
		}
		add("gang pooled", Gang(r, plain))
		add("gang placed", Gang(r, placed))
		add("gang graphs", Gang(r, graphs))
		add("preemptive", Preemptive(r, placed))
		add("preemptive graphs", Preemptive(r, graphs))
		add("sharing", SlottedSharing(seed, Slots{Jobs: jobs, Servers: []int{2, 1}, Work: [2]int{1, 3}, Span: 2, Gang: 2, Xi: 1.5, Options: 2}))
		add("sharing pipelines", Sharing(r, placed))
		add("malleable", Malleable(r, plain))
		shape := ElasticShape{Jobs: jobs, Servers: 2, Resources: 2, WorkerTypes: 2, ServerTypes: 1, Workers: 3, Capacity: 4, Slots: 3, Rings: true, Weights: true}
		all[fmt.Sprintf("elastic of %d", jobs)] = Elastic(r, shape)
		shape.Deadline = 3
		all[fmt.Sprintf("elastic of %d with a deadline", jobs)] = Elastic(r, shape)
	}
	return all
}
