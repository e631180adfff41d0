package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/journal"
	"yardstick/bench/record"
	"yardstick/bench/reproduce"
	"yardstick/internal/input"
	"yardstick/internal/program"
)

type reproduceFlags struct {
	out     string // of figures and text
	suites  string // of the results of suites, which items share
	scale   float64
	seed    uint64
	draws   int
	workers int
	force   bool
	quiet   bool

	anyBuild  bool
	published bool
}

func (a *app) reproduceCommand() *cobra.Command {
	var f reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce [NAME | --published VERDICTS.csv...]",
		Short: "Run a paper's table or figure and print it beside the published numbers",
		Long: `Runs the suite behind a table or figure of a paper, at the paper's own job count and
cluster or at a scale of it, prints our numbers beside the published ones and says
what differs and why. Everything random is drawn several times: the numbers are
medians with their ranges, and the orderings say on how many draws they hold; both are
written as CSV too, and figures as SVG. Items that are made of one suite
share its results, in results/reproduce/suites, or in the directory given. Without
a name, lists what there is. Interrupted, the same command goes on where it was.

With --published, prints every number that the papers publish, with ours and a verdict,
from the CSV files of such runs.`,
		Example: `  bench reproduce
  bench reproduce lazer-table2 --scale 0.01
  bench reproduce --published results/reproduce/*/*.csv > published.csv`,
		RunE: func(c *cobra.Command, args []string) error {
			if f.published {
				return a.published(args)
			}
			if len(args) > 1 {
				return usageError("%d names: one item at a time", len(args))
			}
			if len(args) == 0 {
				return a.listReproductions()
			}
			return a.reproduce(c.Context(), args[0], f)
		},
	}
	c.Flags().StringVarP(&f.out, "out", "o", "", "directory of results and figures (default results/reproduce/NAME)")
	c.Flags().Float64Var(&f.scale, "scale", 1, "fraction of the paper's size: of jobs, and where the load stays so, of servers")
	f.draws = 5
	c.Flags().Var(between(1, maxDraws, &f.draws), "draws", "number of draws, with the seeds from --seed on")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the first draw")
	c.Flags().VarP(between(1, maxWorkers, &f.workers), "jobs", "j", "cells at a time (default one per core)")
	c.Flags().BoolVar(&f.force, "force", false, "run the cells again that an earlier run finished")
	c.Flags().BoolVar(&f.anyBuild, "any-build", false, "use cells that another build of the program finished")
	c.Flags().BoolVar(&f.published, "published", false, "print every published number beside ours, from files of verdicts")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

// published prints the papers' numbers beside ours.
func (a *app) published(paths []string) error {
	if len(paths) == 0 {
		return usageError("--published: no file of verdicts: bench reproduce NAME writes results/reproduce/NAME/NAME.csv")
	}
	var files []io.Reader
	for _, path := range paths {
		text, err := input.Read(path)
		if err != nil {
			return usageError("%w", err)
		}
		files = append(files, bytes.NewReader(text))
	}
	var out bytes.Buffer
	if err := reproduce.WriteJoined(&out, files...); err != nil {
		return usageError("%s: %w", strings.Join(paths, ", "), err)
	}
	_, err := a.out.Write(out.Bytes())
	return err
}

func (a *app) listReproductions() error {
	paper := ""
	for _, item := range reproduce.Items() {
		if item.Paper != paper {
			paper = item.Paper
			fmt.Fprintf(a.out, "%s\n", paper)
		}
		fmt.Fprintf(a.out, "  %-18s %s\n", item.Name, item.Caption)
	}
	return nil
}

func (a *app) reproduce(ctx context.Context, name string, f reproduceFlags) error {
	item, err := reproduce.Find(name)
	if err != nil {
		return usageError("%w", err)
	}
	if !(f.scale > 0 && f.scale <= 1) {
		return usageError("--scale %v: it must be above 0 and at most 1, the paper's own size", f.scale)
	}
	words := []string{"bench", "reproduce", name, "--scale", fmt.Sprint(f.scale)}
	if f.seed != 1 {
		words = append(words, "--seed", fmt.Sprint(f.seed))
	}
	if f.draws != 5 {
		words = append(words, "--draws", fmt.Sprint(f.draws))
	}
	if f.out != "" {
		words = append(words, "-o", f.out)
	}
	again := shellLine(words)
	if f.out == "" {
		size := ""
		if f.scale != 1 {
			size = fmt.Sprintf("-%v", f.scale)
		}
		f.out, f.suites = filepath.Join("results", "reproduce", name+size), filepath.Join("results", "reproduce", "suites"+size)
	} else {
		f.suites = f.out
	}
	var draws []*reproduce.Output
	for seed := f.seed; seed < f.seed+uint64(f.draws); seed++ {
		out, err := a.draw(ctx, &item, seed, f, again)
		if err != nil {
			return err
		}
		draws = append(draws, out)
	}
	out := reproduce.Combine(draws)
	thinned, err := item.Thinned()
	if err != nil {
		return err
	}
	if f.scale != 1 && !thinned {
		out.Unpublished()
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	for i := range out.Figures {
		svg, err := out.Figures[i].SVG()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		path := filepath.Join(f.out, fmt.Sprintf("%s-%d.svg", name, i+1))
		if err := a.writeFile(path, func(w io.Writer) error { _, err := w.Write(svg); return err }); err != nil {
			return err
		}
		out.Notes = append(out.Notes, "figure: "+path)
	}
	var text strings.Builder
	if err := item.Write(&text, out); err != nil {
		return err
	}
	switch {
	case f.scale != 1 && thinned:
		fmt.Fprintf(&text, "\nAt scale %v: that fraction of the paper's jobs, past ones and servers, in the same time.\n", f.scale)
	case f.scale != 1:
		fmt.Fprintf(&text, "\nAt scale %v: that fraction of the paper's jobs on its cluster. The load is not the paper's, and its numbers are left out.\n", f.scale)
	}
	path := filepath.Join(f.out, name+".csv")
	if err := a.writeFile(path, func(w io.Writer) error { return item.WriteVerdicts(w, out, f.scale, f.seed, f.draws) }); err != nil {
		return err
	}
	path = filepath.Join(f.out, name+".txt")
	if err := a.writeFile(path, func(w io.Writer) error { _, err := io.WriteString(w, text.String()); return err }); err != nil {
		return err
	}
	_, err = io.WriteString(a.out, text.String())
	return err
}

// draw runs the suites of an item on one draw, and makes it.
func (a *app) draw(ctx context.Context, item *reproduce.Item, seed uint64, f reproduceFlags, again string) (*reproduce.Output, error) {
	in := reproduce.Input{Seed: seed, Scale: f.scale}
	for i, suite := range item.Suites {
		if ctx.Err() != nil {
			return nil, interrupted(fmt.Sprintf("%d of %d suites of draw %d are finished and kept in %s", i, len(item.Suites), seed, f.suites), fmt.Sprintf("go on with %q", again))
		}
		run, err := a.runReproduction(ctx, suite, seed, again, f)
		if err != nil {
			return nil, err
		}
		in.Runs = append(in.Runs, run)
	}
	out, err := a.makeItem(ctx, item, in, f, again)
	if err != nil {
		return nil, err
	}
	if t, ok := item.Workload(in); ok {
		out.Tables = append(out.Tables, t)
	}
	return out, nil
}

// makeItem makes an item. The parts that it computes are kept in a journal in the item's
// directory.
func (a *app) makeItem(ctx context.Context, item *reproduce.Item, in reproduce.Input, f reproduceFlags, again string) (*reproduce.Output, error) {
	folder := filepath.Join(f.out, journal.Folder)
	j, err := journal.Open(folder)
	if err != nil {
		return nil, usageError("%w", err)
	}
	defer j.Close()
	if n := len(j.Damaged); n > 0 {
		fmt.Fprintf(a.err, "%d damaged entries in the journal, the first at %s: these parts are computed again\n", n, j.Damaged[0])
	}
	header := journal.Header{Build: program.Build(), Machine: record.ThisMachine().ID(), Plan: item.Name, Created: time.Now().UTC()}
	j.Start(folder, header)
	id := func(part string) string {
		return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%v\n%s", item.Name, in.Seed, in.Scale, part)))
	}
	steps := a.steps(f.quiet, counted("parts of "+item.Name))
	in.Parts.Find = func(part string) ([]byte, bool) {
		entry, ok := j.Find(id(part))
		if !ok || f.force || !f.anyBuild && entry.Header.Build != header.Build || entry.Header.Machine != header.Machine { // times hold for a machine
			return nil, false
		}
		content, err := j.Read(entry)
		steps.reused()
		return content, err == nil
	}
	done, total := 0, 0
	in.Parts.Keep = func(part string, content []byte) error { return j.Append(id(part), content) }
	in.Parts.Show = func(d, n int, next string) {
		done, total = d, n
		steps.show(int64(d), int64(n), next)
	}
	out, err := item.Make(ctx, in)
	steps.End()
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, interrupted(fmt.Sprintf("%d of %d parts are kept in %s", done, total, folder), fmt.Sprintf("go on with %q", again))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", item.Name, err)
	}
	return out, nil
}

// runReproduction runs one suite of an item, unless it is finished, and returns its records.
func (a *app) runReproduction(ctx context.Context, suite string, seed uint64, again string, f reproduceFlags) (*record.Run, error) {
	file, err := reproduce.PlanFile(suite, f.scale, seed)
	if err != nil {
		return nil, err
	}
	flags := runFlags{out: filepath.Join(f.suites, fmt.Sprintf("%s-seed%d", suite, seed)), workers: f.workers, force: f.force, anyBuild: f.anyBuild, quiet: f.quiet, again: again, silent: true}
	if done := finished(file, flags); done > 0 {
		fmt.Fprintf(a.err, "%d of %d cells were finished before; --force runs them again\n", done, done)
	} else {
		plan, err := newPlan(file)
		if err != nil {
			return nil, err
		}
		if err := a.runPlan(ctx, flags, file, plan, nil); err != nil {
			return nil, err
		}
	}
	return record.OpenWithout(flags.out, "segments.arrow") // the largest table, and no item is made of it
}

// finished returns how many cells a directory's run has if it is whole and of this suite,
// machine and, unless the flags say otherwise, build. To plan it again and to write its tables
// again would give the same, and takes as long as some of its cells.
func finished(file *bench.PlanFile, f runFlags) int {
	old, err := bench.ReadPlanFile(f.out)
	if err != nil || f.force || old.Text != file.Text || !slices.Equal(old.Settings, file.Settings) {
		return 0
	}
	m, err := record.ReadManifest(f.out)
	if err != nil || m.PlanID != old.PlanID || m.Execution.Failed > 0 || m.Execution.Skipped > 0 || m.Machine.ID() != record.ThisMachine().ID() {
		return 0
	}
	j, err := journal.Open(filepath.Join(f.out, journal.Folder))
	if err != nil || len(j.Damaged) > 0 || !f.anyBuild && !slices.Equal(j.Builds(), []string{program.Build()}) {
		return 0
	}
	return m.Execution.Cells
}
