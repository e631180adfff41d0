package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/hunt"
	"yardstick/internal/output"
	"yardstick/sched"
)

// conjectured resolves the statement that is hunted, and the names in it.
func (f *huntFlags) conjectured(debugging bool) (hunt.Options, error) {
	o, err := f.common()
	if err != nil {
		return o, err
	}
	c, err := hunt.ParseConjecture(f.conjecture, o.Objective)
	if err != nil {
		return o, usageError("--conjecture: %w", err)
	}
	example, err := o.Space.Example()
	if err != nil {
		return o, usageError("%w", err)
	}
	if err := c.Suits(example); err != nil {
		return o, usageError("--conjecture: %w", err)
	}
	for _, q := range c.Quantities {
		o.Space.Weighted = o.Space.Weighted || q.Objective.Weighted()
		if err := resolveQuantity(q, example, debugging); err != nil {
			return o, err
		}
	}
	o.Conjecture = c
	return o, nil
}

// resolveQuantity finds the policy or the bound that a quantity names.
func resolveQuantity(q *hunt.Quantity, example *sched.Instance, debugging bool) error {
	if q.Ref == "" {
		return nil
	}
	m, err := catalogue.Resolve(methodRef(q.Ref))
	if err != nil {
		return usageError("--conjecture: %s: %w", q.Name, err)
	}
	want := map[string]bench.Kind{"cost": bench.Online, "bound": bench.Bound}[q.Kind]
	switch {
	case m.Kind() != want && want == bench.Online:
		return usageError("--conjecture: %s: %s is not an online policy", q.Name, q.Ref)
	case m.Kind() != want:
		return usageError("--conjecture: %s: %s is not a lower bound", q.Name, q.Ref)
	case bench.Broken(m) != nil:
		return usageError("--conjecture: %s: %w", q.Name, bench.Broken(m))
	case bench.Suits(m, example) != nil:
		return usageError("--conjecture: %s: %w", q.Name, bench.Suits(m, example))
	}
	q.Policy, q.Bound = replayed(m, q.Objective, debugging), m
	return nil
}

// printCase says what became of a conjecture. One that is not refuted is not proven.
func (a *app) printCase(f *huntFlags, r *hunt.Result, took time.Duration) error {
	c := r.Case
	left, _ := c.Left.Float64()
	right, _ := c.Right.Float64()
	word := "holds on all instances that were looked at; nearest to failing:"
	if c.Violated() {
		word = "is false:"
	}
	fmt.Fprintf(a.out, "statement    %s\n             %s %.6g %s %.6g\n", c.Conjecture, word, left, c.Conjecture.Relation, right)
	for _, line := range c.Text() {
		fmt.Fprintf(a.out, "             %s\n", line)
	}
	fmt.Fprintf(a.out, "instance     %s on %s: %s\n", output.Count(len(c.Instance.Jobs), "job"), output.Count(c.Instance.Cluster.GPUs(), "GPU"), hunt.Words(c.Instance))
	fmt.Fprintf(a.out, "evaluations  %d in %v (%.0f a second), seed %d\n", r.Evaluations, took.Round(10*time.Millisecond), float64(r.Evaluations)/took.Seconds(), f.seed)
	if !c.Violated() {
		return &exitError{exitIncomplete, errors.New("the statement was not refuted, which proves nothing")}
	}
	if f.out == "" {
		return nil
	}
	v := c.Violation()
	v.Seed, v.Evaluations = f.seed, r.Evaluations
	if err := a.writeFile(f.out, c.Instance.Write); err != nil {
		return err
	}
	if err := a.writeFile(proofPath(f.out), v.Write); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "written      %s, %s: bench verify checks them\n", f.out, proofPath(f.out))
	return nil
}

// verifyViolation checks what a hunt for a conjecture wrote beside an instance.
func (a *app) verifyViolation(in *sched.Instance, path string, text []byte) error {
	v, err := hunt.ReadViolation(text)
	if err != nil {
		return usageError("%s: %w", path, err)
	}
	c, trusted, err := v.Check(in)
	if err != nil {
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold: %s", path, oneLine(err.Error()))}
	}
	fmt.Fprintf(a.out, "%s holds\n%s is false on this instance: %s against %s\n", path, c.Conjecture, v.Left, v.Right)
	if len(trusted) > 0 {
		fmt.Fprintf(a.out, "without a certificate, not checked: %s\n", strings.Join(trusted, ", "))
	}
	if list := c.Conjecture.Found(); len(list) > 0 {
		fmt.Fprintf(a.out, "not checked: that the policies and methods named come to %s\n", strings.Join(list, ", "))
	}
	return nil
}
