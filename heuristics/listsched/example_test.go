package listsched_test

import (
	"context"
	"fmt"

	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Under one name, two policies: a long gang of two waits at the head of the
// line, and short jobs behind it may pass or not.
func ExampleFIFO() {
	in := &sched.Instance{Name: "example", Model: sched.ModelGang, Cluster: sched.Uniform(1, 2, 1e9, 1e10)}
	for _, j := range []struct {
		gang    int
		seconds sched.Time
	}{{1, 5}, {2, 4}, {1, 1}, {1, 2}} {
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Iters: int64(j.seconds), Stages: []sched.Stage{{Replicas: j.gang, Compute: 1e9}}})
	}
	for _, blocking := range []listsched.Blocking{listsched.Strict, listsched.Skip} {
		r, err := sim.Run(context.Background(), in, listsched.FIFO(listsched.Options{Blocking: blocking}), sim.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(blocking, ":")
		for _, s := range r.Schedule.Segments {
			fmt.Printf(" job %d [%v, %v)", s.Job, s.Start, s.End)
		}
		fmt.Println()
	}
	// Output:
	// strict: job 0 [0s, 5s) job 1 [5s, 9s) job 2 [9s, 10s) job 3 [9s, 11s)
	// skip: job 0 [0s, 5s) job 2 [0s, 1s) job 3 [1s, 3s) job 1 [5s, 9s)
}
