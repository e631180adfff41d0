package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"

	"github.com/spf13/cobra"

	"yardstick/bounds/certify"
	"yardstick/internal/strictjson"
	"yardstick/sched"
	"yardstick/sched/verify"
)

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify INSTANCE SCHEDULE|CERTIFICATE",
		Short: "Check a schedule, or the certificate of a bound",
		Long: `Checks what is in the second file (JSON) for the instance in INSTANCE (JSON), and
nothing else: a schedule against every rule of its execution class, from the raw
job data alone, and prints its costs; or a certificate, in exact arithmetic, and
prints the bound that it proves. Exits with 5 and says what is violated when it
does not hold.`,
		Example: `  bench verify instance.json schedule.json
  bench verify instance.json results/quick/certificates/1f0c….json`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return a.verify(args[0], args[1]) },
	}
}

func (a *app) verify(instancePath, path string) error {
	in, err := readInstance(instancePath)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return usageError("%w", err)
	}
	var keys map[string]json.RawMessage
	if err := strictjson.Unmarshal(text, &keys); err != nil {
		return usageError("%s: %w", path, err)
	}
	if keys["format"] != nil {
		return a.verifyCertificate(in, path, text)
	}
	return a.verifySchedule(in, instancePath, path, text)
}

func (a *app) verifyCertificate(in *sched.Instance, path string, text []byte) error {
	s, err := certify.Check(in, text)
	if err != nil {
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold: %w", path, err)}
	}
	value := new(big.Rat).Set(s.Value)
	unit := ""
	if s.Objective.IsTime() {
		value.Quo(value, big.NewRat(int64(sched.Second), 1))
		unit = " s"
	}
	approx, _ := value.Float64()
	fmt.Fprintf(a.out, "%s holds\n", path)
	side := "below"
	if s.Objective.Maximised() {
		side = "above"
	}
	fmt.Fprintf(a.out, "no schedule of class %v has a %v %s %s%s (%.6g), proven by %s\n", s.Class, s.Objective, side, value.RatString(), unit, approx, s.Kind)
	return nil
}

func (a *app) verifySchedule(in *sched.Instance, instancePath, path string, text []byte) error {
	s, hash, damage := sched.ReadSchedule(bytes.NewReader(text))
	switch {
	case damage != nil && !errors.Is(damage, sched.ErrDamaged):
		return usageError("%s: %w", path, damage)
	case hash != "" && hash != in.Hash():
		return usageError("%s was made for another instance (sha256 %.12s…, %s has %.12s…): give the instance it was made for", path, hash, instancePath, in.Hash())
	}
	v, err := verify.Check(in, s)
	var broken *verify.Error
	if errors.As(err, &broken) {
		for _, violation := range broken.Violations {
			fmt.Fprintln(a.out, violation)
		}
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold: %d violations, listed above", path, len(broken.Violations))}
	}
	if err != nil {
		return usageError("%s: %w", path, err)
	}
	if damage != nil {
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold: %w", path, damage)}
	}
	a.printCosts(path+" holds", v)
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
