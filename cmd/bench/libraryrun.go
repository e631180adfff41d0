package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/library"
	"yardstick/bench/suite"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

type libraryRunFlags struct {
	libraryFlags
	policyFlags
	limits suite.Limits
	most   int
	out    string
	beside []string // CSV files of other runs
	format string
	width  float64
	quiet  bool
}

func (a *app) libraryRunCommand() *cobra.Command {
	f := libraryRunFlags{limits: suite.Limits{Memory: 2 << 30}}
	c := &cobra.Command{
		Use:   "run [NAME...] --policy POLICY",
		Short: "Put a policy against the library, with a profile over its instances",
		Long: `Replays the instances whose names begin as given, or all that the policy is made for,
under one policy, in a process of its own, verifies each schedule, and compares it with
what is known, which is verified too. The policy may be a program in any language.

A profile says on which share of the instances the cost is at most so many times that
of the best schedule known; an instance on which the policy fails counts as none. The
means are shifted geometric means of the excess in percent, with a shift of 1 %:
docs/library.md has the protocol.

--format makes a table with a line for the policy, and one for each run of another policy
on the same instances that --beside names, as -o wrote it: what those cost is compared
with what is known now. latex is a float for a paper.`,
		Example: `  bench library run --policy sjf -p blocking=skip --most 1000
  bench library run gang-000020 --policy a-srpt-perfect --beside sjf.csv --format latex
  bench library run gang-000020 --policy-command "python3 mine.py" -o mine.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return a.libraryRun(c.Context(), &f, args) },
	}
	f.libraryFlags.add(c)
	f.libraryFlags.addLog(c)
	f.policyFlags.add(c.Flags(), "fifo or sjf")
	c.Flags().Var(atLeast(0, &f.most), "most", "of instances with at most so many jobs; 0 for all")
	c.Flags().Var(atLeast(0, &f.limits.Cell), "time-limit", "wall-clock limit of the policy on an instance; 0 for none")
	c.Flags().StringVarP(&f.out, "out", "o", "", "CSV file with a row for each instance")
	c.Flags().StringSliceVar(&f.beside, "beside", nil, "CSV files of other runs on the same instances, for --format")
	c.Flags().StringVar(&f.format, "format", "text", "text, "+paperFormats)
	addWidth(c, &f.width)
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) libraryRun(ctx context.Context, f *libraryRunFlags, args []string) error {
	ref, err := f.ref("sjf")
	if err != nil {
		return err
	}
	if ref.Name == catalogue.StdioName {
		return usageError("--policy stdio answers for one instance: start the program with --policy-command")
	}
	method, err := catalogue.Resolve(ref)
	switch {
	case err != nil:
		return usageError("%w", err)
	case method.Kind() != bench.Online:
		return usageError("%s is not an online policy: bench library improve runs the others", ref)
	case bench.Broken(method) != nil:
		return usageError("%s: %w", ref, bench.Broken(method))
	}
	if !slices.Contains([]string{"text", "table", "md", "csv", "json", "latex"}, f.format) {
		return usageError("--format %q: it must be text, %s", f.format, paperFormats)
	}
	if f.format == "text" && f.beside != nil {
		return usageError("--beside goes with --format: it makes a table of several policies")
	}
	l := f.open()
	list, err := named(l, args)
	if err != nil {
		return err
	}
	steps, run := a.steps(f.quiet, counted("instances")), a.inChild(f.limits)
	defer steps.End()
	one := func(e *library.Entry) (library.Run, error) {
		s, err := l.Standing(e)
		if err != nil {
			return library.Run{}, err
		}
		r := library.Run{Instance: e.Name, Jobs: e.Features.Jobs, Best: s.Cost(), Bound: s.Bound}
		if bench.Suits(method, s.Instance) != nil {
			return r, nil
		}
		r.Suits = true
		out, err := run(ctx, method, s.Instance, e.Objective)
		switch {
		case err != nil && exitCode(err) == exitInvalid:
			return r, err
		case err != nil:
			r.Why = oneLine(err.Error())
			return r, nil
		case out.Termination == milp.Skipped:
			r.Suits = false
			return r, nil
		case out.Schedule == nil:
			r.Why = "there is no schedule within the time limit"
			return r, nil
		}
		v, err := verify.Check(s.Instance, out.Schedule)
		if err != nil {
			return r, fmt.Errorf("%s: %w: %w", e.Name, bench.ErrInvalidSchedule, err)
		}
		return s.Compare(v), nil
	}
	var runs []library.Run
	for i, e := range list {
		if f.most > 0 && e.Features.Jobs > f.most {
			continue
		}
		steps.show(int64(i), int64(len(list)), e.Name)
		r, err := one(e)
		switch {
		case ctx.Err() != nil:
			steps.End()
			return interrupted("nothing is written", "the same command begins anew")
		case errors.Is(err, library.ErrAbsent):
			continue
		case err != nil:
			return &exitError{exitCode(err), err}
		}
		runs = append(runs, r)
	}
	steps.End()
	if f.out != "" {
		if err := a.writeFile(f.out, func(w io.Writer) error { return writeRuns(w, method.Ref().String(), runs) }); err != nil {
			return err
		}
	}
	if f.format == "text" {
		return a.printScore(method.Ref().String(), runs)
	}
	scores := []scored{{method.Ref().String(), runs}}
	for _, path := range f.beside {
		other, err := readRuns(path, runs)
		if err != nil {
			return usageError("--beside %s: %w", path, err)
		}
		scores = append(scores, *other)
	}
	return runListing(scores, f.width).write(a.out, f.format)
}

// scored is a policy with what it came to on the instances.
type scored struct {
	policy string
	runs   []library.Run
}

// runListing is the protocol's table: a line for each policy.
func runListing(list []scored, width float64) *listing {
	t := &listing{columns: []string{"policy", "instances", "failed", "over_best_known", "over_bound"}, right: map[string]bool{},
		paper: &paper{label: "library-run", width: width, names: map[string]bool{"policy": true}, drop: map[string]int{"failed": 1},
			caption: "Shifted geometric means of the excess over the best schedule known (at least) and over the bound (at most), with a shift of 1 %, and the share of the instances on which the cost is at most so many times the best known."}}
	shown := []float64{1, 1.05, 1.2, 2}
	for _, at := range shown {
		t.columns = append(t.columns, fmt.Sprintf("≤_%g", at))
	}
	for _, name := range t.columns[1:] {
		t.right[name] = true
	}
	for _, one := range list {
		s := library.Summarize(one.runs)
		row := []string{one.policy, fmt.Sprint(s.Counted), fmt.Sprint(s.Failed), sharePercent(s.AtLeast), sharePercent(s.AtMost)}
		for k, at := range library.ProfileAt {
			if slices.Contains(shown, at) {
				row = append(row, sharePercent(s.Profile[k]))
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// readRuns reads what writeRuns wrote of another policy. It has to be about the same
// instances, of which now has what is known.
func readRuns(path string, now []library.Run) (*scored, error) {
	text, err := input.Read(path)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	switch {
	case err != nil:
		return nil, err
	case len(rows) < 2 || !slices.Equal(rows[0], runColumns):
		return nil, errors.New("it is no CSV file that bench library run -o has written")
	case len(rows)-1 != len(now):
		return nil, fmt.Errorf("it is about %d instances, and this run about %d", len(rows)-1, len(now))
	}
	s := &scored{policy: output.Name(rows[1][0])}
	for i, row := range rows[1:] {
		r := library.Run{Instance: now[i].Instance, Jobs: now[i].Jobs, Best: now[i].Best, Bound: now[i].Bound, Suits: row[3] == "true"}
		if row[1] != r.Instance {
			return nil, fmt.Errorf("line %d is about %.80q, and this run about %s", i+2, row[1], r.Instance)
		}
		if row[4] != "" {
			cost, ok := new(big.Rat).SetString(row[4])
			if !ok || len(row[4]) > 400 || cost.Sign() < 0 {
				return nil, fmt.Errorf("line %d: %.80q is no cost", i+2, row[4])
			}
			r.Cost = cost
		}
		s.runs = append(s.runs, r)
	}
	return s, nil
}

// runColumns are the columns of the rows of a run.
var runColumns = []string{"policy", "instance", "jobs", "suits", "cost_exact_us", "ratio_to_best_known", "ratio_to_lower_bound", "better", "message"}

// writeRuns writes a row for each instance. Empty cells are what is not known.
func writeRuns(w io.Writer, policy string, runs []library.Run) error {
	rows := [][]string{runColumns}
	number := func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	for i := range runs {
		r := &runs[i]
		cost := ""
		if r.Cost != nil {
			cost = r.Cost.RatString()
		}
		rows = append(rows, []string{policy, r.Instance, fmt.Sprint(r.Jobs), fmt.Sprint(r.Suits), cost, number(r.AtLeast()), number(r.AtMost()), fmt.Sprint(r.Better), r.Why})
	}
	return output.NewCSV(w).WriteAll(rows)
}

func (a *app) printScore(policy string, runs []library.Run) error {
	s := library.Summarize(runs)
	if s.Counted == 0 {
		return usageError("%s is made for none of the %d instances", policy, len(runs))
	}
	fmt.Fprintf(a.out, "%s: %d of %d instances suit it, %d without a schedule\n", output.Name(policy), s.Counted, len(runs), s.Failed)
	fmt.Fprintf(a.out, "excess, shifted geometric mean: at least %s (over the best known), at most %s (over the bound)\n", sharePercent(s.AtLeast), sharePercent(s.AtMost))
	at, share := make([]string, len(library.ProfileAt)), make([]string, len(library.ProfileAt))
	for i, v := range library.ProfileAt {
		at[i], share[i] = fmt.Sprintf("%7.4g", v), fmt.Sprintf("%6.1f%%", 100*s.Profile[i])
	}
	fmt.Fprintf(a.out, "times the best known, at most  %s\nshare of the instances         %s\n", strings.Join(at, " "), strings.Join(share, " "))
	if s.Better > 0 {
		fmt.Fprintf(a.out, "on %d instances it beats the best schedule known:\n", s.Better)
		for i := range runs {
			if runs[i].Better {
				fmt.Fprintf(a.out, "  %s\n", runs[i].Instance)
			}
		}
	}
	for i := range runs {
		if runs[i].Why != "" {
			fmt.Fprintf(a.err, "%s: %s\n", runs[i].Instance, runs[i].Why)
		}
	}
	return nil
}

func (a *app) librarySubmitCommand() *cobra.Command {
	var f libraryFlags
	by := ""
	c := &cobra.Command{
		Use:   "submit DIR --by NAME",
		Short: "Verify schedules, certificates and proofs of anybody, and keep those that are better",
		Long: `Looks through a folder, and the folders in it, for schedules and certificates (.json)
and proofs (.cert, with instance.txt beside), finds the instance that each is about by
its hash, verifies it, and writes it into the library if it is better than what is
known there. Of each file it says what became of it. Nothing that a file says of itself
is believed.

Exit codes: 0 if something was accepted; 3 if nothing was; 5 if a file contradicts what
is known, so that a check must be wrong.`,
		Example: `  bench library fetch gang-000020-01 -o mine
  bench simulate mine/instance.json --policy sjf --schedule mine/better.json
  bench library submit mine --by "A. Reader"
  bench library show gang-000020-01`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if by == "" {
				return usageError("--by is missing: who found what is submitted?")
			}
			return f.held(func() error { return a.librarySubmit(c.Context(), f.open(), args[0], by) })
		},
	}
	f.add(c)
	f.addLog(c)
	c.Flags().StringVar(&by, "by", "", "who found what is submitted, as tables name them")
	return c
}

// librarySubmit says of each file of a folder what became of it.
func (a *app) librarySubmit(ctx context.Context, l *library.Library, dir, by string) error {
	verdicts, err := l.Submit(ctx, dir, by, time.Now().UTC().Format(time.DateOnly))
	accepted := 0
	for _, v := range verdicts {
		word := "refused"
		if v.Accepted {
			word, accepted = "accepted", accepted+1
		}
		fmt.Fprintln(a.out, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s: %s", word, v.File, v.Kind, v.Entry, v.Why)), " "))
	}
	switch {
	case ctx.Err() != nil:
		return interrupted(fmt.Sprintf("%d files were accepted and are written", accepted), "the same command goes on")
	case errors.Is(err, library.ErrContradiction):
		return &exitError{exitInvalid, err}
	case err != nil:
		return usageError("%w", err)
	case len(verdicts) == 0:
		return usageError("%s has no schedule, certificate or proof", dir)
	case accepted == 0:
		return &exitError{exitIncomplete, fmt.Errorf("nothing in %s is better than what the library has", dir)}
	}
	fmt.Fprintf(a.out, "%d accepted: bench library table shows what is known now\n", accepted)
	return nil
}

func (a *app) libraryFreezeCommand() *cobra.Command {
	var f libraryFlags
	c := &cobra.Command{
		Use:   "freeze",
		Short: "Write version.json: which instances the library's version holds, which never changes",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := named(f.open(), nil)
			if err != nil {
				return err
			}
			return f.held(func() error {
				v, err := f.open().Freeze(list)
				if err != nil {
					return usageError("%w", err)
				}
				fmt.Fprintf(a.out, "version %d of %d instances, digest %s\n", v.Version, len(v.Instances), v.Digest)
				return nil
			})
		},
	}
	f.add(c)
	return c
}
