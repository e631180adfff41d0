package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench/hunt"
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/bench/tables"
	"yardstick/bounds/certify"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/internal/strictjson"
	"yardstick/sched"
	"yardstick/sched/verify"
)

func (a *app) verifyCommand() *cobra.Command {
	workers, quiet := 0, false
	c := &cobra.Command{
		Use:   "verify DIR | INSTANCE SCHEDULE|CERTIFICATE|PROOF|DIR",
		Short: "Check a result directory, a schedule, the certificate of a bound, a proof, or what a hunt found",
		Long: `Checks a result directory from its files alone: every schedule against every rule of
its execution class, every certificate in exact arithmetic, and that costs,
denominators, ratios and times of jobs are those that follow. It takes the
instances from the directory, and runs no method.

With two files (JSON), checks the second one for the instance in the first one: a
schedule, and prints its costs; a certificate, and prints the bound that it proves;
or the proof of a hunt, FILE.proof.json, with the certificate beside it. For what a
hunt wrote, bench verify FILE.json does.

A folder that bench prove wrote is checked without the instance, or with it: then also
that the problem in the folder is the one that follows from the instance.

Exits with 5 and names what does not hold.`,
		Example: `  bench verify results/quick
  bench verify instance.json schedule.json
  bench verify instance.json results/quick/certificates/1f0c….json
  bench hunt --policy srtf --model preemptive -o worst.json && bench verify worst.json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 2 && isProof(args[1]):
				return a.verifyProofFolder(c.Context(), args[1], args[0])
			case len(args) == 2:
				return a.verify(args[0], args[1])
			case isProof(args[0]):
				return a.verifyProofFolder(c.Context(), args[0], "")
			case isFolder(args):
				return a.verifyFolder(c.Context(), args[0], workers, quiet)
			}
			if _, err := os.Stat(proofPath(args[0])); err != nil {
				return usageError("%s is no result directory, and has no proof beside it (%s): give the schedule or certificate too", args[0], proofPath(args[0]))
			}
			return a.verify(args[0], proofPath(args[0]))
		},
	}
	c.Flags().VarP(between(1, maxWorkers, &workers), "jobs", "j", "checks at a time (default one per core)")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) verify(instancePath, path string) error {
	in, err := readInstance(instancePath)
	if err != nil {
		return err
	}
	text, err := input.Read(path)
	if err != nil {
		return usageError("%w", err)
	}
	var keys map[string]json.RawMessage
	if err := strictjson.Unmarshal(text, &keys); err != nil {
		return usageError("%s: %w", path, err)
	}
	switch {
	case keys["format"] != nil:
		return a.verifyCertificate(in, path, text)
	case keys["optimal"] != nil:
		return a.verifyProof(in, path, text)
	case keys["statement"] != nil:
		return a.verifyViolation(in, path, text)
	case keys["islands"] != nil:
		return usageError("%s is where a hunt was left, for --resume: it claims nothing that could be checked", path)
	}
	return a.verifySchedule(in, instancePath, path, text)
}

// verifyFolder checks a result directory.
func (a *app) verifyFolder(ctx context.Context, dir string, workers int, quiet bool) error {
	run, err := record.Open(dir)
	if err != nil {
		if _, missing := os.Stat(filepath.Join(dir, record.ManifestName)); missing != nil {
			return usageError("%w", err)
		}
		return &exitError{exitInvalid, err}
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	steps := a.steps(quiet, counted("checks"))
	found, err := tables.Recheck(ctx, run, workers, func(done, all int) { steps.show(int64(done), int64(all), "") })
	steps.End()
	for _, text := range found.Failed {
		fmt.Fprintln(a.out, text)
	}
	fmt.Fprintf(a.out, "%s and %s of %s verified\n", output.Count(found.Certificates, "certificate"), output.Count(found.Schedules, "schedule"), output.Count(found.Cells, "cell"))
	if found.Proofs > 0 {
		fmt.Fprintf(a.out, "%d proofs for strangers hold, and are about their instances\n", found.Proofs)
	}
	if found.Uncertified > 0 {
		fmt.Fprintf(a.out, "%s without a certificate, not checked: the program that proved them has to be trusted\n", output.Count(found.Uncertified, "bound"))
	}
	if n := len(run.Placements); n > 0 {
		fmt.Fprintf(a.out, "%d placements were not checked: bench place makes them again\n", n)
	}
	switch {
	case len(found.Failed) > 0:
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold: %d statements fail, listed above", dir, len(found.Failed))}
	case err != nil:
		return interrupted("what was checked until then is above", "the same command begins anew")
	}
	return nil
}

// verifyProof checks what a hunt wrote beside an instance, and the certificate of
// its optimum if there is one.
func (a *app) verifyProof(in *sched.Instance, path string, text []byte) error {
	p, err := hunt.ReadProof(bytes.NewReader(text))
	if err != nil {
		return usageError("%s: %w", path, err)
	}
	fails := func(err error) error {
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold: %s", path, strings.ReplaceAll(err.Error(), "\n", "; "))}
	}
	if err := p.Check(in); err != nil {
		return fails(err)
	}
	status := fmt.Sprintf("its optimality was proven by %s, has no certificate and was not checked", p.Optimum.Method)
	if p.Optimum.Certificate != "" {
		beside := certificatePath(strings.TrimSuffix(path, ".proof.json") + ".json")
		certificate, err := input.Read(beside)
		if err != nil {
			return fails(fmt.Errorf("the certificate of the optimum is missing: %w", err))
		}
		if err := p.CheckCertificate(in, certificate); err != nil {
			return fails(fmt.Errorf("%s: %w", beside, err))
		}
		status = "certified by " + beside
	}
	if p.Optimum.Status == hunt.StatusSchedule {
		fmt.Fprintf(a.out, "%s holds\n%s: the ratio is at least %s, of cost %s and the cost %s of another schedule of class %v, which %s made\n", path, suite.MethodRef{Name: p.Policy, Params: p.Params}, p.Ratio, p.Cost, p.Optimum.Value, p.Optimum.Class, p.Optimum.Method)
		return nil
	}
	fmt.Fprintf(a.out, "%s holds\n%s: ratio %s of cost %s and optimum %s (class %v), %s\n", path, suite.MethodRef{Name: p.Policy, Params: p.Params}, p.Ratio, p.Cost, p.Optimum.Value, p.Optimum.Class, status)
	return nil
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
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold: %s, listed above", path, output.Count(len(broken.Violations), "violation"))}
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
	f, err := input.Document(path)
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
