package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/hunt"
	"yardstick/bench/suite"
	"yardstick/internal/output"
	"yardstick/sched"
)

// windowFlags say which windows of which trace are looked at.
type windowFlags struct {
	trace        string
	jobs, stride int
	settings     []string
}

func (f *windowFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.trace, "trace", "", "a trace to look for the worst window of: a Parquet file, or builtin:philly-like")
	flags.Var(atLeast(1, &f.jobs), "window", "jobs of a window of --trace")
	flags.Var(atLeast(1, &f.stride), "stride", "jobs from the beginning of a window of --trace to that of the next (default --window)")
	flags.StringArrayVarP(&f.settings, "set", "s", nil, "a key of a suite's instances entry, such as cluster.servers=2, for --trace; may be repeated")
}

// source is the source of a window that begins at a job.
func (f *huntFlags) source(first int) (*suite.Source, error) {
	src := suite.NewSource(f.window.trace)
	for _, text := range slices.Concat([]string{"model=" + f.model}, f.window.settings, []string{fmt.Sprint("slice.jobs=", f.window.jobs), fmt.Sprint("slice.at=", first)}) {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usageError("-s %q: write key=value, such as cluster.servers=2", text)
		}
		if err := src.SetText(key, value); err != nil {
			return nil, usageError("-s %s: %w", key, err)
		}
	}
	return src, nil
}

// notWithTraces are the flags of a hunt that say nothing about windows.
var notWithTraces = []string{"against", "conjecture", "jobs", "gpus", "servers", "gang", "longest", "evaluations", "keep", "resume", "workers"}

// huntWindows looks for the worst window of a trace.
func (a *app) huntWindows(ctx context.Context, f *huntFlags, flags *pflag.FlagSet) error {
	for _, name := range notWithTraces {
		if flags.Changed(name) {
			return usageError("--%s is about instances that are made up, and --trace about windows of a trace: drop one of the two", name)
		}
	}
	if f.window.jobs == 0 {
		return usageError("--window is missing: say how many jobs a window has, such as --window 8")
	}
	ref, err := f.ref("sjf")
	if err != nil {
		return err
	}
	method, err := catalogue.Resolve(ref)
	if err != nil {
		return usageError("%w", err)
	}
	if method.Kind() != bench.Online || bench.Broken(method) != nil {
		return usageError("%s is not an online policy that runs", ref)
	}
	objective, err := parseObjective(f.objective)
	if err != nil {
		return err
	}
	budget := &suite.Budget{}
	first, err := f.source(0)
	if err != nil {
		return err
	}
	all, err := first.TraceJobs(budget)
	if err != nil {
		return usageError("%w", err)
	}
	if all < f.window.jobs {
		return usageError("--window %d: the trace has %s", f.window.jobs, output.Count(all, "job"))
	}
	stride := f.window.stride
	if stride == 0 {
		stride = f.window.jobs
	}
	w := hunt.Windows{Policy: replayed(method, objective, a.debug), Objective: objective, Count: 1 + (all-f.window.jobs)/stride}
	w.Build = func(i int) (*sched.Instance, error) {
		src, err := f.source(i * stride)
		if err != nil {
			return nil, err
		}
		budget.Forget()
		built, err := src.Build(f.seed, budget)
		if err != nil {
			return nil, usageError("window %d: %w", i, err)
		}
		if err := bench.Suits(method, built[0].Instance); err != nil {
			return nil, usageError("--policy %s: %w", ref, err)
		}
		return built[0].Instance, nil
	}
	limited, cancel := ctx, func() {}
	if f.budget > 0 {
		limited, cancel = context.WithTimeout(ctx, f.budget)
	}
	defer cancel()
	steps := a.steps(f.quiet, counted("windows"))
	w.Watch = func(done int, best *big.Rat) {
		text := ""
		if best != nil {
			text = "worst ratio " + best.FloatString(4)
		}
		steps.show(int64(done), int64(w.Count), text)
	}
	start := time.Now()
	worst, err := w.Run(limited)
	steps.End()
	switch {
	case ctx.Err() != nil && worst == nil:
		return interrupted("no window had a ratio by then", "the same command begins anew")
	case errors.Is(err, bench.ErrPanicked):
		return &exitError{exitInternal, err}
	case errors.Is(err, hunt.ErrNoWindow):
		return &exitError{exitIncomplete, err}
	case err != nil:
		return &exitError{exitCode(err), err}
	}
	return a.printWorst(ctx, f, ref, worst, w.Count, stride, time.Since(start))
}

// printWorst says which window is the worst, what is known of the others, and writes it.
func (a *app) printWorst(ctx context.Context, f *huntFlags, ref suite.MethodRef, worst *hunt.Worst, all, stride int, took time.Duration) error {
	found := worst.Found
	fmt.Fprintf(a.out, "policy       %s, class %s, %s\n", ref, found.Policy.Class(), found.Objective)
	fmt.Fprintf(a.out, "window       %s from job %d on, of %d windows\n", output.Count(len(found.Instance.Jobs), "job"), worst.Window*stride, all)
	a.printRatio(found)
	if found.Compared && worst.AtMost != nil {
		fmt.Fprintf(a.out, "at most      %s times the optimum, by a bound\n", worst.AtMost.FloatString(6))
	}
	fmt.Fprintf(a.out, "looked at    %d windows in %v; ", worst.Looked, took.Round(10*time.Millisecond))
	switch {
	case worst.Beyond == 0:
		fmt.Fprintln(a.out, "no other is worse, by proven bounds")
	case worst.Most == nil:
		fmt.Fprintf(a.out, "%d others may be worse\n", worst.Beyond)
	default:
		fmt.Fprintf(a.out, "%d others may be worse, none by more than a ratio of %s\n", worst.Beyond, worst.Most.FloatString(4))
	}
	if worst.Failed > 0 {
		fmt.Fprintf(a.err, "on %s the policy failed; first: %v\n", output.Count(worst.Failed, "window"), worst.Failure)
	}
	words := []string{f.window.trace, "-s", "model=" + f.model}
	for _, s := range f.window.settings {
		words = append(words, "-s", s)
	}
	words = append(words, "-s", fmt.Sprint("slice.jobs=", f.window.jobs), "-s", fmt.Sprint("slice.at=", worst.Window*stride), "--seed", fmt.Sprint(f.seed))
	fmt.Fprintf(a.out, "made by      bench instance build %s\n", shellWords(words))
	if f.out != "" {
		if err := a.writeProven(f.out, ref, found, f.seed, int64(worst.Looked)); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "written      %s, %s: bench verify checks both schedules\n", f.out, proofPath(f.out))
	}
	if ctx.Err() != nil {
		return interrupted("the worst window so far is above", "the same command begins anew")
	}
	return nil
}
