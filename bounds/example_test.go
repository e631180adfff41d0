package bounds_test

import (
	"errors"
	"fmt"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/sched"
)

// A bound is what no schedule of its class can beat, in exact arithmetic: two of
// these three gangs fit at a time, so the best schedule costs 4 s + 4 s + 8 s. It may
// divide the cost of schedules of its objective and of classes that reach its own;
// what it does not apply to is an error.
func Example() {
	job := sched.Job{Weight: 1, Iters: 4, Stages: []sched.Stage{{Replicas: 2, Compute: 1e9}}}
	in := &sched.Instance{Name: "three gangs", Model: sched.ModelGang, Cluster: sched.Uniform(1, 4, 1e9, 1e10), Jobs: []sched.Job{job, job, job}}
	for _, bound := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){bounds.LB0, bounds.SRPT, bounds.Ranked} {
		b, err := bound(in, sched.TotalCompletion)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: no schedule of class %v costs less than %s\n", b.Name, b.Class, b.Value.FloatString(0))
	}
	b, err := bounds.Ranked(in, sched.TotalCompletion)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Divides(sched.Class{Kind: sched.N}, sched.TotalCompletion))
	fmt.Println(b.Divides(sched.Class{Kind: sched.S}, sched.TotalCompletion))
	_, err = bounds.Ranked(in, sched.Makespan)
	fmt.Println(errors.Is(err, sched.ErrNotApplicable))
	// Output:
	// lb0: no schedule of class F(1) costs less than 12000000
	// srpt: no schedule of class F(1) costs less than 12000000
	// srpt-ranked: no schedule of class F(1) costs less than 14000000
	// <nil>
	// bounds: srpt-ranked is proven for class F(1), and schedules of class S may cost less
	// true
}

// A bound with a proof makes a certificate, which package certify checks from the
// instance alone, with code of its own.
func ExampleBound_Document() {
	in := &sched.Instance{Name: "one", Model: sched.ModelGang, Cluster: sched.Uniform(1, 2, 1e9, 1e10),
		Jobs: []sched.Job{{Release: sched.Second, Weight: 1, Iters: 4, Stages: []sched.Stage{{Replicas: 2, Compute: 1e9}}}}}
	b, err := bounds.LB0(in, sched.TotalCompletion)
	if err != nil {
		fmt.Println(err)
		return
	}
	certificate, err := b.Document(in.Hash())
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := certify.Check(in, certificate)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Kind, "of class", s.Class, "states", s.Value.RatString(), "and proves", s.Proven.RatString())
	// Output:
	// lb0 of class F(1) states 5000000 and proves 5000000
}
