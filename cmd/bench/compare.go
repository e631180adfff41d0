package main

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench/compare"
	"yardstick/bench/record"
)

func (a *app) compareCommand() *cobra.Command {
	var format, out string
	var width float64
	formats := append(compare.Formats(), "latex")
	most := 50
	c := &cobra.Command{
		Use:   "compare DIR_A DIR_B",
		Short: "Compare two results: costs and bounds exactly, times statistically",
		Long: `Pairs the rows of two result directories by instance, objective, method and swept
parameters. Costs, optima and bounds are compared as the exact fractions that
they are; a change of any size is listed.

Times are compared per family and method over the cells that both have, by the
Wilcoxon signed-rank test: instances differ far more than runs do. Either side
may be several runs of one suite, separated by commas; then the times of every
cell are compared too, by the Mann-Whitney U-test, as benchstat does (four runs
on each side are the least that can tell a difference at 0.05).

` + compare.Legend + `.`,
		Example: `  bench compare results/before results/after
  bench compare r1,r2,r3,r4 s1,s2,s3,s4 --format md`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return usageError("--format %q: it must be one of %s", format, strings.Join(formats, ", "))
			}
			sides := make([][]*record.Run, 2)
			for i, arg := range args {
				for _, dir := range strings.Split(arg, ",") {
					run, err := record.Open(dir)
					if err != nil {
						return usageError("%w", err)
					}
					sides[i] = append(sides[i], run)
				}
			}
			result, err := compare.New(sides[0], sides[1])
			if err != nil {
				return usageError("%w", err)
			}
			var b bytes.Buffer
			if format == "latex" {
				err = result.Paper(&b, most, width, madeBy())
			} else {
				err = result.Write(&b, format, most)
			}
			if err != nil {
				return err
			}
			if out == "" {
				_, err = a.out.Write(b.Bytes())
				return err
			}
			return a.writeFile(out, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err })
		},
	}
	c.Flags().StringVar(&format, "format", "table", paperFormats)
	addWidth(c, &width)
	c.Flags().Var(atLeast(0, &most), "changes", "changed rows to list in table, md and latex; 0 for all")
	c.Flags().StringVarP(&out, "out", "o", "", "file to write instead of the terminal")
	return c
}
