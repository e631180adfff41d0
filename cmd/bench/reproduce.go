package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench/record"
	"yardstick/bench/reproduce"
)

type reproduceFlags struct {
	out     string // of figures and text
	suites  string // of the results of suites, which items share
	scale   float64
	seed    uint64
	workers int
	force   bool
	quiet   bool
}

func (a *app) reproduceCommand() *cobra.Command {
	var f reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce [NAME]",
		Short: "Run a paper's table or figure and print it beside the published numbers",
		Long: `Runs the suite behind a table or figure of a paper, at the paper's own job count and
cluster or at a scale of it, prints our numbers beside the published ones and says
what differs and why. Figures are written as SVG. Items that are made of one suite
share its results, in results/reproduce/suites, or in the directory given. Without
a name, lists what there is. Interrupted, the same command goes on where it was.`,
		Example: `  bench reproduce
  bench reproduce lazer-table2 --scale 0.01`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listReproductions()
			}
			return a.reproduce(c.Context(), args[0], f)
		},
	}
	c.Flags().StringVarP(&f.out, "out", "o", "", "directory of results and figures (default results/reproduce/NAME)")
	c.Flags().Float64Var(&f.scale, "scale", 1, "fraction of the paper's number of jobs")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of what no suite holds")
	c.Flags().VarP(atLeast(1, &f.workers), "jobs", "j", "cells at a time (default one per core)")
	c.Flags().BoolVar(&f.force, "force", false, "run the cells again that an earlier run finished")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
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
	again := fmt.Sprintf("bench reproduce %s --scale %v", name, f.scale)
	if f.out == "" {
		size := ""
		if f.scale != 1 {
			size = fmt.Sprintf("-%v", f.scale)
		}
		f.out, f.suites = filepath.Join("results", "reproduce", name+size), filepath.Join("results", "reproduce", "suites"+size)
	} else {
		f.suites, again = f.out, again+" -o "+f.out
	}
	in := reproduce.Input{Seed: f.seed, Scale: f.scale}
	for _, suite := range item.Suites {
		run, err := a.runReproduction(ctx, suite, again, f)
		if err != nil {
			return err
		}
		in.Runs = append(in.Runs, run)
	}
	out, err := item.Make(ctx, in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
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
	if f.scale != 1 {
		fmt.Fprintf(&text, "\nAt scale %v: suites with that fraction of the paper's jobs.\n", f.scale)
	}
	path := filepath.Join(f.out, name+".txt")
	if err := a.writeFile(path, func(w io.Writer) error { _, err := io.WriteString(w, text.String()); return err }); err != nil {
		return err
	}
	_, err = io.WriteString(a.out, text.String())
	return err
}

// runReproduction runs one suite of an item and returns its records.
func (a *app) runReproduction(ctx context.Context, suite, again string, f reproduceFlags) (*record.Run, error) {
	file, err := reproduce.PlanFile(suite, f.scale)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(file)
	if err != nil {
		return nil, err
	}
	flags := runFlags{out: filepath.Join(f.suites, suite), workers: f.workers, force: f.force, quiet: f.quiet, again: again, silent: true}
	if err := a.runPlan(ctx, flags, file, plan, nil); err != nil {
		return nil, err
	}
	run, err := record.Open(flags.out)
	if err != nil {
		return nil, err
	}
	run.Segments = nil // the largest table, and no item is made of it
	return run, nil
}
