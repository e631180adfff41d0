package ranked_test

import (
	"context"
	"fmt"

	"yardstick/heuristics/ranked"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// A long job of one GPU has more service left than a shorter one of two, until it has
// less: then it is not preempted for the next.
func ExampleSRSF() {
	in := &sched.Instance{Name: "example", Model: sched.ModelPreemptive, Cluster: sched.Uniform(1, 2, 1e9, 1e10)}
	for _, j := range []struct {
		release, seconds sched.Time
		gang             int
	}{{0, 9, 1}, {1, 3, 2}, {6, 3, 2}} {
		in.Jobs = append(in.Jobs, sched.Job{Release: j.release * sched.Second, Weight: 1, Iters: int64(j.seconds), Stages: []sched.Stage{{Replicas: j.gang, Compute: 1e9}}})
	}
	r, err := sim.Run(context.Background(), in, ranked.SRSF(sim.Pool), sim.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range r.Schedule.Segments {
		fmt.Printf("job %d [%v, %v)\n", s.Job, s.Start, s.End)
	}
	// Output:
	// job 0 [0s, 1s)
	// job 1 [1s, 4s)
	// job 0 [4s, 12s)
	// job 2 [12s, 15s)
}
