package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"yardstick/datasets"
	"yardstick/datasets/fetch"
	"yardstick/datasets/generate"
	"yardstick/datasets/importer"
	"yardstick/internal/output"
)

func (a *app) datasetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "dataset",
		Short: "List, fetch, import, generate, slice and describe traces",
	}
	c.AddCommand(a.datasetListCommand(), a.datasetFetchCommand(), a.datasetImportCommand(), a.datasetGenerateCommand(),
		a.datasetSliceCommand(), a.datasetDescribeCommand(), a.datasetProfileCommand(), a.datasetInterferenceCommand())
	return c
}

func (a *app) datasetListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the built-in traces, the generators, the import formats and what can be fetched",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(a.out, "built in:")
			for _, name := range datasets.Builtins() {
				fmt.Fprintf(a.out, "  builtin:%s\n", name)
			}
			fmt.Fprintf(a.out, "generators (bench dataset generate --like):\n  %s\n", strings.Join(generate.Names(), ", "))
			fmt.Fprintf(a.out, "import formats (bench dataset import --format):\n%s", formatHelp())
			fmt.Fprintln(a.out, "public logs (bench dataset fetch):")
			for _, it := range fetch.Catalog() {
				fmt.Fprintf(a.out, "  %-22s %10s  %-12s %s\n", it.Name, size(it.Bytes), it.Format, it.What)
			}
			return nil
		},
	}
}

// size shows a number of bytes in decimal units, and nothing if it is not
// known.
func size(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

func (a *app) datasetFetchCommand() *cobra.Command {
	var out string
	var quiet bool
	c := &cobra.Command{
		Use:   "fetch NAME",
		Short: "Download a public log, resumably, and check its checksum",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			it, err := fetch.Find(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			if out == "" {
				out = it.File
			}
			steps := a.steps(quiet, func(done, total int64) string {
				if total == 0 {
					return size(done) + ", of how much is not said"
				}
				return megabytes(done, total)
			})
			first := sync.OnceFunc(steps.reused) // what an earlier run has received, and one piece
			r, err := fetch.Fetch(c.Context(), it, out, fetch.Options{Progress: func(done, total int64) {
				steps.show(done, total, "")
				first()
			}})
			steps.End()
			switch {
			case err != nil && c.Context().Err() != nil:
				return interrupted("what arrived is kept in "+out+".part", "the same command goes on where it stopped")
			case err != nil:
				return &exitError{exitIncomplete, err}
			}
			fmt.Fprintln(a.out, r)
			if it.Format != "" {
				fmt.Fprintf(a.out, "next: bench dataset import --format %s %s -o %s.parquet\n", it.Format, out, it.Name)
			}
			if it.Note != "" {
				fmt.Fprintln(a.out, it.Note)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "file to write (default the log's own name)")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) datasetImportCommand() *cobra.Command {
	var f importFlags
	var name, out string
	var listRules, quiet bool
	c := &cobra.Command{
		Use:   "import --format FORMAT IN... -o OUT.parquet",
		Short: "Convert a public trace from its original format to the unified Parquet schema",
		Long: `Converts a trace, which may be compressed with gzip or lie in a zip or tar
archive, and prints how many rows were kept and dropped by which rule, and the
statistics of the result. The result appears whole or not at all: an interrupt leaves
what was there.

Formats:
` + formatHelp() + `
Cleaning rules are named options: --rules with "default" for a format's own,
"none", or names; --list-rules shows them.`,
		RunE: func(c *cobra.Command, args []string) error {
			format, err := findFormat(name)
			if err != nil {
				return usageError("%w", err)
			}
			if listRules {
				fmt.Fprintln(a.out, strings.Join(format.rules(), "\n"))
				return nil
			}
			switch {
			case len(args) == 0 || len(args) > format.inputs:
				return usageError("%s takes %s: %d files were given", format.name, format.doc, len(args))
			case out == "":
				return usageError("-o OUT.parquet is missing: say where the trace is to be written")
			}
			report, err := a.runImport(c.Context(), format, args, out, f, quiet)
			switch {
			case err != nil && c.Context().Err() != nil:
				return interrupted("nothing was written, and "+out+" is as it was", "the same command begins anew")
			case err != nil:
				return usageError("%w", err)
			}
			fmt.Fprintln(a.out, report)
			if c.Context().Err() != nil {
				return interrupted(out+" is written, and whole", fmt.Sprintf("its statistics: %q", shellLine([]string{"bench", "dataset", "describe", out})))
			}
			return a.describeWritten(out)
		},
	}
	flags := c.Flags()
	flags.StringVar(&name, "format", "", "the original format")
	flags.StringVarP(&out, "out", "o", "", "the Parquet file to write")
	flags.StringVar(&f.trace, "trace", "", "name of the trace in the file written (default the format's)")
	flags.StringVar(&f.member, "member", "", "which file of an archive")
	flags.StringSliceVar(&f.rules, "rules", nil, "cleaning rules, by name")
	flags.BoolVar(&listRules, "list-rules", false, "list the format's cleaning rules")
	flags.StringArrayVar(&f.fields, "map", nil, "for generic: column=name[:unit], such as duration_s=runtime:ms; may be repeated")
	flags.StringVar(&f.unit, "unit", "", "for tiresias: unit of the times (s, ms, min)")
	flags.StringVar(&f.vc, "vc", "", "for gavel: virtual cluster of all jobs")
	flags.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

// runImport imports and shows how much is read, until ctx ends.
func (a *app) runImport(ctx context.Context, format format, in []string, out string, f importFlags, quiet bool) (*importer.Report, error) {
	var read, total int64
	for _, path := range in {
		if info, err := os.Stat(path); err == nil { // whoever opens it says why not
			total += info.Size()
		}
	}
	steps := a.steps(quiet, megabytes)
	defer steps.End()
	f.watch = func(n int) error {
		next := "reading"
		if read += int64(n); read >= total {
			next = "writing"
		}
		steps.show(min(read, total), total, next)
		return ctx.Err()
	}
	return format.run(in, out, f)
}

// megabytes says how much of a file is done.
func megabytes(done, total int64) string { return size(max(done, 1)) + " of " + size(max(total, 1)) }

func (a *app) datasetGenerateCommand() *cobra.Command {
	var like, out string
	var spec generate.Spec
	c := &cobra.Command{
		Use:   "generate --like TRACE --jobs N -o OUT.parquet",
		Short: "Generate a synthetic trace that resembles a public one",
		Long:  "Generates a synthetic trace, calibrated on published statistics: " + strings.Join(generate.Names(), ", ") + ".",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var err error
			if spec.Like, err = generate.Parse(like); err != nil {
				return usageError("--like: %w", err)
			}
			if out == "" || spec.Jobs == 0 {
				return usageError("-o OUT.parquet and --jobs are needed")
			}
			if err := spec.Check(); err != nil {
				return usageError("%w", err)
			}
			if err := datasets.WriteFile(out, spec.Rows()); err != nil {
				return usageError("%w", err)
			}
			return a.describeWritten(out)
		},
	}
	c.Flags().StringVar(&like, "like", "", "the trace to resemble")
	c.Flags().Var(atLeast(1, &spec.Jobs), "jobs", "number of jobs")
	c.Flags().Uint64Var(&spec.Seed, "seed", 1, "seed")
	c.Flags().Var(chance{&spec.Repeat}, "repeat", "probability that a run has the length of its group, 0 for none (default: the trace's)")
	c.Flags().Var((*spanFlag)(&spec.Recurrence), "recurrence", "time over which a group's runs are spread, such as 30d (default: the trace's)")
	c.Flags().Var((*spanFlag)(&spec.InterArrival), "inter-arrival", "mean time between submissions, such as 10s (default: the trace's)")
	c.Flags().StringVarP(&out, "out", "o", "", "the Parquet file to write")
	return c
}

// spanFlag is a positive time in seconds, given as 30d, 12h or 7.5s.
type spanFlag float64

func (f *spanFlag) String() string {
	if *f == 0 {
		return ""
	}
	return fmt.Sprintf("%vs", float64(*f))
}

func (f *spanFlag) Type() string { return "duration" }

func (f *spanFlag) Set(text string) error {
	v, err := generate.ParseSpan(text)
	if err != nil {
		return err
	}
	*f = spanFlag(v)
	return nil
}

// chance is a probability that may be left out.
type chance struct{ of **float64 }

func (c chance) String() string {
	if c.of == nil || *c.of == nil {
		return ""
	}
	return fmt.Sprint(**c.of)
}

func (c chance) Type() string { return "float64" }

func (c chance) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return fmt.Errorf("%q is no probability: it must be from 0 to 1", text)
	}
	*c.of = &v
	return nil
}

func (a *app) datasetSliceCommand() *cobra.Command {
	var out string
	var where []string
	c := &cobra.Command{
		Use:     "slice TRACE -w CONDITION -o OUT.parquet",
		Short:   "Write the rows of a trace that meet every condition to a file of their own",
		Example: `  bench dataset slice jobs.parquet -w trace=philly -w 'gpus=>=2' -o philly-gangs.parquet`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usageError("-o OUT.parquet is missing: say where the rows are to be written")
			}
			filter, err := parseWhere(where)
			if err != nil {
				return err
			}
			source, err := datasets.Open(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			defer source.Close()
			a.note(source)
			matching := func(yield func(datasets.Row, error) bool) {
				for row, err := range source.Rows() {
					if (err != nil || filter.Match(&row)) && !yield(row, err) {
						return
					}
				}
			}
			if err := datasets.WriteFile(out, matching); err != nil {
				return usageError("%w", err)
			}
			return a.describeWritten(out)
		},
	}
	c.Flags().StringArrayVarP(&where, "where", "w", nil, "condition column=value, column=>=value and so on; may be repeated")
	c.Flags().StringVarP(&out, "out", "o", "", "the Parquet file to write")
	return c
}

// parseWhere reads conditions such as trace=philly and gpus=>=2.
func parseWhere(where []string) (datasets.Filter, error) {
	conditions := map[string]any{}
	for _, text := range where {
		column, condition, ok := strings.Cut(text, "=")
		if !ok {
			return datasets.Filter{}, usageError("--where %q: write column=value, or column=>=value", text)
		}
		list, _ := conditions[column].([]any)
		conditions[column] = append(list, condition)
	}
	filter, err := datasets.ParseFilter(conditions)
	if err != nil {
		return filter, usageError("--where: %w", err)
	}
	return filter, nil
}

func (a *app) datasetDescribeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "describe TRACE",
		Short: "Print the statistics of a trace: a Parquet file or builtin:philly-like",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return a.describe(args[0]) },
	}
}

// describeWritten describes a trace that was written, if it can be read again.
func (a *app) describeWritten(name string) error {
	if !output.Replaces(name) {
		return nil
	}
	return a.describe(name)
}

func (a *app) describe(name string) error {
	source, err := datasets.Open(name)
	if err != nil {
		return usageError("%w", err)
	}
	defer source.Close()
	a.note(source)
	s, err := datasets.Describe(source.Rows())
	if err != nil {
		return usageError("%w", err)
	}
	fmt.Fprint(a.out, s)
	return nil
}

// note says what users should know of a trace before its values.
func (a *app) note(s *datasets.Source) {
	if note := s.Note(); note != "" {
		fmt.Fprintln(a.err, note)
	}
}
