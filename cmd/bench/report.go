package main

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/bench/report/chart"
)

func (a *app) reportCommand() *cobra.Command {
	var format, out, part string
	var o report.Options
	var methods []string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Print the report of a result directory, from its files alone",
		Long: `Reads a result directory, checks every file against the manifest and prints the
report. A ratio names its denominator: the proven optimum, or (with ≤) a proven
lower bound.

The format html is one file with tables and figures that refers to nothing
outside itself. The format latex is a float per table that fits a column of the
class article, or --width: what has no room is left out and named in a comment. The format parquet writes every table that has rows as a Parquet
file into the directory -o, for DuckDB and others that do not read Arrow files.

The formats svg, pdf and pgf write every figure of the HTML report as a file into the
directory -o: as wide as a column of the class article, with the texts of pgf in the
fonts of the document.`,
		Example: `  bench report results/quick
  bench report results/quick --format html -o report.html
  bench report results/quick --format latex --part summary --columns "method,geo mean,worst" -o table.tex
  bench report results/quick --format pgf -o figures
  bench report results/quick --format parquet -o parquet`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if format == "parquet" {
				return a.writeParquet(args[0], out)
			}
			if isPicture(format) {
				return a.writeFigures(args[0], out, chart.Format(format))
			}
			var err error
			if o.Format, err = report.ParseFormat(format); err != nil {
				return usageError("--format: %w", err)
			}
			o.Part = report.Part(part)
			if !slices.Contains([]report.Part{report.All, report.Summaries, report.Instances}, o.Part) {
				return usageError("--part %q: it must be summary or instances", part)
			}
			run, err := record.Open(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			if o.Format == report.HTML && len(o.Columns)+len(methods) > 0 {
				return usageError("--columns and --methods: the format html has all of them: choose them for table, md or latex")
			}
			r := report.New(run)
			if err := errors.Join(r.Only(methods), r.HaveColumns(o)); err != nil {
				return usageError("%w", err)
			}
			if o.Format == report.HTML {
				r = nil
			}
			if out == "" {
				return a.showReport(run, r, o)
			}
			var b bytes.Buffer
			if err := writeReport(&b, run, r, o); err != nil {
				return err
			}
			return a.writeFile(out, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err })
		},
	}
	c.Flags().StringVar(&format, "format", "table", "table, md, latex, csv, json, html, parquet, or svg, pdf, pgf for figures")
	addWidth(c, &o.Paper)
	c.Flags().StringSliceVar(&o.Columns, "columns", nil, "columns of table, md and latex, such as method,geo mean,worst (default all, or as many as fit)")
	c.Flags().StringSliceVar(&methods, "methods", nil, "methods to show, by name, with parameters or without (default all)")
	c.Flags().StringVar(&part, "part", "", "summary or instances (default both)")
	c.Flags().StringVarP(&out, "out", "o", "", "file to write instead of the terminal; with parquet, svg, pdf and pgf a directory")
	return c
}

// showReport prints a report to the command's output, fitted to the terminal
// if it is one. Without one at hand it is that of the run.
func (a *app) showReport(run *record.Run, r *report.Report, o report.Options) error {
	if f, ok := fileOf(a.out); ok {
		t := report.Terminal(f)
		o.Width, o.Color = t.Width, t.Color
	}
	return writeReport(a.out, run, r, o)
}

func writeReport(w io.Writer, run *record.Run, r *report.Report, o report.Options) error {
	if r == nil {
		return report.Write(w, run, o)
	}
	return r.Write(w, o)
}
