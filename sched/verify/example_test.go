package verify_test

import (
	"errors"
	"fmt"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// A schedule counts once Check has accepted it: only then has it a cost. What is
// refused is refused with the rule, the job and the time.
func ExampleCheck() {
	job := sched.Job{Weight: 1, Iters: 4, Stages: []sched.Stage{{Replicas: 2, Compute: 1e9}}}
	in := &sched.Instance{Name: "two gangs", Model: sched.ModelGang, Cluster: sched.Uniform(1, 3, 1e9, 1e10), Jobs: []sched.Job{job, job}}
	place := sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 2}}}
	second := sched.Second
	s := &sched.Schedule{Class: sched.Class{Kind: sched.N}, Segments: []sched.Segment{
		{Job: 0, Start: 0, End: 4 * second, Place: place},
		{Job: 1, Start: 3 * second, End: 6 * second, Place: place}, // a second early, and a second short
	}}
	_, err := verify.Check(in, s)
	var refused *verify.Error
	if errors.As(err, &refused) {
		for _, v := range refused.Violations {
			fmt.Println(v)
		}
	}
	s.Segments[1].Start, s.Segments[1].End = 4*second, 8*second
	v, err := verify.Check(in, s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Class(), v.Makespan(), v.Cost(sched.TotalJCT).RatString())
	for _, j := range v.Jobs() {
		fmt.Printf("job %d waits %v and trains %v\n", j.Job, j.Wait, j.Train)
	}
	// Output:
	// progress: at 6s job 1 ends after 3s of training, 1 short of its 4 iterations
	// capacity: at 3s job 1 makes the GPUs in use on server 0 4 of 3
	// N 8s 12000000
	// job 0 waits 0s and trains 4s
	// job 1 waits 4s and trains 4s
}
