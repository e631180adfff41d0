package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/children"
	"yardstick/bench/suite"
	"yardstick/internal/output"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

type solveFlags struct {
	method    string
	solver    string
	objective string
	slot      string
	program   string
	schedule  string
	limits    suite.Limits
	quiet     bool
}

func (a *app) solveCommand() *cobra.Command {
	f := solveFlags{limits: suite.Limits{Solve: time.Minute, Memory: 4 << 30}}
	c := &cobra.Command{
		Use:   "solve INSTANCE",
		Short: "Solve one instance exactly: status, schedule, proven bound, gap",
		Long: `Solves the instance (JSON) for one objective by an exact method, and prints what
is known afterwards. Without --method the method is the first of those for the
instance's model that applies.

Methods:
` + describeExact() + `

Ctrl-C ends the search, and the best schedule and bound found so far are printed and
written as at its end; once more, and the command leaves at once.

Time-indexed programs are rounded down for the bound and up for the schedule; their
solvers are branch (certified) and lpsolve-mip (claims only). The program of starts
knows how many GPUs there are; that of configurations also packs what runs in every
slot into the servers, and that of servers gives every job its own.

Exit codes: 0 if there is a schedule or a proven bound; 2 for bad flags or instances,
and where the method does not apply; 3 if there is no answer within the limits; 5 if an
answer is found to be wrong; 130 interrupted.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.solve(c.Context(), f, args[0]) },
	}
	c.Flags().StringVar(&f.method, "method", "", strings.Join(catalogue.ExactNames(""), ", ")+" (default by the instance's model)")
	c.Flags().StringVar(&f.solver, "solver", "", "for time-indexed: "+strings.Join(catalogue.Solvers(), " or "))
	c.Flags().StringVar(&f.slot, "slot", "", "for time-indexed: slot length, such as 60s")
	c.Flags().StringVar(&f.program, "program", "", "for time-indexed: starts, configurations or servers")
	c.Flags().StringVar(&f.objective, "objective", suite.DefaultObjective.String(), "what is best: "+strings.Join(objectives(), ", "))
	c.Flags().StringVar(&f.schedule, "schedule", "", "JSON file for the schedule, as bench verify reads it")
	c.Flags().Var(atLeast(0, &f.limits.Solve), "time-limit", "wall-clock limit; 0 for none")
	c.Flags().Var(atLeast(0, &f.limits.Nodes), "nodes", "node limit; 0 for none")
	c.Flags().StringVar(&f.method, "formulation", "", "as --method")
	_ = c.Flags().MarkDeprecated("formulation", "it is called --method now")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) solve(ctx context.Context, f solveFlags, path string) error {
	objective, err := parseObjective(f.objective)
	if err != nil {
		return err
	}
	in, err := readInstance(path)
	if err != nil {
		return err
	}
	names := catalogue.ExactNames(in.Model)
	if f.method != "" {
		if names = []string{f.method}; !slices.Contains(catalogue.ExactNames(""), f.method) {
			return usageError("--method: %q is unknown: %s", f.method, strings.Join(catalogue.ExactNames(""), ", "))
		}
	}
	f.limits.Cell = f.limits.Solve
	var reasons []string
	for _, name := range names {
		ref := suite.MethodRef{Name: name, Params: map[string]string{}}
		if f.solver != "" {
			ref.Params["solver"] = f.solver
		}
		if f.slot != "" {
			ref.Params["slot"] = f.slot
		}
		if f.program != "" {
			ref.Params["program"] = f.program
		}
		method, err := catalogue.Resolve(ref)
		if err != nil {
			return usageError("%w", err)
		}
		r, err := a.runMethod(ctx, method, in, objective, f.limits, f.quiet)
		if err != nil {
			return err
		}
		if r.outcome.Termination == milp.Skipped {
			reasons = append(reasons, r.outcome.Message)
			continue
		}
		a.printSolution(ref, objective, r)
		if ctx.Err() != nil {
			return a.endSolve(f.schedule, r)
		}
		if r.verified == nil && len(r.outcome.Bounds) == 0 {
			return &exitError{exitIncomplete, fmt.Errorf("%s: %s has no answer within the limits: raise --time-limit or --nodes", path, ref)}
		}
		return a.writeSchedule(f.schedule, r.verified)
	}
	return usageError("%s: there is no answer: %s", path, strings.Join(reasons, "; "))
}

// endSolve says what is left of a search that was interrupted.
func (a *app) endSolve(path string, r *solved) error {
	kept := "the best schedule and bound so far are above"
	switch {
	case r.verified == nil && len(r.outcome.Bounds) == 0:
		kept = "no schedule was found and no bound proven by then"
	case path != "" && r.verified != nil:
		if err := a.writeSchedule(path, r.verified); err != nil {
			return err
		}
		kept += ", and the schedule is in " + path
	}
	return interrupted(kept, "the same command begins anew")
}

func describeExact() string {
	var b strings.Builder
	for _, m := range catalogue.ExactMethods() {
		fmt.Fprintf(&b, "  %-16s %-11s %s\n", m.Name, m.Model, m.About)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// solved is the outcome of one method on one instance, verified.
type solved struct {
	outcome  bench.Outcome
	verified *verify.Verified // nil if there is no schedule
	wall     time.Duration
}

// runMethod runs one method on one instance the way a suite would, in a child
// process. Interrupted, it returns what the method has by then.
func (a *app) runMethod(ctx context.Context, m bench.Method, in *sched.Instance, o sched.Objective, limits suite.Limits, quiet bool) (*solved, error) {
	workers := children.New(limits, 1)
	workers.Debug, workers.Raise, workers.SoFar = a.debug, "--time-limit", true
	defer workers.Close()
	line, start := a.line(quiet), time.Now()
	line.Begin(func(now time.Time) string {
		took := now.Sub(start).Round(time.Second)
		if limits.Solve == 0 {
			return fmt.Sprintf("%s, %v", m.Ref(), took)
		}
		return fmt.Sprintf("%s, %v of at most %v, ETA %v", m.Ref(), took, limits.Solve, max(limits.Solve-took, 0))
	})
	result := workers.One(ctx, m, in, o)
	line.End()
	switch {
	case result.Skipped || result.Err != nil && ctx.Err() != nil && exitCode(result.Err) == exitIncomplete:
		return nil, interrupted(m.Ref().String()+" had nothing to keep yet", "the same command begins anew")
	case result.Err != nil:
		return nil, &exitError{exitCode(result.Err), result.Err}
	}
	return &solved{result.Outcomes[0], result.Verified[0], result.Wall}, nil
}

func (a *app) printSolution(ref suite.MethodRef, o sched.Objective, r *solved) {
	unit := "in seconds"
	switch {
	case o.Weighted():
		unit = "in seconds times weight"
	case o.Maximised():
		unit = "in weight, maximised"
	}
	fmt.Fprintf(a.out, "objective    %s, %s\n", o, unit)
	fmt.Fprintf(a.out, "method       %s\n", ref)
	fmt.Fprintf(a.out, "termination  %s\n", r.outcome.Termination)
	var cost *big.Rat
	if r.verified != nil {
		cost = r.verified.Cost(o)
		fmt.Fprintf(a.out, "schedule     %s (verified, class %s)\n", costText(o, cost), r.verified.Class())
	} else {
		fmt.Fprintln(a.out, "schedule     none found")
	}
	var bound *big.Rat
	side := "lower bound"
	if o.Maximised() {
		side = "upper bound"
	}
	for _, b := range r.outcome.Bounds {
		bound = b.Value
		fmt.Fprintf(a.out, "%s  %s (proven, class %s)\n", side, costText(o, b.Value), b.Class)
	}
	switch {
	case bound == nil:
		fmt.Fprintf(a.out, "%s  none proven\n", side)
	case cost != nil && cost.Cmp(bound) == 0:
		fmt.Fprintln(a.out, "gap          0: the schedule is optimal, proven")
	case cost != nil && cost.Sign() > 0:
		gap, _ := new(big.Rat).Quo(new(big.Rat).Sub(cost, bound), cost).Float64()
		fmt.Fprintf(a.out, "gap          %.4f %%\n", 100*math.Abs(gap))
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
	fmt.Fprintf(a.out, "%s: class %s, %s, verified\n", what, v.Class(), output.Count(len(v.Instance().Jobs), "job"))
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
	return a.writeFile(path, func(w io.Writer) error { return v.Schedule().Write(w, v.Instance()) })
}
