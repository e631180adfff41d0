package main

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/internal/output"
	"yardstick/sched"
	"yardstick/solvers/isolate"
	"yardstick/solvers/partition"
)

type bracketFlags struct {
	objective, class, out string
	effort, workers       int
	seed                  uint64
	budget                time.Duration
	memory                int64 // resident bytes at which the search ends
	policies, quiet       bool
	pooled                bool // place has no effect
}

func (a *app) bracketCommand() *cobra.Command {
	f := bracketFlags{effort: 2, memory: 4 << 30}
	c := &cobra.Command{
		Use:   "bracket INSTANCE",
		Short: "Both sides of an instance: a verified schedule and a proven bound that meet as nearly as can be",
		Long: `Searches for a good schedule of the whole instance and for a lower bound on the cost
of every schedule, in rounds that alternate: the bound climbs to the cost of the
schedule, and its prices make new schedules. A line appears for every step that moved
a side. The optimum lies between the two; where they meet, the schedule is optimal,
proven. Schedules pass the verifier, and the certificate of the bound is checked in
exact arithmetic, before the last lines are printed.

--effort says how many rounds there are, each of which works harder than the one
before. Work is counted: the same effort and seed give the same bracket on every
machine. --budget goes on until the time has passed, so that what it finds depends on
the machine.

--pooled is the bracket of the instance in which every job of the gang model runs at its
least time wherever it is. No schedule of the instance itself costs less than that optimum:
what lies between the two brackets is what placement costs. The files are of that
instance, which is written beside them.

Ctrl-C ends the search: what is known by then is printed and written as at the end. So
do 4 GiB of memory.

Without --class the class is that of the model: N, P, S or E, slotted if the instance
has slots. A schedule of another class counts where this class can match it.

Exit codes: 0 if there is a schedule and a bound; 2 for bad flags or instances; 3 if one
of the two is missing; 5 if an answer is found to be wrong; 130 interrupted.`,
		Example: `  bench bracket instance.json
  bench bracket instance.json --effort 4 -o bracket
  bench bracket instance.json --budget 60s --class P
  bench bracket instance.json --pooled   # the same without what placement costs`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("effort") && c.Flags().Changed("budget") {
				return usageError("--effort and --budget: the one counts work and the other time: drop one of the two")
			}
			return a.bracket(c.Context(), &f, args[0])
		},
	}
	c.Flags().StringVar(&f.objective, "objective", suite.DefaultObjective.String(), "what is least")
	c.Flags().StringVar(&f.class, "class", "", "class of the schedules: N, P, S, E, EP or M, with an s appended if slotted")
	c.Flags().Var(between(1, 5, &f.effort), "effort", "rounds, from 1 to 5")
	c.Flags().Var(atLeast(0, &f.budget), "budget", "wall-clock time instead of an effort, not deterministic; 0 for the effort")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the search")
	c.Flags().BoolVar(&f.policies, "policies", true, "begin from the schedules of the online policies too")
	c.Flags().BoolVar(&f.pooled, "pooled", false, "as if place had no effect: every job runs at its least time anywhere")
	c.Flags().VarP(atLeast(1, &f.workers), "jobs", "j", "searches at a time, which change nothing else (default one per core)")
	c.Flags().StringVarP(&f.out, "out", "o", "", "folder for schedule.json and certificate.json, as bench verify reads them")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) bracket(ctx context.Context, f *bracketFlags, path string) error {
	b := catalogue.Bracket{Effort: f.effort, Seed: f.seed, Workers: f.workers, Policies: f.policies}
	if b.Workers == 0 {
		b.Workers = runtime.NumCPU()
	}
	var err error
	if b.Objective, err = parseObjective(f.objective); err != nil {
		return err
	}
	if b.Objective.Maximised() {
		return usageError("--objective: %v is maximised: bench solve has both sides of it", b.Objective)
	}
	if b.Instance, err = readInstance(path); err != nil {
		return err
	}
	if f.pooled {
		if b.Instance, err = partition.Pooled(b.Instance); err != nil {
			return usageError("--pooled: %w", err)
		}
	}
	if b.Class, err = classOf(b.Instance, f.class); err != nil {
		return err
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if f.budget > 0 {
		const rounds = 1000 // more than there is time for
		b.Effort = rounds
		limited, cancel = context.WithTimeout(ctx, f.budget)
	}
	defer cancel()
	limited, full := whileMemory(limited, f.memory)
	err = a.showBracket(limited, &b, f.quiet)
	used := full()
	if err != nil {
		return err
	}
	if err := a.endBracket(&b, f); err != nil {
		return err
	}
	if used > 0 {
		fmt.Fprintf(a.out, "the search ended at %d MiB of memory: a lower --effort needs less\n", used>>20)
	}
	if ctx.Err() != nil {
		return interrupted("both sides as they were are above", "the same command begins anew")
	}
	if b.Upper == nil || b.Lower == nil {
		return &exitError{exitIncomplete, fmt.Errorf("%s: there is %s: raise --effort or --budget", path, missingSide(&b))}
	}
	return nil
}

// whileMemory returns a context that ends once this process has more resident memory
// than the limit, and what ends the watch and says how much that was, or 0.
func whileMemory(ctx context.Context, limit int64) (context.Context, func() int64) {
	ctx, cancel := context.WithCancel(ctx)
	found := make(chan int64, 1)
	go func() {
		const often = 100 * time.Millisecond
		tick := time.NewTicker(often)
		defer tick.Stop()
		for {
			if used := isolate.Resident(os.Getpid()); used > limit {
				found <- used
				cancel()
				return
			}
			select {
			case <-ctx.Done():
				found <- 0
				return
			case <-tick.C:
			}
		}
	}()
	return ctx, func() int64 { cancel(); return <-found }
}

func missingSide(b *catalogue.Bracket) string {
	switch {
	case b.Upper == nil && b.Lower == nil:
		return "neither a schedule nor a bound"
	case b.Upper == nil:
		return "no schedule"
	}
	return "no bound"
}

// classOf reads the flag --class; "" is the class of the model.
func classOf(in *sched.Instance, text string) (sched.Class, error) {
	class := in.Class()
	if text == "" {
		return class, nil
	}
	if err := class.UnmarshalText([]byte(text)); err != nil {
		return class, usageError("--class: %w", err)
	}
	if class.Slotted && in.Slot == 0 {
		return class, usageError("--class %s is slotted, but the instance has no slots", text)
	}
	return class, nil
}

// showBracket runs the rounds and prints a line for every step that moved a side.
func (a *app) showBracket(ctx context.Context, b *catalogue.Bracket, quiet bool) error {
	in, start := b.Instance, time.Now()
	fmt.Fprintf(a.out, "%s · %s model · %s, %s · class %s · %s\n\n", output.Name(in.Name), in.Model, output.Count(len(in.Jobs), "job"), output.Count(in.Cluster.GPUs(), "GPU"), b.Class, b.Objective)
	row := func(cells ...string) {
		fmt.Fprintln(a.out, strings.TrimRight(fmt.Sprintf("%5s  %-8s  %18s  %18s  %9s  %8s  %s", cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]), " "))
	}
	steps := a.steps(quiet, func(done, _ int64) string { return fmt.Sprintf("round %d", done) })
	defer steps.End()
	steps.show(0, 0, "bound")
	steps.Above(func() { row("round", "moved", "bound", "schedule", "gap", "time", "by") })
	b.Watch = func(s catalogue.BracketStep) {
		next := map[string]string{"bound": "schedule", "schedule": "bound"}[s.Side]
		if s.Moved {
			steps.Above(func() {
				row(fmt.Sprint(s.Round), s.Side, sideText(b, b.Bound()), sideText(b, b.Cost()), gapText(b), time.Since(start).Round(100*time.Millisecond).String(), s.By)
			})
		}
		steps.show(int64(s.Round), 0, "gap "+gapText(b)+", "+next)
	}
	return b.Run(ctx)
}

func sideText(b *catalogue.Bracket, v *big.Rat) string {
	if v == nil {
		return "–"
	}
	return costText(b.Objective, v)
}

// gapText is the gap in percent, rounded up.
func gapText(b *catalogue.Bracket) string {
	gap := b.Gap()
	if gap == nil {
		return "–"
	}
	return percentText(gap)
}

// percentText is a share in percent, rounded up.
func percentText(share *big.Rat) string {
	hundredths := new(big.Rat).Mul(share, big.NewRat(100_000, 1))
	up := new(big.Int).Add(hundredths.Num(), new(big.Int).Sub(hundredths.Denom(), big.NewInt(1)))
	v, _ := new(big.Rat).SetFrac(up.Div(up, hundredths.Denom()), big.NewInt(1000)).Float64()
	return fmt.Sprintf("%.3f %%", v)
}

// endBracket checks the certificate, prints both sides and writes the files.
func (a *app) endBracket(b *catalogue.Bracket, f *bracketFlags) error {
	evidence := "proven"
	if b.Lower != nil {
		if err := bench.CertifyBound(b.Instance, b.Lower); err != nil {
			return &exitError{exitCode(err), err}
		}
		if b.Lower.Certified {
			evidence = "certified"
		}
	}
	fmt.Fprintln(a.out)
	if b.Lower == nil {
		fmt.Fprintln(a.out, "bound     none")
	} else {
		fmt.Fprintf(a.out, "bound     %s by %s, class %s, %s\n", costText(b.Objective, b.Lower.Value), b.LowerBy, b.Lower.Class, evidence)
	}
	if b.Upper == nil {
		fmt.Fprintln(a.out, "schedule  none")
	} else {
		fmt.Fprintf(a.out, "schedule  %s by %s, class %s, verified\n", costText(b.Objective, b.Cost()), b.UpperBy, b.Upper.Class())
	}
	switch gap := b.Gap(); {
	case gap == nil:
	case gap.Sign() == 0:
		fmt.Fprintln(a.out, "gap       0: the schedule is optimal, proven")
	default:
		fmt.Fprintf(a.out, "gap       %s of the bound; the %s moved last\n", gapText(b), b.Last)
	}
	if f.budget > 0 {
		fmt.Fprintf(a.out, "--budget %v counts time: another machine, or another day, may find other sides\n", f.budget)
	}
	if f.out == "" {
		return nil
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	if f.pooled {
		if err := a.writeFile(filepath.Join(f.out, "instance.json"), b.Instance.Write); err != nil {
			return err
		}
	}
	if b.Upper != nil {
		if err := a.writeSchedule(filepath.Join(f.out, "schedule.json"), b.Upper); err != nil {
			return err
		}
	}
	if b.Lower != nil && b.Lower.Certified {
		return a.writeFile(filepath.Join(f.out, "certificate.json"), func(w io.Writer) error { _, err := w.Write(b.Lower.Certificate); return err })
	}
	return nil
}
