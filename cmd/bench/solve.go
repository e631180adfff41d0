package main

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/pool"
	"yardstick/sched"
	"yardstick/sched/verify"
)

type solveFlags struct {
	formulation string
	solver      string
	objective   string
	slot        string
	schedule    string
	limits      bench.SuiteLimits
}

func (a *app) solveCommand() *cobra.Command {
	f := solveFlags{limits: bench.SuiteLimits{Memory: 4 << 30}}
	c := &cobra.Command{
		Use:   "solve INSTANCE --formulation NAME",
		Short: "Solve one instance exactly: status, schedule, proven bound, gap",
		Long: `Solves the instance (JSON) and prints what is known afterwards.

Formulations:
  exhaustive     branch and bound over semi-active schedules, continuous time
  time-indexed   integer program over start slots: rounded down for the bound,
                 rounded up for the schedule; solvers branch (certified) and
                 lpsolve-mip (claims only)`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.solve(c.Context(), f, args[0]) },
	}
	c.Flags().StringVar(&f.formulation, "formulation", "exhaustive", "exhaustive or time-indexed")
	c.Flags().StringVar(&f.solver, "solver", "", "for time-indexed: branch or lpsolve-mip")
	c.Flags().StringVar(&f.slot, "slot", "", "for time-indexed: slot length, such as 60s")
	c.Flags().StringVar(&f.objective, "objective", bench.DefaultObjective.String(), "what to minimise")
	c.Flags().StringVar(&f.schedule, "schedule", "", "JSON file for the schedule, as bench verify reads it")
	c.Flags().DurationVar(&f.limits.Solve, "time-limit", time.Minute, "wall-clock limit")
	c.Flags().IntVar(&f.limits.Nodes, "nodes", 0, "node limit; 0 for none")
	return c
}

func (a *app) solve(ctx context.Context, f solveFlags, path string) error {
	var objective sched.Objective
	if err := objective.UnmarshalText([]byte(f.objective)); err != nil {
		return usageError("--objective: %w", err)
	}
	ref := bench.MethodRef{Name: f.formulation, Params: map[string]string{}}
	if f.solver != "" {
		ref.Params["solver"] = f.solver
	}
	if f.slot != "" {
		ref.Params["slot"] = f.slot
	}
	method, err := resolve(ref)
	if err != nil {
		return usageError("%w", err)
	}
	if method.Kind() != bench.Exact {
		return usageError("%s is not a formulation: exhaustive or time-indexed", f.formulation)
	}
	in, err := readInstance(path)
	if err != nil {
		return err
	}
	r, err := a.runMethod(ctx, method, in, objective, f.limits)
	if err != nil {
		return err
	}
	a.printSolution(objective, r)
	return a.writeSchedule(f.schedule, r.verified)
}

// solved is the outcome of one method on one instance, verified.
type solved struct {
	outcome  bench.Outcome
	verified *verify.Verified // nil if there is no schedule
	wall     time.Duration
}

// runMethod runs one method on one instance the way a suite would, in a child
// process.
func (a *app) runMethod(ctx context.Context, m bench.Method, in *sched.Instance, o sched.Objective, limits bench.SuiteLimits) (*solved, error) {
	workers := pool.New(limits, 1)
	workers.Debug = a.debug
	defer workers.Close()
	result := workers.One(ctx, m, in, o)
	switch {
	case result.Skipped:
		return nil, &exitError{exitInterrupted, context.Canceled}
	case result.Err != nil:
		return nil, &exitError{exitCode(result.Err), result.Err}
	}
	return &solved{result.Outcomes[0], result.Verified[0], result.Wall}, nil
}

func (a *app) printSolution(o sched.Objective, r *solved) {
	fmt.Fprintf(a.out, "termination  %s\n", r.outcome.Termination)
	var cost *big.Rat
	if r.verified != nil {
		cost = r.verified.Cost(o)
		fmt.Fprintf(a.out, "schedule     %s (verified, class %s)\n", costText(o, cost), r.verified.Class())
	} else {
		fmt.Fprintln(a.out, "schedule     none found")
	}
	var bound *big.Rat
	for _, b := range r.outcome.Bounds {
		bound = b.Value
		fmt.Fprintf(a.out, "lower bound  %s (proven, class %s)\n", costText(o, b.Value), b.Class)
	}
	switch {
	case bound == nil:
		fmt.Fprintln(a.out, "lower bound  none proven")
	case cost != nil && cost.Cmp(bound) == 0:
		fmt.Fprintln(a.out, "gap          0: the schedule is optimal, proven")
	case cost != nil && cost.Sign() > 0:
		gap, _ := new(big.Rat).Quo(new(big.Rat).Sub(cost, bound), cost).Float64()
		fmt.Fprintf(a.out, "gap          %.4f %%\n", 100*gap)
	}
	if r.outcome.ClaimedOptimum != nil {
		fmt.Fprintf(a.out, "claimed      %s (the solver's optimum, not proven)\n", costText(o, r.outcome.ClaimedOptimum))
	}
	for _, s := range r.outcome.Solves {
		fmt.Fprintf(a.out, "solve        %s (%s) by %s: %d rows, %d columns, %d nonzeros, %s, %d nodes, %v\n", s.Formulation, s.Relation, s.Solver,
			s.Rows, s.Columns, s.Nonzeros, s.Result.Termination, s.Result.Stats.Nodes, s.Result.Stats.Wall.Round(time.Millisecond))
	}
	if r.outcome.Message != "" {
		fmt.Fprintf(a.out, "note         %s\n", r.outcome.Message)
	}
	fmt.Fprintf(a.out, "time         %v\n", r.wall.Round(time.Millisecond))
}

func (a *app) printCosts(what string, v *verify.Verified) {
	fmt.Fprintf(a.out, "%s: class %s, %d jobs, verified\n", what, v.Class(), len(v.Instance().Jobs))
	for _, o := range sched.Objectives() {
		if cost := v.Cost(o); cost != nil && (o != sched.ScheduledWeight || v.Instance().Deadline > 0) {
			fmt.Fprintf(a.out, "%-20s %s\n", o, costText(o, cost))
		}
	}
}

// writeSchedule writes a verified schedule where a path is given.
func (a *app) writeSchedule(path string, v *verify.Verified) error {
	if path == "" {
		return nil
	}
	if v == nil {
		return usageError("there is no schedule to write to %s", path)
	}
	return writeFile(path, func(w io.Writer) error { return v.Schedule().Write(w, v.Instance()) })
}

func dirOf(path string) string { return filepath.Dir(path) }
