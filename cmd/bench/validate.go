package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/errata"
	"yardstick/bench/record"
	"yardstick/bounds/theorems"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

type validateFlags struct {
	errata bool
	format string
	time   time.Duration
	nodes  int
}

func (a *app) validateCommand() *cobra.Command {
	f := validateFlags{}
	c := &cobra.Command{
		Use:   "validate [DIR|INSTANCE] | validate --errata",
		Short: "The papers' theorems on an instance or a result directory; the errata",
		Long: `Evaluates every theorem and lemma of the paper that an instance's model comes
from, in its printed and its corrected form, on runs of the policies it speaks
of: whether its assumptions are met, both sides, the slack and the verdict.

With a result directory it sums up the rows of theorems.arrow instead. With
--errata it lists every correction to the papers, runs its counterexample and
compares what is measured with what must be.

Exit code 5 says that a statement is violated whose assumptions are all met, or
that an erratum does not show what it should. Printed statements that are known
to be false have assumptions here that the papers do not state.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.validate(c.Context(), &f, args) },
	}
	c.Flags().BoolVar(&f.errata, "errata", false, "list and run the corrections to the papers")
	c.Flags().StringVar(&f.format, "format", "table", listingFormats)
	c.Flags().DurationVar(&f.time, "time-limit", 30*time.Second, "wall-clock limit of each search for an optimum")
	c.Flags().IntVar(&f.nodes, "nodes", 200_000, "node limit of each; 0 for none")
	return c
}

func (a *app) validate(ctx context.Context, f *validateFlags, args []string) error {
	if err := checkListingFormat(f.format); err != nil {
		return err
	}
	switch {
	case f.errata && len(args) > 0:
		return usageError("--errata takes neither a directory nor an instance")
	case f.errata:
		return a.runErrata(ctx, f.format)
	case len(args) == 0:
		return usageError("give a result directory or an instance, or --errata")
	}
	info, err := os.Stat(args[0])
	if err != nil {
		return usageError("%w", err)
	}
	if info.IsDir() {
		return a.validateDirectory(f, args[0])
	}
	return a.validateInstance(ctx, f, args[0])
}

func checkListingFormat(format string) error {
	if !slices.Contains([]string{"table", "md", "csv", "json"}, format) {
		return usageError("--format %q: it must be %s", format, listingFormats)
	}
	return nil
}

// contradicted is the error of statements that are violated although their
// assumptions are met.
func contradicted(list []string) error {
	if len(list) == 0 {
		return nil
	}
	return &exitError{exitInvalid, fmt.Errorf("%w: %s", bench.ErrTheoremViolated, strings.Join(list, "; "))}
}

func (a *app) validateInstance(ctx context.Context, f *validateFlags, path string) error {
	in, err := readInstance(path)
	if err != nil {
		return err
	}
	list, err := errata.Statements(ctx, in, errata.Limits{Limits: milp.Limits{Time: f.time, Nodes: f.nodes}, Solver: lpsolve.LP{}})
	if err != nil {
		return &exitError{exitIncomplete, err}
	}
	l := &listing{columns: []string{"paper", "statement", "form", "policy", "verdict", "left", "right", "slack", "unit", "allows", "assumptions", "note"},
		right: map[string]bool{"left": true, "right": true, "slack": true, "allows": true}}
	var wrong []string
	for i := range list {
		s := &list[i]
		if s.Contradiction() {
			wrong = append(wrong, s.Statement+" ("+s.Form+")")
		}
		l.rows = append(l.rows, []string{s.Paper, s.Statement, s.Form, s.Policy, string(s.Verdict), plain(s.Left), plain(s.Right), plain(s.Slack), s.Unit,
			plain(s.Bound), assumptionText(s.Unmet), s.Note})
	}
	if err := l.write(a.out, f.format); err != nil {
		return err
	}
	return contradicted(wrong)
}

// plain writes a number for people: whole, or rounded to four decimals.
func plain(v *big.Rat) string {
	switch {
	case v == nil:
		return ""
	case v.IsInt():
		return v.Num().String()
	}
	return v.FloatString(4)
}

func assumptionText(unmet []theorems.Assumption) string {
	if len(unmet) == 0 {
		return "met"
	}
	var list []string
	for _, u := range unmet {
		list = append(list, string(u))
	}
	return "not met: " + strings.Join(list, "; ")
}

// validateDirectory sums up theorems.arrow by method, statement and form.
func (a *app) validateDirectory(f *validateFlags, dir string) error {
	run, err := record.Open(dir)
	if err != nil {
		return usageError("%w", err)
	}
	if len(run.Theorems) == 0 {
		return usageError("%s has no rows about theorems: nothing in its suite is a policy with a theorem", dir)
	}
	type key struct{ method, theorem, form string }
	type tally struct {
		key
		rows, met int
		verdicts  map[string]int
		tightest  *record.Theorem // of those with both sides
		used      float64         // its left side over its right side
	}
	var order []*tally
	index := map[key]*tally{}
	var wrong []string
	for i := range run.Theorems {
		row := &run.Theorems[i]
		k := key{row.Method, row.Theorem, row.Form}
		t := index[k]
		if t == nil {
			t = &tally{key: k, verdicts: map[string]int{}}
			index[k] = t
			order = append(order, t)
		}
		t.rows++
		t.verdicts[row.Verdict]++
		if row.Met {
			t.met++
		}
		if row.Met && row.Verdict == string(theorems.Violated) {
			wrong = append(wrong, fmt.Sprintf("%s (%s) about %s on %s", row.Theorem, row.Form, row.Method, row.Instance))
		}
		if row.Left.Valid && row.Right.Valid && row.Right.V > 0 {
			if used := row.Left.V / row.Right.V; t.tightest == nil || used > t.used {
				t.tightest, t.used = row, used
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *tally) int { return cmp.Compare(a.method, b.method) })
	l := &listing{columns: []string{"method", "statement", "form", "runs", "met", "holds", "violated", "undecided", "vacuous", "not_applicable", "largest_left/right", "on"},
		right: map[string]bool{"runs": true, "met": true, "holds": true, "violated": true, "undecided": true, "vacuous": true, "not_applicable": true, "largest_left/right": true}}
	for _, t := range order {
		used, on := "", ""
		if t.tightest != nil {
			used, on = fmt.Sprintf("%.4f", t.used), t.tightest.Instance
		}
		count := func(v theorems.Verdict) string { return fmt.Sprint(t.verdicts[string(v)]) }
		l.rows = append(l.rows, []string{t.method, t.theorem, t.form, fmt.Sprint(t.rows), fmt.Sprint(t.met), count(theorems.Holds), count(theorems.Violated),
			count(theorems.Undecided), count(theorems.Vacuous), count(theorems.NotApplicable), used, on})
	}
	if err := l.write(a.out, f.format); err != nil {
		return err
	}
	return contradicted(wrong)
}

// erratumRow is an erratum with what running it gave, as JSON has it.
type erratumRow struct {
	Name       string   `json:"name"`
	Paper      string   `json:"paper"`
	Where      string   `json:"where"`
	Claim      string   `json:"claim"`
	Finding    string   `json:"finding"`
	Correction string   `json:"correction"`
	Measured   []string `json:"measured"`
	Verdicts   []string `json:"verdicts,omitempty"`
	Confirmed  bool     `json:"confirmed"`
	Problem    string   `json:"problem,omitempty"`
}

// runErrata runs every erratum and prints what it shows.
func (a *app) runErrata(ctx context.Context, format string) error {
	var rows []erratumRow
	var wrong []string
	for _, e := range errata.All() {
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, ctx.Err()}
		}
		row := runErratum(ctx, &e)
		if !row.Confirmed {
			wrong = append(wrong, row.Name+": "+row.Problem)
		}
		rows = append(rows, row)
	}
	if err := a.printErrata(rows, format); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return &exitError{exitInvalid, fmt.Errorf("%d of %d errata do not show what they should: %s", len(wrong), len(rows), strings.Join(wrong, "; "))}
	}
	return nil
}

func runErratum(ctx context.Context, e *errata.Erratum) erratumRow {
	row := erratumRow{Name: e.Name, Paper: e.Paper, Where: e.Where, Claim: e.Claim, Finding: e.Finding, Correction: e.Correction}
	found, err := e.Run(ctx)
	if err != nil {
		row.Problem = err.Error()
		return row
	}
	for _, f := range found.Facts {
		row.Measured = append(row.Measured, strings.TrimSpace(fmt.Sprintf("%s: %s %s", f.What, plain(f.Got), f.Unit)))
	}
	problems := found.Check()
	for i := range found.Results {
		r := &found.Results[i]
		if r.Verdict == theorems.Violated || slices.ContainsFunc(found.Expected, func(x errata.Expectation) bool { return x.Statement == r.Statement && x.Form == r.Form }) {
			row.Verdicts = append(row.Verdicts, fmt.Sprintf("%s (%s): %s", r.Statement, r.Form, r.Verdict))
		}
		if r.Contradiction() {
			problems = errors.Join(problems, fmt.Errorf("%w: %s (%s)", bench.ErrTheoremViolated, r.Statement, r.Form))
		}
	}
	if problems != nil {
		row.Problem = strings.ReplaceAll(problems.Error(), "\n", "; ")
	}
	row.Confirmed = problems == nil
	return row
}

func (a *app) printErrata(rows []erratumRow, format string) error {
	switch format {
	case "json":
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(rows)
	case "table":
		for _, r := range rows {
			status := "confirmed"
			if !r.Confirmed {
				status = "NOT CONFIRMED: " + r.Problem
			}
			fmt.Fprintf(a.out, "%s · %s, %s\n  claim       %s\n  found       %s\n  correction  %s\n", r.Name, r.Paper, r.Where, r.Claim, r.Finding, r.Correction)
			for _, m := range r.Measured {
				fmt.Fprintf(a.out, "  measured    %s\n", m)
			}
			for _, v := range r.Verdicts {
				fmt.Fprintf(a.out, "  verdict     %s\n", v)
			}
			fmt.Fprintf(a.out, "  %s\n\n", status)
		}
		fmt.Fprintf(a.out, "%d errata\n", len(rows))
		return nil
	}
	l := &listing{columns: []string{"name", "paper", "where", "claim", "finding", "correction", "measured", "verdicts", "confirmed"}}
	for _, r := range rows {
		l.rows = append(l.rows, []string{r.Name, r.Paper, r.Where, r.Claim, r.Finding, r.Correction, strings.Join(r.Measured, "; "), strings.Join(r.Verdicts, "; "), fmt.Sprint(r.Confirmed)})
	}
	return l.write(a.out, format)
}
