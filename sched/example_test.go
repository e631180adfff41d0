package sched_test

import (
	"bytes"
	"fmt"

	"yardstick/sched"
)

// twoJobs returns an instance of one server with two GPUs: a long job of both and,
// a second later, a short one of one. A job of one stage that synchronises nothing
// takes iterations times computation wherever it runs.
func twoJobs() *sched.Instance {
	return &sched.Instance{
		Name:    "two",
		Model:   sched.ModelGang,
		Cluster: sched.Uniform(1, 2, 1_250_000_000, 300_000_000_000), // 10 Gbit/s between servers, 300 GB/s within one
		Jobs: []sched.Job{
			{Name: "long", Weight: 1, Iters: 8, Stages: []sched.Stage{{Replicas: 2, Compute: 1e9}}},
			{Name: "short", Release: sched.Second, Weight: 3, Iters: 1, Stages: []sched.Stage{{Replicas: 1, Compute: 1e9}}},
		},
	}
}

// An instance is all data of one problem. Where a gang that exchanges gradients is
// put decides how long it runs: the network card of a server is slower than the
// links inside.
func ExampleInstance() {
	in := &sched.Instance{
		Name:    "placement",
		Model:   sched.ModelGang,
		Cluster: sched.Uniform(2, 4, 1_250_000_000, 300_000_000_000),
		Jobs:    []sched.Job{{Weight: 1, Iters: 1000, Stages: []sched.Stage{{Replicas: 4, Compute: 100e6, Params: 100e6}}}},
	}
	if err := in.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	together := sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 4}}}
	apart := sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 2}, {Server: 1, GPUs: 2}}}
	for _, place := range []sched.Placement{together, apart} {
		iteration, err := in.IterTime(0, &place) // exact, in seconds
		if err != nil {
			fmt.Println(err)
			return
		}
		run, err := in.RunTime(0, &place) // of all iterations, rounded up to a microsecond
		fmt.Println(len(place.Shares), "servers:", iteration.RatString(), "s each,", run, "in all", err)
	}
	// Output:
	// 1 servers: 201/2000 s each, 1m40.5s in all <nil>
	// 2 servers: 17/50 s each, 5m40s in all <nil>
}

// A schedule is a list of segments: who holds what, from when to when. It is a
// claim, written with the hash of the instance that it is about; package verify
// decides whether it is true.
func ExampleSchedule() {
	in := twoJobs()
	both := sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 2}}}
	one := sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 1}}}
	s := &sched.Schedule{Class: sched.Class{Kind: sched.N}, Segments: []sched.Segment{
		{Job: 1, Start: 8 * sched.Second, End: 9 * sched.Second, Place: one},
		{Job: 0, Start: 0, End: 8 * sched.Second, Place: both},
	}}
	s.Sort()
	var file bytes.Buffer
	if err := s.Write(&file, in); err != nil {
		fmt.Println(err)
		return
	}
	read, hash, err := sched.ReadSchedule(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("class", read.Class, "of this instance:", hash == in.Hash())
	for _, seg := range read.Segments {
		fmt.Printf("%s [%v, %v) %s on %d GPUs\n", in.Jobs[seg.Job].Name, seg.Start, seg.End, seg.Phase, seg.Place.GPUs())
	}
	// Output:
	// class N of this instance: true
	// long [0s, 8s) train on 2 GPUs
	// short [8s, 9s) train on 1 GPUs
}

// Costs are exact, in microseconds, times a weight where there is one.
func ExampleObjective_Cost() {
	in := twoJobs()
	completion := []sched.Time{8 * sched.Second, 9 * sched.Second}
	for _, o := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.Makespan} {
		fmt.Println(o, o.Cost(in, completion).RatString())
	}
	// Output:
	// total-completion 17000000
	// weighted-completion 35000000
	// total-jct 16000000
	// makespan 9000000
}

// Total completion, total JCT and mean JCT have the same best schedules: they differ
// by a constant and a factor. So a method solves for the base and converts.
func ExampleObjective_FromBase() {
	in := twoJobs()
	o := sched.MeanJCT
	total := o.Base().Cost(in, []sched.Time{8 * sched.Second, 9 * sched.Second})
	fmt.Println(o.Base(), total.RatString(), "is", o, o.FromBase(in, total).RatString())
	// Output: total-completion 17000000 is mean-jct 8000000
}

// A class is the rules that a schedule keeps. A bound that is proven for a class may
// divide the cost of the schedules of every class that reaches it: allowing
// preemption never makes the best schedule worse, forbidding it may.
func ExampleClass_Reaches() {
	nonPreemptive, preemptive := sched.Class{Kind: sched.N}, sched.Class{Kind: sched.P}
	fmt.Println(nonPreemptive.Reaches(preemptive), preemptive.Reaches(nonPreemptive))
	slotted := sched.Class{Kind: sched.N, Slotted: true}
	fmt.Println(slotted, slotted.Reaches(nonPreemptive), nonPreemptive.Reaches(slotted))
	// Output:
	// true false
	// Ns true false
}
