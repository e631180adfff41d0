package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// policyFlags name an online policy: one of the catalogue, or a program.
type policyFlags struct {
	policy, command string
	files           []string
	params          map[string]string
}

func (f *policyFlags) add(flags *pflag.FlagSet, example string) {
	flags.StringVar(&f.policy, "policy", "", "the policy, such as "+example)
	flags.StringVar(&f.command, "policy-command", "", `a policy that is a program, such as "python3 mine.py": docs/protocol-policy.md`)
	flags.StringSliceVar(&f.files, "policy-files", nil, "files and folders that the program reads besides those that its command names")
	flags.StringToStringVarP(&f.params, "param", "p", nil, "a parameter of the policy, such as blocking=skip; may be repeated")
}

// ref is the reference that the flags make.
func (f *policyFlags) ref(example string) (suite.MethodRef, error) {
	switch {
	case f.command == "" && f.policy == "":
		return suite.MethodRef{}, usageError("--policy is missing: name one, such as --policy %s, or give a program with --policy-command", example)
	case f.command == "" && len(f.files) > 0:
		return suite.MethodRef{}, usageError("--policy-files goes with --policy-command")
	case f.command == "":
		return suite.MethodRef{Name: f.policy, Params: f.params}, nil
	case f.policy != "":
		return suite.MethodRef{}, usageError("--policy and --policy-command both name a policy: drop one of the two")
	}
	ref := suite.MethodRef{Name: catalogue.ExternalName, Params: map[string]string{"command": f.command}}
	maps.Copy(ref.Params, f.params)
	if len(f.files) > 0 {
		ref.Params["files"] = strings.Join(f.files, ",")
	}
	return ref, nil
}

// simulateStdio replays an instance under the policy that has started this program.
func (a *app) simulateStdio(ctx context.Context, f *simulateFlags, ref suite.MethodRef, path string) error {
	a.out = a.err // standard output is the policy's
	policy, err := catalogue.NewStdio(ref, a.stdout, os.Stdin)
	if err != nil {
		return usageError("%w", err)
	}
	v, err := a.replayStdio(ctx, f, policy, path)
	if err != nil {
		_ = policy.Fail(err) // it may be gone: then we say it alone
		return err
	}
	return policy.End(v)
}

func (a *app) replayStdio(ctx context.Context, f *simulateFlags, policy *catalogue.Stdio, path string) (*verify.Verified, error) {
	in, submits, err := f.load(path)
	if err != nil {
		return nil, err
	}
	if err := bench.Suits(policy.Method, in); err != nil {
		return nil, usageError("%s: %w", path, err)
	}
	out, err := bench.Attempt(ctx, policy.Method, bench.Problem{Instance: in, Objectives: []sched.Objective{suite.DefaultObjective}}, a.debug)
	if err != nil {
		return nil, &exitError{exitCode(err), err}
	}
	v, err := verify.Check(in, out[0].Schedule)
	if err != nil {
		return nil, &exitError{exitInvalid, fmt.Errorf("%w: %w", bench.ErrInvalidSchedule, err)}
	}
	return v, a.writeSimulated(f, policy.Ref().String(), v, submits)
}

// writeSimulated writes what the flags ask for of a verified schedule, and prints its
// costs.
func (a *app) writeSimulated(f *simulateFlags, policy string, v *verify.Verified, submits map[string]string) error {
	if err := a.writeSchedule(f.schedule, v); err != nil {
		return err
	}
	if f.instance != "" {
		if err := a.writeFile(f.instance, v.Instance().Write); err != nil {
			return err
		}
	}
	if f.out != "" {
		if err := a.writeFile(f.out, func(w io.Writer) error { return writeJobs(w, v, submits) }); err != nil {
			return err
		}
	}
	if f.gantt != "" {
		if err := a.writeGantt(f.gantt, policy, v); err != nil {
			return err
		}
	}
	a.printCosts(policy, v)
	return nil
}
