package verify_test

import "yardstick/sched"

// gangInstance has a one-stage job of 2 GPUs (10 µs), a two-stage job of 2+1
// GPUs (10 µs, loads for 3 µs) and a one-GPU job (5 µs) released at 20 µs, on
// servers of 4 and 2 GPUs.
func gangInstance() *sched.Instance {
	return &sched.Instance{Name: "rules", Model: sched.ModelGang,
		Cluster: sched.Cluster{Servers: []sched.Server{{GPUs: 4}, {GPUs: 2}}, Inter: 1e9, Intra: 1e9},
		Jobs: []sched.Job{
			{Weight: 1, Iters: 10, Stages: []sched.Stage{{Replicas: 2, Compute: 1000}}},
			{Weight: 1, Iters: 10, Load: 3, Stages: []sched.Stage{{Replicas: 2, Compute: 1000}, {Replicas: 1, Compute: 900}}},
			{Weight: 1, Iters: 5, Release: 20, Stages: []sched.Stage{{Replicas: 1, Compute: 1000}}},
		}}
}

// preemptiveInstance has one job of 2 GPUs that trains for 10 µs, loads for 3
// and pauses for 2, and one of 1 GPU that trains for 6 and needs neither.
func preemptiveInstance() *sched.Instance {
	in := gangInstance()
	in.Model = sched.ModelPreemptive
	in.Jobs = []sched.Job{
		{Weight: 1, Iters: 10, Load: 3, Pause: 2, Stages: []sched.Stage{{Replicas: 2, Compute: 1000}}},
		{Weight: 1, Iters: 6, Stages: []sched.Stage{{Replicas: 1, Compute: 1000}}},
	}
	return in
}

// sharingInstance has three one-GPU jobs of 6 µs that slow each other down to
// half speed, on a server of 2 GPUs with room for two of them.
func sharingInstance() *sched.Instance {
	in := gangInstance()
	in.Model, in.Interference = sched.ModelSharing, [][]float64{{2}}
	in.Cluster.Servers = []sched.Server{{GPUs: 2, GPUMemory: 100}}
	job := sched.Job{Weight: 1, Iters: 6, Stages: []sched.Stage{{Replicas: 1, Compute: 1000}}, Sharing: &sched.Sharing{
		Accumulation: []sched.Accumulation{{Steps: 1, Iter: 1000, Memory: 50}, {Steps: 2, Iter: 1100, Memory: 30}, {Steps: 4, Iter: 1200, Memory: 70}, {Steps: 8, Iter: 1300, Memory: 120}}}}
	in.Jobs = []sched.Job{job, job, job}
	return in
}

func on(server, gpus int, stages ...int) sched.Share {
	return sched.Share{Server: server, GPUs: gpus, Stages: stages}
}

func devices(server int, index ...int) sched.Share {
	return sched.Share{Server: server, GPUs: len(index), Devices: index}
}

func seg(j sched.JobID, phase sched.Phase, start, end sched.Time, shares ...sched.Share) sched.Segment {
	return sched.Segment{Job: j, Start: start, End: end, Phase: phase, Place: sched.Placement{Shares: shares}}
}

const (
	train = sched.Train
	load  = sched.Load
	pause = sched.Pause
)

func gangSchedule() *sched.Schedule {
	return &sched.Schedule{Class: sched.Class{Kind: sched.N}, Segments: []sched.Segment{
		seg(0, train, 0, 10, on(0, 2)),
		seg(1, load, 0, 3, on(0, 2, 1, 1), on(1, 1, 1, 0)),
		seg(1, train, 3, 13, on(0, 2, 1, 1), on(1, 1, 1, 0)),
		seg(2, train, 20, 25, on(0, 1)),
	}}
}

func preemptiveSchedule() *sched.Schedule {
	return &sched.Schedule{Class: sched.Class{Kind: sched.P}, Segments: []sched.Segment{
		seg(0, load, 0, 3, on(0, 2)), seg(0, train, 3, 7, on(0, 2)), seg(0, pause, 7, 9, on(0, 2)), // a bout
		seg(0, load, 12, 14, on(1, 2)),                                  // an aborted load
		seg(0, load, 20, 23, on(1, 2)), seg(0, train, 23, 29, on(1, 2)), // the last bout
		seg(1, train, 0, 2, on(0, 1)), seg(1, train, 2, 4, on(1, 1)), seg(1, train, 8, 10, on(1, 1)), // moves in no time
	}}
}

func sharingSchedule() *sched.Schedule {
	return &sched.Schedule{Class: sched.Class{Kind: sched.S}, Segments: []sched.Segment{
		seg(0, train, 0, 8, devices(0, 0)), // alone during [0,4), so 4 iterations, then 2 at half speed
		seg(1, train, 4, 12, devices(0, 0)),
		seg(2, train, 0, 6, devices(0, 1)),
	}}
}
