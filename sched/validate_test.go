package sched_test

import (
	"math"
	"strings"
	"testing"

	"yardstick/sched"
)

// rigid is the sharing instance with a first job of one stage.
func rigid() *sched.Instance {
	in := sharing()
	in.Jobs[0].Stages = []sched.Stage{{Replicas: 2, Compute: 1}}
	return in
}

// TestValidate breaks each assumption by itself; the message names the field.
func TestValidate(t *testing.T) {
	type instance = sched.Instance
	tests := []struct {
		in   *instance
		edit func(*instance)
		want string // "" if the edit is legal
	}{
		{gang(), func(*instance) {}, ""},
		{preemptive(), func(*instance) {}, ""},
		{sharing(), func(*instance) {}, ""},
		{graph(), func(*instance) {}, ""},
		{elastic(), func(*instance) {}, ""},

		{rigid(), func(in *instance) { in.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 1, Iter: 1}} }, ""},
		{sharing(), func(in *instance) { in.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 1, Iter: 1}} }, "one stage, but there are 2"},
		{rigid(), func(in *instance) { in.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 0, Iter: 1}} }, "sharing.sizes[0]"},
		{rigid(), func(in *instance) { in.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 10_000, Iter: 1}} }, "sharing.sizes[0]"},
		{rigid(), func(in *instance) { in.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 1}} }, "sharing.sizes[0]"},
		{rigid(), func(in *instance) { in.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 1, Iter: 1, Memory: -1}} }, "sharing.sizes[0]"},
		{rigid(), func(in *instance) { in.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 1, Iter: 2}, {GPUs: 1, Iter: 1}} }, "sharing.sizes[1]"},

		{gang(), func(in *instance) { in.Model = "gangs" }, `model is "gangs"`},
		{gang(), func(in *instance) { in.Cluster.Servers = nil }, "no servers"},
		{gang(), func(in *instance) { in.Cluster.Servers[1].GPUs = -1 }, "cluster.servers[1]"},
		{gang(), func(in *instance) { in.Cluster.Servers[1].GPUs = 10_001 }, "cluster.servers[1]"},
		{gang(), func(in *instance) { in.Cluster.Servers[0].GPUs = 9_999 }, "cluster has 10003 GPUs"},
		{gang(), func(in *instance) { in.Cluster.Servers = []sched.Server{{}} }, "cluster has 0 GPUs"},
		{gang(), func(in *instance) { in.Cluster.Servers[1].GPUMemory = -1 }, "cluster.servers[1]"},
		{gang(), func(in *instance) { in.Cluster.Inter = 0 }, "bandwidths inter 0B/s"},
		{gang(), func(in *instance) { in.Cluster.Intra = in.Cluster.Inter - 1 }, "inter ≤ intra"},
		{gang(), func(in *instance) { in.Cluster.Intra = in.Cluster.Inter }, ""},
		{gang(), func(in *instance) { in.Slot = -1 }, "slot -1µs"},
		{gang(), func(in *instance) { in.Slot = sched.MaxTime + 1 }, "slot"},
		{gang(), func(in *instance) { in.Deadline = -1 }, "deadline -1µs"},
		{gang(), func(in *instance) { in.Deadline = sched.MaxTime + 1 }, "deadline"},
		{gang(), func(in *instance) { in.Jobs = nil }, "no jobs"},
		{gang(), func(in *instance) { in.Interference = [][]float64{{1}} }, "interference"},
		{gang(), func(in *instance) { in.Cluster.Servers[1].Capacity = []int64{4} }, "cluster.servers[1].capacity belongs to the elastic model, and this is gang"},
		{gang(), func(in *instance) { in.Elastic = elastic().Elastic }, "elastic container types"},

		{gang(), func(in *instance) { in.Jobs[1].Release = -1 }, "jobs[1] \"\": release is -1µs"},
		{gang(), func(in *instance) { in.Jobs[1].Release = sched.MaxTime + 1 }, "release"},
		{gang(), func(in *instance) { in.Jobs[0].Weight = 0 }, `jobs[0] "pipeline": weight is 0`},
		{gang(), func(in *instance) { in.Jobs[0].Weight = -1 }, "weight is -1"},
		{gang(), func(in *instance) { in.Jobs[0].Weight = math.NaN() }, "weight is NaN"},
		{gang(), func(in *instance) { in.Jobs[0].Weight = math.Inf(1) }, "weight is +Inf"},
		{gang(), func(in *instance) { in.Jobs[0].Iters = 0 }, "iters is 0"},
		{gang(), func(in *instance) { in.Jobs[0].Load = -1 }, "load -1µs"},
		{gang(), func(in *instance) { in.Jobs[0].Load = sched.MaxTime + 1 }, "load"},
		{gang(), func(in *instance) { in.Jobs[0].Pause = -1 }, "pause -1µs"},
		{gang(), func(in *instance) { in.Jobs[0].Pause = sched.MaxTime + 1 }, "pause"},
		{gang(), func(in *instance) { in.Jobs[0].Stages = nil }, "no stages"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[1].Replicas = 0 }, "stages[1]: replicas 0"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[1].Replicas = 9 }, "stages[1] has 9 replicas"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[1].Replicas = 7 }, "needs 9 GPUs"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[1].Replicas = 6 }, ""},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Compute = 0 }, "compute 0s"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Params = -1 }, "params -1B"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Params = 1e14 + 1 }, "params"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Params = 1e14 }, ""},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Boundary = -1 }, "boundary -1B"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Boundary = 1e14 + 1 }, "boundary"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[1].Boundary = 1 }, "stages[1].boundary is 1B"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Slices = -1 }, "stages[0]: slices -1"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Slices = 1 }, ""},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].SliceSync = -1 }, "sliceSync -1B"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].SliceSync = 1e14 + 1 }, "sliceSync"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Slices = 9 }, "stages[0] has 9 slices"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Slices = 4 }, "needs 9 GPUs"},
		{gang(), func(in *instance) { in.Jobs[0].Stages[0].Slices = 3 }, ""},
		{gang(), func(in *instance) { in.Jobs[1].Stages[0].Slices = 5 }, "does not fit the servers, even if all are free: 1 replicas of 5 GPUs"},
		{gang(), func(in *instance) {
			in.Jobs[1].Stages = []sched.Stage{{Replicas: 3, Slices: 2, Compute: 1}, {Replicas: 2, Compute: 1}}
		}, ""},
		{gang(), func(in *instance) { in.Jobs[1].Stages[0].Replicas, in.Jobs[1].Stages[0].Slices = 2, 3 }, ""},
		{gang(), func(in *instance) {
			in.Jobs[1].Stages = []sched.Stage{{Replicas: 2, Slices: 3, Compute: 1}, {Replicas: 1, Slices: 2, Compute: 1}}
		}, "2 replicas of 3, 1 of 2 GPUs"},
		{gang(), func(in *instance) {
			in.Cluster = sched.Uniform(2000, 5, 1e9, 1e9)
			in.Jobs[1].Stages = []sched.Stage{{Replicas: 400, Slices: 3, Compute: 1}, {Replicas: 400, Slices: 2, Compute: 1}}
		}, "too many replicas to decide"},
		{gang(), func(in *instance) {
			in.Cluster = sched.Uniform(2000, 5, 1e9, 1e9)
			in.Jobs[1].Stages = []sched.Stage{{Replicas: 400, Slices: 4, Compute: 1}, {Replicas: 400, Slices: 2, Compute: 1}}
		}, ""},
		{gang(), func(in *instance) { in.Jobs[0].Edges = []sched.Edge{{From: 0, To: 1, Bytes: 5}} }, "stages[0].boundary is 10MB, but the job has edges"},
		{graph(), func(in *instance) { in.Jobs[0].Edges[0].Bytes = 0 }, ""},
		{graph(), func(in *instance) { in.Jobs[0].Edges[0].Bytes = -1 }, "edges[0].bytes is -1B"},
		{graph(), func(in *instance) { in.Jobs[0].Edges[1].Bytes = 1e14 + 1 }, "edges[1].bytes"},
		{graph(), func(in *instance) { in.Jobs[0].Edges[0].From = -1 }, "edges[0] is from stage -1 to 1"},
		{graph(), func(in *instance) { in.Jobs[0].Edges[3].To = 4 }, "edges[3] is from stage 2 to 4: it must lead to a later one of the 4 stages"},
		{graph(), func(in *instance) { in.Jobs[0].Edges[2].To = 1 }, "edges[2] is from stage 1 to 1"},
		{graph(), func(in *instance) { in.Jobs[0].Edges[0] = sched.Edge{From: 1, To: 0} }, "edges[0] is from stage 1 to 0"},
		{graph(), func(in *instance) { in.Jobs[0].Edges[1].To = 1 }, "edges[1] is from stage 0 to 1, after one from 0 to 1"},
		{graph(), func(in *instance) { in.Jobs[0].Edges[0].From, in.Jobs[0].Edges[0].To = 2, 3 }, "after one from 2 to 3: they must ascend"},
		{sharing(), func(in *instance) { in.Jobs[0].Stages[0].Slices = 2 }, "slices or edges"},
		{gang(), func(in *instance) { in.Jobs[0].Sharing = sharing().Jobs[0].Sharing }, "sharing part"},
		{gang(), func(in *instance) { in.Jobs[0].Elastic = &sched.Elastic{} }, "elastic part"},

		{sharing(), func(in *instance) { in.Interference = nil }, "interference"},
		{sharing(), func(in *instance) { in.Interference[1] = []float64{1} }, "interference[1] has 1 entries"},
		{sharing(), func(in *instance) { in.Interference[1][0] = 1 - 1.0/(1<<53) }, "interference[1][0]"},
		{sharing(), func(in *instance) { in.Interference[1][0] = math.NaN() }, "interference[1][0]"},
		{sharing(), func(in *instance) { in.Interference[1][0] = math.Inf(1) }, "interference[1][0]"},
		{sharing(), func(in *instance) { in.Jobs[1].Sharing = nil }, `jobs[1] "": the sharing part`},
		{sharing(), func(in *instance) { in.Jobs[1].Sharing.Task = 2 }, "sharing.task is 2"},
		{sharing(), func(in *instance) { in.Jobs[1].Sharing.Task = -1 }, "sharing.task is -1"},
		{sharing(), func(in *instance) { in.Jobs[1].Sharing.Accumulation = nil }, "sharing.accumulation is empty"},
		{sharing(), func(in *instance) { in.Jobs[1].Sharing.Accumulation[0].Steps = 0 }, "sharing.accumulation[0]"},
		{sharing(), func(in *instance) { in.Jobs[1].Sharing.Accumulation[1].Steps = 1 }, "sharing.accumulation[1]"},
		{sharing(), func(in *instance) { in.Jobs[1].Sharing.Accumulation[1].Iter = 0 }, "sharing.accumulation[1]"},
		{sharing(), func(in *instance) { in.Jobs[1].Sharing.Accumulation[1].Memory = -1 }, "sharing.accumulation[1]"},

		{sharing(), func(in *instance) { in.Cluster.Servers[0].GPUMemory = 1e14 }, ""},
		{sharing(), func(in *instance) { in.Cluster.Servers[0].GPUMemory = 1e14 + 1 }, "cluster.servers[0].gpuMemory"},
		{sharing(), func(in *instance) { in.Jobs[1].Sharing.Accumulation[1].Memory = 1e14 + 1 }, "sharing.accumulation[1]"},
		{rigid(), func(in *instance) { in.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 1, Iter: 1, Memory: 1e14 + 1}} }, "sharing.sizes[0]"},
		{sharing(), func(in *instance) { in.Cluster.Servers[0].GPUMemory = 4e9 }, ""},
		{sharing(), func(in *instance) { in.Cluster.Servers[0].GPUMemory, in.Cluster.Servers[1].GPUMemory = 4e9, 4e9 }, `jobs[0] "pipeline": needs 3 GPUs of at least 5GB`},
		{sharing(), func(in *instance) { in.Cluster.Servers[0].GPUMemory, in.Jobs[0].Stages[0].Replicas = 4e9, 4 }, `jobs[0] "pipeline": needs 5 GPUs of at least 5GB, its least over sharing.accumulation, but the cluster has 4`},
		{rigid(), func(in *instance) {
			in.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 1, Iter: 1, Memory: 17e9}, {GPUs: 2, Iter: 1, Memory: 16e9}}
		}, ""},
		{rigid(), func(in *instance) { in.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 1, Iter: 1, Memory: 17e9}} }, "fits the cluster in none of its sharing.sizes"},

		{elastic(), func(in *instance) { in.Elastic.Workers[0].Demand[0], in.Elastic.Workers[1].Demand[0] = 5, 5 }, `jobs[0] "": fits nowhere, even if all servers are free`},
		{elastic(), func(in *instance) { in.Elastic.Workers[0].Demand[0] = 5 }, ""},
		{elastic(), func(in *instance) { in.Elastic.Servers[0].Demand[0] = 5 }, `jobs[0] "": fits nowhere, even if all servers are free: they do not hold one worker and the parameter servers`},
		{elastic(), func(in *instance) { in.Elastic.Servers[0].Demand[0], in.Jobs = 5, in.Jobs[1:] }, ""},
		{elastic(), func(in *instance) { in.Elastic.Servers[0].Demand[0] = 4 }, ""}, // on a server of its own
		{elastic(), func(in *instance) { in.Elastic.Servers[0].Demand[0], in.Cluster.Servers = 4, in.Cluster.Servers[:1] }, "fits nowhere"},

		{elastic(), func(in *instance) { in.Elastic = nil }, "elastic container types"},
		{elastic(), func(in *instance) { in.Slot = 0 }, "slot must be positive"},
		{elastic(), func(in *instance) { in.Elastic.Resources = nil }, "elastic: 0 resources"},
		{elastic(), func(in *instance) { in.Elastic.Bandwidth = 2 }, "bandwidth at index 2"},
		{elastic(), func(in *instance) { in.Elastic.Workers = nil }, "0 worker types"},
		{elastic(), func(in *instance) { in.Elastic.Workers[1].Demand = []int64{1} }, "elastic.workers[1].demand has 1 entries"},
		{elastic(), func(in *instance) { in.Elastic.Servers[0].Demand[0] = -1 }, "elastic.servers[0].demand[0] is -1"},
		{elastic(), func(in *instance) { in.Elastic.Servers[0].Demand[1] = 0 }, "elastic.servers[0].demand[1] is 0"},
		{elastic(), func(in *instance) { in.Cluster.Servers[1].Capacity = []int64{1} }, "cluster.servers[1].capacity has 1"},
		{elastic(), func(in *instance) { in.Cluster.Servers[1].Capacity[1] = -1 }, "cluster.servers[1].capacity[1] is -1"},
		{elastic(), func(in *instance) { in.Jobs[1].Elastic = nil }, "no elastic part"},
		{elastic(), func(in *instance) { in.Jobs[1].Elastic.MaxWorkers = 0 }, "maxWorkers 0"},
		{elastic(), func(in *instance) { in.Jobs[1].Elastic.Batches = 0 }, "batches 0"},
		{elastic(), func(in *instance) { in.Jobs[1].Elastic.Gradients = -1 }, "gradients -1B"},
		{elastic(), func(in *instance) { in.Jobs[1].Elastic.Train = nil }, "elastic.train has 0"},
		{elastic(), func(in *instance) { in.Jobs[1].Elastic.Train[1] = 0 }, "elastic.train[1] is 0s"},
		{elastic(), func(in *instance) { in.Jobs[1].Elastic.Update = nil }, "elastic.update has 0"},
		{elastic(), func(in *instance) { in.Jobs[0].Elastic.Update = []sched.Duration{1, 2} }, "elastic.update has 2"},
		{elastic(), func(in *instance) { in.Jobs[1].Elastic.Update[0] = -1 }, "elastic.update[0] is -1ns"},
	}
	for i, test := range tests {
		test.edit(test.in)
		err := test.in.Validate()
		switch {
		case test.want == "" && err != nil:
			t.Errorf("case %d: refused: %v", i, err)
		case test.want == "":
		case err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), `instance "`):
			t.Errorf("case %d: error %v, want one with %q", i, err, test.want)
		case strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "%!"):
			t.Errorf("case %d: message %q is not one clean line", i, err)
		}
	}
}
