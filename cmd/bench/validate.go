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

	"yardstick/bench/errata"
	"yardstick/bench/record"
	"yardstick/bench/tables"
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
	f := validateFlags{time: 30 * time.Second, nodes: 200_000}
	c := &cobra.Command{
		Use:   "validate [DIR|INSTANCE] | validate --errata",
		Short: "The papers' theorems on an instance or a result directory; errata and remarks",
		Long: `Evaluates every theorem and lemma of the paper that an instance's model comes
from, in its printed and its corrected form, on runs of the policies it speaks
of: whether its assumptions are met, both sides, the slack and the verdict.

With a result directory it sums up the rows of theorems.arrow instead. With
--errata it lists the errata, passages that are false within the scope in which
the papers make them, and then the remarks, on passages that are true as printed
or whose slip misleads nobody. It runs every one, checks that a counterexample
lies within the scope, and compares what is measured with what must be.

Exit code 5 says that a statement is violated whose assumptions are all met, or
that an erratum or a remark does not show what it should. Printed statements that
are known to be false have assumptions here that the papers do not state.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.validate(c.Context(), &f, args) },
	}
	c.Flags().BoolVar(&f.errata, "errata", false, "list and run the errata and the remarks")
	c.Flags().StringVar(&f.format, "format", "table", listingFormats)
	c.Flags().Var(atLeast(0, &f.time), "time-limit", "wall-clock limit of each search for an optimum; 0 for none")
	c.Flags().Var(atLeast(0, &f.nodes), "nodes", "node limit of each; 0 for none")
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
	return &exitError{exitInvalid, fmt.Errorf("%w: %s", tables.ErrTheoremViolated, strings.Join(list, "; "))}
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

// entryRow is an erratum or a remark with what running it gave, as JSON has it.
type entryRow struct {
	Kind       string   `json:"kind"` // erratum or remark
	Name       string   `json:"name"`
	Paper      string   `json:"paper"`
	Where      string   `json:"where"`
	Quote      string   `json:"quote"`
	Scope      []string `json:"scope,omitempty"` // of an erratum, every clause of which was checked
	Finding    string   `json:"finding"`
	Correction string   `json:"correction,omitempty"` // of an erratum
	True       string   `json:"true,omitempty"`       // of a remark
	Measured   []string `json:"measured"`
	Verdicts   []string `json:"verdicts,omitempty"`
	Confirmed  bool     `json:"confirmed"`
	Problem    string   `json:"problem,omitempty"`
}

const (
	erratumKind = "erratum"
	remarkKind  = "remark"
)

// runErrata runs every erratum, then every remark, and prints what they show.
func (a *app) runErrata(ctx context.Context, format string) error {
	var rows []entryRow
	for _, e := range errata.Errata() {
		row := passageRow(erratumKind, e.Name, e.Passage)
		row.Scope, row.Finding, row.Correction = e.Scope, e.Finding, e.Correction
		found, err := e.Run(ctx)
		row.add(found, err, e.Check)
		rows = append(rows, row)
		if ctx.Err() != nil {
			return a.endErrata(rows, err, format)
		}
	}
	for _, r := range errata.Remarks() {
		row := passageRow(remarkKind, r.Name, r.Passage)
		row.Finding, row.True = r.Finding, r.True
		found, err := r.Run(ctx)
		row.add(found, err, (*errata.Evidence).Check)
		rows = append(rows, row)
		if ctx.Err() != nil {
			return a.endErrata(rows, err, format)
		}
	}
	if err := a.printErrata(rows, format); err != nil {
		return err
	}
	return unconfirmed(rows)
}

// endErrata prints the entries that were run before an interrupt; the last had that error.
func (a *app) endErrata(rows []entryRow, last error, format string) error {
	if last != nil {
		rows = rows[:len(rows)-1]
	}
	if err := a.printErrata(rows, format); err != nil {
		return err
	}
	return interrupted(fmt.Sprintf("%s are above", countEntries(rows)), "the same command begins anew")
}

// unconfirmed is the error of entries that do not show what they should.
func unconfirmed(rows []entryRow) error {
	var wrong []string
	for _, r := range rows {
		if !r.Confirmed {
			wrong = append(wrong, r.Kind+" "+r.Name+": "+r.Problem)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &exitError{exitInvalid, fmt.Errorf("%d of %s do not show what they should: %s", len(wrong), countEntries(rows), strings.Join(wrong, "; "))}
}

func countEntries(rows []entryRow) string {
	count := map[string]int{}
	for _, r := range rows {
		count[r.Kind]++
	}
	return fmt.Sprintf("%d errata and %d remarks", count[erratumKind], count[remarkKind])
}

func passageRow(kind, name string, p errata.Passage) entryRow {
	return entryRow{Kind: kind, Name: name, Paper: p.Paper, Where: p.Where, Quote: p.Quote}
}

// add fills in what running the entry gave.
func (row *entryRow) add(found *errata.Evidence, err error, check func(*errata.Evidence) error) {
	if err != nil {
		row.Problem = err.Error()
		return
	}
	for _, f := range found.Facts {
		row.Measured = append(row.Measured, strings.TrimSpace(fmt.Sprintf("%s: %s %s", f.What, plain(f.Got), f.Unit)))
	}
	problems := check(found)
	for i := range found.Results {
		r := &found.Results[i]
		if r.Verdict == theorems.Violated || slices.ContainsFunc(found.Expected, func(x errata.Expectation) bool { return x.Statement == r.Statement && x.Form == r.Form }) {
			row.Verdicts = append(row.Verdicts, fmt.Sprintf("%s (%s): %s", r.Statement, r.Form, r.Verdict))
		}
		if r.Contradiction() {
			problems = errors.Join(problems, fmt.Errorf("%w: %s (%s)", tables.ErrTheoremViolated, r.Statement, r.Form))
		}
	}
	if problems != nil {
		row.Problem = strings.ReplaceAll(problems.Error(), "\n", "; ")
	}
	row.Confirmed = problems == nil
}

func (a *app) printErrata(rows []entryRow, format string) error {
	switch format {
	case "json":
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(rows)
	case "table":
		kind := ""
		for _, r := range rows {
			if r.Kind != kind {
				kind = r.Kind
				fmt.Fprintf(a.out, "%s\n\n", map[string]string{
					erratumKind: "ERRATA: false as printed, within the scope given",
					remarkKind:  "REMARKS: true as printed, or a slip that misleads nobody",
				}[kind])
			}
			status := "confirmed"
			if !r.Confirmed {
				status = "NOT CONFIRMED: " + r.Problem
			}
			fmt.Fprintf(a.out, "%s · %s, %s\n  printed     “%s”\n", r.Name, r.Paper, r.Where, r.Quote)
			for _, clause := range r.Scope {
				fmt.Fprintf(a.out, "  within      %s\n", clause)
			}
			fmt.Fprintf(a.out, "  found       %s\n", r.Finding)
			if r.Kind == erratumKind {
				fmt.Fprintf(a.out, "  correction  %s\n", r.Correction)
			} else {
				fmt.Fprintf(a.out, "  true        %s\n", r.True)
			}
			for _, m := range r.Measured {
				fmt.Fprintf(a.out, "  measured    %s\n", m)
			}
			for _, v := range r.Verdicts {
				fmt.Fprintf(a.out, "  verdict     %s\n", v)
			}
			fmt.Fprintf(a.out, "  %s\n\n", status)
		}
		fmt.Fprintln(a.out, countEntries(rows))
		return nil
	}
	l := &listing{columns: []string{"kind", "name", "paper", "where", "quote", "scope", "finding", "correction", "true", "measured", "verdicts", "confirmed"}}
	for _, r := range rows {
		l.rows = append(l.rows, []string{r.Kind, r.Name, r.Paper, r.Where, r.Quote, strings.Join(r.Scope, "; "), r.Finding, r.Correction, r.True,
			strings.Join(r.Measured, "; "), strings.Join(r.Verdicts, "; "), fmt.Sprint(r.Confirmed)})
	}
	return l.write(a.out, format)
}
