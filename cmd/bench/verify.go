package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"yardstick/sched"
	"yardstick/sched/verify"
)

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify INSTANCE SCHEDULE",
		Short: "Check a schedule against every rule of its execution class",
		Long: `Checks the schedule in SCHEDULE (JSON) for the instance in INSTANCE (JSON) from
the raw job data alone, and prints its costs. Exits with 5 and lists the
violated rules when the schedule does not hold.`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return a.verify(args[0], args[1]) },
	}
}

func (a *app) verify(instancePath, schedulePath string) error {
	in, err := readInstance(instancePath)
	if err != nil {
		return err
	}
	f, err := os.Open(schedulePath)
	if err != nil {
		return usageError("%w", err)
	}
	defer f.Close()
	s, hash, err := sched.ReadSchedule(f)
	if err != nil {
		return usageError("%s: %w", schedulePath, err)
	}
	if hash != "" && hash != in.Hash() {
		return usageError("%s was made for another instance (sha256 %.12s…, %s has %.12s…): give the instance it was made for", schedulePath, hash, instancePath, in.Hash())
	}
	v, err := verify.Check(in, s)
	var broken *verify.Error
	if errors.As(err, &broken) {
		for _, violation := range broken.Violations {
			fmt.Fprintln(a.out, violation)
		}
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold: %d violations, listed above", schedulePath, len(broken.Violations))}
	}
	if err != nil {
		return usageError("%s: %w", schedulePath, err)
	}
	a.printCosts(schedulePath+" holds", v)
	return nil
}

// readInstance reads and validates an instance file.
func readInstance(path string) (*sched.Instance, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usageError("%w", err)
	}
	defer f.Close()
	in, err := sched.ReadInstance(f)
	if err != nil {
		return nil, usageError("%s: %w", path, err)
	}
	return in, nil
}
