package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"yardstick/datasets"
	"yardstick/datasets/philly"
)

func (a *app) datasetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "dataset",
		Short: "Import and describe traces",
	}
	c.AddCommand(a.datasetImportCommand(), a.datasetDescribeCommand())
	return c
}

func (a *app) datasetImportCommand() *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use:   "import --format FORMAT IN -o OUT.parquet",
		Short: "Convert a public trace from its original format to the unified Parquet schema",
		Long: `Formats:
  philly   philly.csv of Pollux, as CSV or gzip: timestamp,duration,num_gpus,gpu_time,cluster`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usageError("-o OUT.parquet is missing: say where the trace is to be written")
			}
			if format != "philly" {
				return usageError("--format %q is unknown: philly", format)
			}
			report, err := philly.Import(args[0], out)
			if err != nil {
				return usageError("%w", err)
			}
			fmt.Fprintln(a.out, report)
			return a.describe(out)
		},
	}
	c.Flags().StringVar(&format, "format", "", "the original format")
	c.Flags().StringVarP(&out, "out", "o", "", "the Parquet file to write")
	return c
}

func (a *app) datasetDescribeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "describe TRACE",
		Short: "Print the statistics of a trace: a Parquet file or builtin:philly-like",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return a.describe(args[0]) },
	}
}

func (a *app) describe(name string) error {
	source, err := datasets.Open(name)
	if err != nil {
		return usageError("%w", err)
	}
	defer source.Close()
	s, err := datasets.Describe(source.Rows())
	if err != nil {
		return usageError("%w", err)
	}
	fmt.Fprint(a.out, s)
	return nil
}
