package timeindexed_test

import (
	"context"
	"fmt"

	"yardstick/formulate/timeindexed"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// threeJobs returns three jobs of 1, 1 and 2 GPUs on two.
func threeJobs() *sched.Instance {
	in := &sched.Instance{Name: "three jobs", Model: sched.ModelGang, Cluster: sched.Uniform(1, 2, 1e9, 1e10)}
	for _, j := range []struct{ gang, seconds int }{{1, 1}, {1, 3}, {2, 2}} {
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Iters: int64(j.seconds), Stages: []sched.Stage{{Replicas: j.gang, Compute: 1e9}}})
	}
	return in
}

// A formulation makes a program of an instance, and says how the program's optimum
// relates to the instance's. It knows no solver; here is one. A slot that divides all
// data makes the program exact.
func ExampleBuild() {
	in := threeJobs()
	p, err := timeindexed.Build(in, sched.TotalCompletion, sched.Second, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Relation, len(p.Model.Vars), "variables,", len(p.Model.Rows), "rows")
	r, err := branch.New(lpsolve.LP{}).Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	bound, evidence := p.DualBound(r)
	fmt.Println("bound", bound, evidence)
	s, err := p.Decode(r.X)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := verify.Check(in, s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("cost", v.Cost(sched.TotalCompletion).RatString())
	// Output:
	// exact 10 variables, 8 rows
	// bound 9e+06 proven
	// cost 9000000
}

// With a slot that does not divide the data, Solve rounds down for the bound and up
// for the schedule: an interval.
func ExampleSolve() {
	in := threeJobs()
	for _, slot := range []sched.Time{sched.Second, 2 * sched.Second} {
		r, err := timeindexed.Solve(context.Background(), in, sched.TotalCompletion, branch.New(lpsolve.LP{}), timeindexed.Options{Slot: slot})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("slot", slot, "optimum in", r.Bound.RatString(), "to", r.Cost.RatString(), r.Termination)
	}
	// Output:
	// slot 1s optimum in 9000000 to 9000000 OPTIMAL
	// slot 2s optimum in 8000000 to 9000000 RESOLUTION_LIMIT
}
