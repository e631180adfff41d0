package certify_test

import (
	"errors"
	"fmt"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/sched"
)

// Check believes nothing but the instance: a bound that states more than its data
// prove is refuted, and a certificate of another instance is told from this one's.
func ExampleCheck() {
	in := &sched.Instance{Name: "one", Model: sched.ModelGang, Cluster: sched.Uniform(1, 2, 1e9, 1e10),
		Jobs: []sched.Job{{Release: sched.Second, Weight: 1, Iters: 4, Stages: []sched.Stage{{Replicas: 2, Compute: 1e9}}}}}
	b, err := bounds.LB0(in, sched.TotalCompletion)
	if err != nil {
		fmt.Println(err)
		return
	}
	check := func(of *sched.Instance, hash string) error {
		certificate, err := b.Document(hash)
		if err != nil {
			return err
		}
		s, err := certify.Check(of, certificate)
		if err != nil {
			return err
		}
		fmt.Println(s.Kind, "proves", s.Proven.RatString(), "for class", s.Class)
		return nil
	}
	fmt.Println(check(in, in.Hash()))

	other := *in
	other.Deadline = sched.Second
	fmt.Println(errors.Is(check(&other, in.Hash()), certify.ErrInstance))

	b.Value.Add(b.Value, b.Value)
	fmt.Println(errors.Is(check(in, in.Hash()), certify.ErrRefuted))
	// Output:
	// lb0 proves 5000000 for class F(1)
	// <nil>
	// true
	// true
}
