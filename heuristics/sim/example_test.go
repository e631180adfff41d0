package sim_test

import (
	"context"
	"errors"
	"fmt"

	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// oneByOne runs one job at a time, in order of arrival, on any free GPUs. It is a
// sim.Policy: a name, the class that its schedules keep, and Decide, which is called
// whenever jobs arrived or completed.
type oneByOne struct {
	waiting []sched.JobID
	running int
}

func (p *oneByOne) Name() string { return "one-by-one" }

// Class is a promise, which the verifier holds every schedule to.
func (p *oneByOne) Class() sched.Class { return sched.Class{Kind: sched.N} }

func (p *oneByOne) Decide(v *sim.View) (sim.Decision, error) {
	p.running -= len(v.Completed())
	p.waiting = append(p.waiting, v.Arrived()...) // no future jobs: a View does not show them
	if p.running > 0 || len(p.waiting) == 0 {
		return sim.Decision{}, nil
	}
	place, ok, err := v.Place(p.waiting[0], sim.Pool)
	if err != nil || !ok {
		return sim.Decision{}, err
	}
	start := sim.Assignment{Job: p.waiting[0], Place: place}
	p.waiting, p.running = p.waiting[1:], 1
	return sim.Decision{Start: []sim.Assignment{start}}, nil
}

// Requires makes the policy a sim.Requirer: what it cannot serve is refused before
// anything runs, in a suite when the suite is planned. Without it, every instance
// whose model has schedules of the policy's class will do.
func (p *oneByOne) Requires(in *sched.Instance) error {
	if in.Deadline > 0 {
		return errors.New("one-by-one knows no deadlines: leave the key deadline out")
	}
	return nil
}

func ExampleRun() {
	in := &sched.Instance{Name: "example", Model: sched.ModelGang, Cluster: sched.Uniform(1, 4, 1e9, 1e10)}
	for i, gang := range []int{1, 4, 2} { // a second apart, two seconds each
		in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(i) * sched.Second, Weight: 1, Iters: 2,
			Stages: []sched.Stage{{Replicas: gang, Compute: 1e9}}})
	}
	r, err := sim.Run(context.Background(), in, &oneByOne{}, sim.Options{}) // a value serves one run
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := verify.Check(in, r.Schedule)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range r.Schedule.Segments {
		fmt.Printf("job %d [%v, %v)\n", s.Job, s.Start, s.End)
	}
	fmt.Println("total JCT", v.Cost(sched.TotalJCT).RatString(), "after", r.Decisions, "decisions")
	// Output:
	// job 0 [0s, 2s)
	// job 1 [2s, 4s)
	// job 2 [4s, 6s)
	// total JCT 9000000 after 5 decisions
}

// Suits says before a run whether a policy can serve an instance.
func ExampleRequirer() {
	in := &sched.Instance{Name: "urgent", Model: sched.ModelGang, Cluster: sched.Uniform(1, 4, 1e9, 1e10), Deadline: sched.Second,
		Jobs: []sched.Job{{Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 1, Compute: 1e9}}}}}
	var p sim.Requirer = &oneByOne{}
	fmt.Println(sim.Suits(in, p, false))
	in.Deadline = 0
	fmt.Println(sim.Suits(in, p, false))
	// Output:
	// sim: one-by-one cannot run on instance "urgent": one-by-one knows no deadlines: leave the key deadline out
	// <nil>
}
