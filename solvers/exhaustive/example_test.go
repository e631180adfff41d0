package exhaustive_test

import (
	"context"
	"errors"
	"fmt"

	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

// Solve finds an optimal schedule and proves it; where a limit stops it, what is left
// is an interval. Shortest first would cost 10 s here: the job of two GPUs would leave
// one idle before it.
func ExampleSolve() {
	in := &sched.Instance{Name: "three jobs", Model: sched.ModelGang, Cluster: sched.Uniform(1, 2, 1e9, 1e10)}
	for _, j := range []struct{ gang, seconds int }{{1, 1}, {1, 3}, {2, 2}} {
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Iters: int64(j.seconds), Stages: []sched.Stage{{Replicas: j.gang, Compute: 1e9}}})
	}
	r, err := exhaustive.Solve(context.Background(), in, sched.TotalJCT, exact.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := verify.Check(in, r.Schedule)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Termination, "cost", v.Cost(sched.TotalJCT).RatString(), "bound", r.Bound.RatString())
	for _, s := range r.Schedule.Segments {
		fmt.Printf("job %d [%v, %v)\n", s.Job, s.Start, s.End)
	}

	_, err = exhaustive.Solve(context.Background(), in, sched.ScheduledWeight, exact.Limits{})
	fmt.Println(errors.Is(err, sched.ErrNotApplicable))
	// Output:
	// OPTIMAL cost 9000000 bound 9000000
	// job 0 [0s, 1s)
	// job 1 [0s, 3s)
	// job 2 [3s, 5s)
	// true
}
