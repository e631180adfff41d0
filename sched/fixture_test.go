package sched_test

import "yardstick/sched"

// second is one second as a Duration.
const second sched.Duration = 1e9

// gang returns an instance of the gang model with a pipeline of two stages and
// a single-GPU job.
func gang() *sched.Instance {
	return &sched.Instance{Name: "gang", Model: sched.ModelGang, Cluster: sched.Uniform(2, 4, 1_250_000_000, 300_000_000_000), Jobs: []sched.Job{
		{Name: "pipeline", User: "u", Group: "g", Release: 5 * sched.Second, Weight: 0.1, Iters: 1000, Load: 3, Stages: []sched.Stage{
			{Replicas: 2, Compute: second / 10, Params: 100e6, Boundary: 10e6}, {Replicas: 1, Compute: second / 7}}},
		{Weight: 2, Iters: 7, Stages: []sched.Stage{{Replicas: 1, Compute: second}}},
	}, History: []sched.PastJob{{User: "u", Gang: 2, Iters: 900}}}
}

// graph returns an instance with a job of two expert groups, one of them of two
// tensor slices, between two other stages.
func graph() *sched.Instance {
	in := gang()
	in.Name = "graph"
	in.Jobs[0].Stages = []sched.Stage{{Replicas: 2, Compute: second / 10, Params: 100e6}, {Replicas: 1, Slices: 2, Compute: second / 9, SliceSync: 3e6},
		{Replicas: 1, Compute: second / 8}, {Replicas: 1, Compute: second / 7}}
	in.Jobs[0].Edges = []sched.Edge{{From: 0, To: 1, Bytes: 7e6}, {From: 0, To: 2, Bytes: 3e6}, {From: 1, To: 3, Bytes: 7e6}, {From: 2, To: 3, Bytes: 3e6}}
	return in
}

func preemptive() *sched.Instance {
	in := gang()
	in.Name, in.Model, in.Slot, in.Deadline = "preemptive", sched.ModelPreemptive, sched.Second, 100*sched.Second
	in.Jobs[0].Pause = 2
	return in
}

func sharing() *sched.Instance {
	in := gang()
	in.Name, in.Model, in.Interference = "sharing", sched.ModelSharing, [][]float64{{1, 1.1}, {1.3, 1 + 1.0/(1<<52)}}
	for i := range in.Cluster.Servers {
		in.Cluster.Servers[i].GPUMemory = 16e9
	}
	for i := range in.Jobs {
		in.Jobs[i].Sharing = &sched.Sharing{Task: i, Accumulation: []sched.Accumulation{{Steps: 1, Iter: second, Memory: 9e9}, {Steps: 2, Iter: 2 * second, Memory: 5e9}}}
	}
	return in
}

func elastic() *sched.Instance {
	in := &sched.Instance{Name: "elastic", Model: sched.ModelElastic, Slot: sched.Second, Cluster: sched.Uniform(2, 4, 1e9, 1e9),
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bw"}, Bandwidth: 1,
			Workers: []sched.Container{{Demand: []int64{1, 100}}, {Demand: []int64{2, 200}}}, Servers: []sched.Container{{Demand: []int64{0, 500}}}},
		Jobs: []sched.Job{
			{Weight: 1, Elastic: &sched.Elastic{MaxWorkers: 3, Batches: 50, Train: []sched.Duration{5, 3}, Update: []sched.Duration{1}, Gradients: 1e8}},
			{Weight: 1, Elastic: &sched.Elastic{Ring: true, MaxWorkers: 3, Batches: 50, Train: []sched.Duration{5, 3}, Update: []sched.Duration{1}}},
		}}
	for i := range in.Cluster.Servers {
		in.Cluster.Servers[i].Capacity = []int64{4, 10_000}
	}
	return in
}

func on(server int, stages ...int) sched.Share {
	sh := sched.Share{Server: server, Stages: stages}
	for _, x := range stages {
		sh.GPUs += x
	}
	return sh
}
