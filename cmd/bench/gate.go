package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"yardstick/bench/compare"
	"yardstick/bench/record"
	"yardstick/internal/output"
)

func (a *app) gateCommand() *cobra.Command {
	var baseline, share, gap, format string
	var failures, violations, proofs bool
	var fresh freshFlags
	c := &cobra.Command{
		Use:   "gate DIR",
		Short: "Exit with code 4 when a ratio, a bound or a theorem got worse or is violated",
		Long: `Holds a result to rules, for use in continuous integration, and prints one line
per reason. Comparisons are exact. Without a baseline only violations are looked
for: schedules beyond a proven bound or optimum, and theorems violated although
their assumptions are met.

With --max-gap, the best schedule known of every instance, objective and class must be
so near to the proven bound: what is said of policies is then no vaguer than that.

With --baseline, the result must also have no new failures or missing rows, no
bound, optimum or theorem that was lost or got weaker, and no method whose
geometric mean of ratios over a family grew by more than --max-ratio-geomean.
Rows that a limit in wall-clock time or memory shaped are held to violations and
failures alone: their values differ from run to run.

With --fresh, the suite of the result runs again on instances drawn by a seed that
nobody knows: other windows of its traces, and other traces where these are generated.
Policies that are programs must have a schedule on each, and their mean ratio may not
grow by more than --max-fresh-growth beyond what our own policies' grows there. A
policy that knows the public instances by heart stays out.

Exit codes: 0 the rules hold; 2 bad flags or directory; 4 they do not.`,
		Example: `  bench gate results/quick
  bench gate results/quick --baseline results/release --max-ratio-geomean +0.5%
  bench gate results/mine --fresh --max-fresh-growth +10%`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if format != "table" && format != "json" {
				return usageError("--format %q: it must be table or json", format)
			}
			given := c.Flags().Changed
			fresh.seeded = given("fresh-seed")
			switch {
			case fresh.wanted && baseline != "":
				return usageError("--fresh and --baseline: a fresh run has no baseline but the result itself: drop one of the two")
			case fresh.wanted && gap != "":
				return usageError("--fresh and --max-gap: a fresh run is held to its programs' ratios alone: drop one of the two")
			case fresh.wanted:
				return a.gateFresh(c.Context(), fresh, args[0], format)
			case given("fresh-seed"), given("max-fresh-growth"), given("out"), given("jobs"):
				return usageError("--fresh-seed, --max-fresh-growth, --out and --jobs go with --fresh")
			}
			rules := compare.Rules{NoNewFailures: failures, NoWeakerBounds: proofs, NoViolations: violations}
			var err error
			if rules.MaxRatio, err = compare.ParseShare(share); err != nil {
				return usageError("--max-ratio-geomean: %w", err)
			}
			if gap != "" {
				if rules.MaxGap, err = compare.ParseShare(gap); err != nil {
					return usageError("--max-gap: %w", err)
				}
			}
			run, err := record.Open(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			var base *record.Run
			switch {
			case baseline != "":
				if base, err = record.Open(baseline); err != nil {
					return usageError("%w", err)
				}
			case c.Flags().Changed("max-ratio-geomean"), c.Flags().Changed("no-new-failures"), c.Flags().Changed("no-weaker-bound"):
				return usageError("--max-ratio-geomean, --no-new-failures and --no-weaker-bound go with --baseline")
			}
			verdict, err := compare.Gate(run, base, rules)
			if err != nil {
				return usageError("%w", err)
			}
			return a.showVerdict(verdict, format)
		},
	}
	c.Flags().StringVar(&baseline, "baseline", "", "result directory to compare with")
	c.Flags().StringVar(&share, "max-ratio-geomean", "0", "by how much a geometric mean of ratios may grow, such as +0.5%")
	c.Flags().StringVar(&gap, "max-gap", "", "how far the best schedules known may be from the bounds, such as 2% (default any)")
	c.Flags().BoolVar(&failures, "no-new-failures", true, "a schedule that the baseline has must be there")
	c.Flags().BoolVar(&proofs, "no-weaker-bound", true, "bounds, optima and theorems of the baseline must hold")
	c.Flags().BoolVar(&violations, "no-bound-violation", true, "no schedule beyond a proven bound, no violated theorem")
	c.Flags().BoolVar(&fresh.wanted, "fresh", false, "run the suite's programs on instances that nobody has seen")
	c.Flags().Uint64Var(&fresh.seed, "fresh-seed", 0, "seed of the fresh instances, to see them again (default a secret one)")
	c.Flags().StringVar(&fresh.share, "max-fresh-growth", "+10%", "by how much more than our own policies' a program's mean ratio may grow on fresh instances")
	c.Flags().StringVarP(&fresh.out, "out", "o", "", "folder for the fresh result (default DIR/fresh-SEED)")
	c.Flags().VarP(atLeast(1, &fresh.workers), "jobs", "j", "cells of the fresh run at a time (default one per core)")
	c.Flags().StringVar(&format, "format", "table", "table (one line per reason) or json")
	return c
}

func (a *app) showVerdict(v *compare.Verdict, format string) error {
	if format == "json" {
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		if err := e.Encode(v); err != nil {
			return err
		}
	} else {
		for _, r := range v.Reasons {
			fmt.Fprintf(a.out, "%s: %s\n", r.Rule, r.Text)
		}
	}
	if n := len(v.Reasons); n > 0 {
		return &exitError{exitGate, fmt.Errorf("gate failed: %s, %s looked at", output.Count(n, "reason"), output.Count(v.Rows, "row"))}
	}
	if format != "json" {
		with := ""
		if v.Baseline {
			with = fmt.Sprintf(" against the baseline, %d of them shaped by limits in time or memory and not compared", v.Skipped)
		}
		fmt.Fprintf(a.out, "gate passed: %s looked at%s\n", output.Count(v.Rows, "row"), with)
	}
	return nil
}
