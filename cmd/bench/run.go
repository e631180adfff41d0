package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/report"
)

//go:embed suites/quick.yaml
var quickSuite []byte

type runFlags struct {
	out       string
	workers   int
	timeLimit time.Duration
	quiet     bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [SUITE.yaml]",
		Short: "Run a suite and print its ratio table",
		Long: `Runs every method of the suite on every instance, verifies every schedule,
divides every cost by the strongest proven denominator and writes the result
directory. Without a suite, the embedded one runs: it needs no file, no network
and less than two minutes on two cores.

Exit codes: 0 all cells done; 2 bad suite, trace or instance; 3 some cell
failed; 5 an invalid schedule or a cost below a proven bound; 130 interrupted.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.run(c.Context(), f, args) },
	}
	c.Flags().StringVarP(&f.out, "out", "o", "", "result directory (default results/NAME)")
	c.Flags().IntVarP(&f.workers, "jobs", "j", 0, "cells at a time (default one per core)")
	c.Flags().DurationVar(&f.timeLimit, "time-limit", 0, "wall-clock limit of each solve (default the suite's)")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) run(ctx context.Context, f runFlags, args []string) error {
	if f.workers < 0 || f.timeLimit < 0 {
		return usageError("-j and --time-limit must not be negative")
	}
	suite, err := readSuite(args)
	if err != nil {
		return err
	}
	if f.timeLimit > 0 {
		suite.Limits.Solve = f.timeLimit
	}
	plan, err := bench.NewPlan(suite, resolve)
	if err != nil {
		return usageError("%w", err)
	}
	for _, in := range plan.Instances {
		if in.Note != "" {
			fmt.Fprintln(a.err, in.Note)
		}
	}
	workers := f.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	progress := &bench.Progress{Terminal: isTerminalWriter(a.err)}
	if !f.quiet {
		progress.W = a.err
	}
	start := time.Now()
	results := bench.Run(ctx, plan, bench.Options{Workers: workers, Progress: progress, Debug: a.debug})
	rows, violation := bench.Rows(plan, results)
	failed, skipped := bench.Failures(results)
	rows.Manifest, err = a.manifest(plan, args, start)
	if err != nil {
		return err
	}
	rows.Manifest.Execution = record.Execution{Command: os.Args, Workers: workers, Cells: len(plan.Cells),
		Failed: len(failed), Skipped: skipped, Wall: time.Since(start).Seconds()}
	dir := f.out
	if dir == "" {
		dir = filepath.Join("results", suite.Name)
	}
	if err := record.Write(dir, rows); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	if err := a.showReport(rows, report.Options{}); err != nil {
		return err
	}
	return runStatus(results, violation, failed, skipped, args)
}

// runStatus turns what went wrong, worst first, into the command's error.
func runStatus(results []bench.CellResult, violation error, failed []string, skipped int, args []string) error {
	if violation != nil {
		return &exitError{exitInvalid, violation}
	}
	for i := range results {
		if errors.Is(results[i].Err, bench.ErrInvalidSchedule) {
			return &exitError{exitInvalid, results[i].Err}
		}
	}
	switch {
	case skipped > 0:
		command := "bench run"
		for _, arg := range args {
			command += " " + arg
		}
		return &exitError{exitInterrupted, fmt.Errorf("interrupted with %d cells to go: what was finished is in the table; run %q to run all of it", skipped, command)}
	case len(failed) > 0:
		return &exitError{exitIncomplete, fmt.Errorf("%d cells failed, the first: %s", len(failed), failed[0])}
	}
	return nil
}

// readSuite reads the named suite, or the embedded one.
func readSuite(args []string) (*bench.Suite, error) {
	name, data := "the embedded suite", quickSuite
	if len(args) > 0 {
		var err error
		name = args[0]
		if data, err = os.ReadFile(name); err != nil {
			return nil, usageError("%w", err)
		}
	}
	suite, err := bench.ParseSuite(name, data)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return suite, nil
}

func (a *app) manifest(plan *bench.Plan, args []string, created time.Time) (record.Manifest, error) {
	suite, err := json.Marshal(plan.Suite)
	if err != nil {
		return record.Manifest{}, err
	}
	m := record.Manifest{Created: created, Suite: suite, PlanID: plan.ID(), Machine: record.ThisMachine(), Versions: currentVersions()}
	if plan.Suite.Matrix != nil {
		m.Params = plan.Suite.Matrix.Params()
	}
	m.Inputs, err = plan.Inputs(args...)
	return m, err
}

func (a *app) planCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "plan [SUITE.yaml]",
		Short: "List the cells of a suite before anything runs",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			suite, err := readSuite(args)
			if err != nil {
				return err
			}
			plan, err := bench.NewPlan(suite, resolve)
			if err != nil {
				return usageError("%w", err)
			}
			for _, in := range plan.Instances {
				if in.Note != "" {
					fmt.Fprintln(a.err, in.Note)
				}
			}
			for _, c := range plan.Cells {
				fmt.Fprintf(a.out, "%s  %-14s %6d jobs  %5d GPUs  %s\n", c.ID[:12], c.Instance.Name, len(c.Instance.Jobs), c.Instance.Cluster.GPUs(), c.Method.Ref())
			}
			fmt.Fprintf(a.out, "%d cells on %d instances, plan %s\n", len(plan.Cells), len(plan.Instances), plan.ID())
			return nil
		},
	}
}

// isTerminalWriter is isTerminal for a writer that may be a file.
func isTerminalWriter(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}

// isTerminal reports whether f is a character device, for output that is
// rewritten in place.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
