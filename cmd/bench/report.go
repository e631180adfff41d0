package main

import (
	"bytes"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"yardstick/bench/record"
	"yardstick/bench/report"
)

func (a *app) reportCommand() *cobra.Command {
	var format, out, part string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Print the report of a result directory, from its files alone",
		Long: `Reads a result directory, checks every file against the manifest and prints the
report. A ratio names its denominator: the proven optimum, or (with ≤) a proven
lower bound.

The format html is one file with tables and figures that refers to nothing
outside itself. The format parquet writes every table that has rows as a Parquet
file into the directory -o, for DuckDB and others that do not read Arrow files.`,
		Example: `  bench report results/quick
  bench report results/quick --format html -o report.html
  bench report results/quick --format latex --part summary -o table.tex
  bench report results/quick --format parquet -o parquet`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if format == "parquet" {
				return a.writeParquet(args[0], out)
			}
			f, err := report.ParseFormat(format)
			if err != nil {
				return usageError("--format: %w", err)
			}
			p := report.Part(part)
			if !slices.Contains([]report.Part{report.All, report.Summaries, report.Instances}, p) {
				return usageError("--part %q: it must be summary or instances", part)
			}
			run, err := record.Open(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			if out == "" {
				return a.showReport(run, report.Options{Format: f, Part: p})
			}
			var b bytes.Buffer
			if err := report.Write(&b, run, report.Options{Format: f, Part: p}); err != nil {
				return err
			}
			return a.writeFile(out, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err })
		},
	}
	c.Flags().StringVar(&format, "format", "table", "table, md, latex, csv, json, html or parquet")
	c.Flags().StringVar(&part, "part", "", "summary or instances (default both)")
	c.Flags().StringVarP(&out, "out", "o", "", "file to write instead of the terminal; with parquet, a directory")
	return c
}

// showReport prints a report to the command's output, fitted to the terminal
// if it is one.
func (a *app) showReport(run *record.Run, o report.Options) error {
	if f, ok := fileOf(a.out); ok {
		t := report.Terminal(f)
		o.Width, o.Color = t.Width, t.Color
	}
	return report.Write(a.out, run, o)
}
