package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/hunt"
	"yardstick/bench/suite"
	"yardstick/internal/input"
	"yardstick/sched"
)

func (a *app) huntFamilyCommand() *cobra.Command {
	f := huntFlags{space: hunt.Space{Jobs: 6, GPUs: 8, Servers: 1}, keep: "0.99", evaluations: 20_000}
	n, hunted, from := 1000, int64(100_000), ""
	c := &cobra.Command{
		Use:   "family --policy POLICY --model MODEL --gpus G",
		Short: "Search for a family of instances on which a policy is bad for every number of jobs",
		Long: `Searches over generators: blocks of jobs, whose sizes, releases and gangs are formulas
in the number of jobs n and the GPUs G, and the order of another schedule of the
policy's class. The ratio to that schedule, which is verified, is at most the ratio to
the optimum, so that each instance of the family proves how bad the policy is at least.

The first families are the worst instances that short hunts find, with equal jobs as
blocks; --hunted 0 begins with families at random. The worst at --n jobs is shrunk and
written with -o: bench hunt evaluate evaluates it at any n. docs/worst-cases.md has what
was found so.`,
		Example: `  bench hunt family --policy fifo --gpus 8 --objective total-completion -o fifo.json
  bench hunt evaluate fifo.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.huntFamily(c.Context(), &f, n, hunted, from) },
	}
	f.add(c.Flags(), "a-srpt-perfect or srtf")
	c.Flags().StringVar(&f.model, "model", "gang", "one of "+strings.Join(texts(sched.Models()), ", ")+": in slots, but gang in continuous time")
	c.Flags().StringVar(&f.objective, "objective", suite.DefaultObjective.String(), "whose ratio counts")
	c.Flags().Var(between(1, 64, &f.space.GPUs), "gpus", "GPUs of the cluster, which formulas call G")
	c.Flags().Var(between(1, 64, &f.space.Servers), "servers", "servers that they are on")
	c.Flags().Var(between(2, mostFamilyJobs, &n), "n", "number of jobs at which the family is to be bad (default 1000)")
	c.Flags().Var(atLeast(1, &f.evaluations), "evaluations", "families to look at (default 20000)")
	c.Flags().Var(atLeast(1, &f.budget), "budget", "wall-clock time after which the search ends, whatever it has looked at")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the search")
	c.Flags().VarP(between(1, maxWorkers, &f.workers), "workers", "j", "searches at a time (default one per core)")
	c.Flags().Var(atLeast(0, &hunted), "hunted", "instances that hunts look at before, of up to --jobs jobs; 0 for families at random (default 100000)")
	c.Flags().Var(between(1, maxHuntedJobs, &f.space.Jobs), "jobs", "the most jobs of the instances that are hunted")
	c.Flags().StringVar(&f.keep, "keep", f.keep, "part of the ratio that shrinking must keep")
	c.Flags().StringVar(&from, "from", "", "JSON file of a family to begin with, such as one that was found before")
	c.Flags().StringVarP(&f.out, "out", "o", "", "JSON file for the family")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	n, hunted, f.evaluations = 1000, 100_000, 20_000
	return c
}

// mostFamilyJobs is for how many jobs a family may be evaluated.
const mostFamilyJobs = 100_000

func (a *app) huntFamily(ctx context.Context, f *huntFlags, n int, hunted int64, from string) error {
	kept, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	hunting, err := f.options(kept, a.debug)
	if err != nil {
		return err
	}
	ref, err := f.ref("")
	if err != nil {
		return err
	}
	o := hunt.FamilyOptions{Ref: ref, Policy: hunting.Policy, Space: hunting.Space, Objective: hunting.Objective, Seed: f.seed, Evaluations: f.evaluations,
		Workers: hunting.Workers, N: n, Keep: hunting.Keep, Hunted: hunted}
	if from != "" {
		family, err := readFamily(from)
		if err != nil {
			return err
		}
		if same := (hunt.Family{Policy: ref, Objective: o.Objective, Model: o.Space.Model, GPUs: o.Space.GPUs, Servers: o.Space.Servers}); !family.About(&same) {
			return usageError("--from %s is a family of %s, %v, the %s model and %d GPUs on %d servers: give the same", from, family.Policy, family.Objective, family.Model, family.GPUs, family.Servers)
		}
		o.Start = []*hunt.Family{family}
	}
	limited, watch, end := a.watched(ctx, f)
	o.Watch = watch
	r, err := hunt.FindFamily(limited, o)
	end()
	switch {
	case errors.Is(err, bench.ErrPanicked):
		return &exitError{exitInternal, err}
	case err != nil && ctx.Err() != nil:
		return interrupted("nothing was found by then", "the same command begins anew")
	case err != nil:
		return &exitError{exitIncomplete, err}
	}
	if f.out != "" {
		if err := a.writeFile(f.out, r.Family.Write); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.out, "%s", familyText(r.Family))
	fmt.Fprintf(a.out, "evaluations  %d, seed %d; ratio at n = %d before shrinking %s\n", r.Evaluations, f.seed, n, r.Before.FloatString(4))
	a.printStatement(r.Family.Policy, r.At, n)
	if ctx.Err() != nil {
		return interrupted("the worst family so far is above", "the same command begins anew")
	}
	return nil
}

// familyText writes a family in lines.
func familyText(f *hunt.Family) string {
	var b strings.Builder
	fmt.Fprintf(&b, "policy       %s, %v, %s model, G = %d\n", f.Policy, f.Objective, f.Model, f.GPUs)
	for i, words := range f.Words() {
		fmt.Fprintf(&b, "block %d      %s\n", i+1, words)
	}
	fmt.Fprintf(&b, "against      %s\n", f.Against())
	return b.String()
}

// printStatement says what an instance of a family proves.
func (a *app) printStatement(ref suite.MethodRef, found *hunt.Found, n int) {
	fmt.Fprintf(a.out, "at n = %d the ratio of %v of %s is at least %s: %s against %s of a schedule of class %v\n", n, found.Objective, ref,
		found.Ratio().FloatString(4), costText(found.Objective, found.Cost), costText(found.Objective, found.Optimum), found.Class)
}

func (a *app) huntEvaluateCommand() *cobra.Command {
	sizes, gpus, out := []int{10, 30, 100, 250, 500, 1000}, 0, ""
	c := &cobra.Command{
		Use:   "evaluate FAMILY",
		Short: "Evaluate a family of instances at several numbers of jobs, both schedules verified",
		Long: `Makes the instances of a family (JSON, as bench hunt family writes it) for each number
of jobs, replays them under its policy, makes the other schedule, and verifies both. With
-o it writes the largest instance and, beside it, the statement with both schedules,
which bench verify checks.

The trend describes the ratios at the last three sizes that double: it proves nothing
about larger ones.`,
		Example: `  bench hunt evaluate fifo.json --n 10,100,1000 -o fifo-1000.json
  bench verify fifo-1000.json fifo-1000.proof.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.huntEvaluate(c.Context(), args[0], sizes, gpus, out)
		},
	}
	c.Flags().IntSliceVar(&sizes, "n", sizes, "numbers of jobs")
	c.Flags().Var(between(1, 64, &gpus), "gpus", "GPUs (default those of the family)")
	c.Flags().StringVarP(&out, "out", "o", "", "JSON file for the largest instance; its statement goes beside it")
	return c
}

func (a *app) huntEvaluate(ctx context.Context, path string, sizes []int, gpus int, out string) error {
	f, err := readFamily(path)
	if err != nil {
		return err
	}
	method, err := catalogue.Resolve(f.Policy)
	if err != nil {
		return usageError("%s: %w", path, err)
	}
	if method.Kind() != bench.Online || bench.Broken(method) != nil {
		return usageError("%s: %s is not an online policy that runs", path, f.Policy)
	}
	if out != "" && filepath.Ext(out) != ".json" {
		return usageError("-o %s: name a file that ends in .json", out)
	}
	policy := replayed(method, f.Objective, a.debug)
	slices.Sort(sizes)
	fmt.Fprint(a.out, familyText(f))
	var last *hunt.Found
	ratios := map[int]float64{}
	for _, n := range sizes {
		if n < 1 || n > mostFamilyJobs {
			return usageError("--n %d: it must be between 1 and %d", n, mostFamilyJobs)
		}
		found, err := f.Evaluate(ctx, n, gpus, policy)
		switch {
		case ctx.Err() != nil:
			return interrupted("what was evaluated by then is above", "the same command begins anew")
		case err != nil:
			return usageError("%s: n = %d: %w", path, n, err)
		}
		last, ratios[n] = found, float(found.Ratio())
		a.printStatement(f.Policy, found, n)
	}
	for _, n := range slices.Backward(sizes) {
		if ratios[n/2] > 0 && ratios[n/4] > 0 && n%4 == 0 {
			fmt.Fprintf(a.out, "trend        %v, by n = %d, %d and %d\n", hunt.Fit(ratios[n/4], ratios[n/2], ratios[n]), n/4, n/2, n)
			break
		}
	}
	if out == "" {
		return nil
	}
	return a.writeProven(out, f.Policy, last, 0, 0)
}

// readFamily reads a family.
func readFamily(path string) (*hunt.Family, error) {
	file, err := input.Document(path)
	if err != nil {
		return nil, usageError("%w", err)
	}
	defer file.Close()
	f, err := hunt.ReadFamily(file)
	if err != nil {
		return nil, usageError("%s: %w", path, err)
	}
	return f, nil
}

func float(r *big.Rat) float64 { v, _ := r.Float64(); return v }
