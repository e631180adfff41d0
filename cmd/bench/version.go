package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"yardstick/bench/record"
	"yardstick/solvers/lpsolve"
)

func currentVersions() record.Versions {
	v := record.BuildVersions()
	v.LPSolve = lpsolve.Version()
	return v
}

func (a *app) versionCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the versions that results depend on",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := currentVersions()
			switch format {
			case "json":
				b, err := json.MarshalIndent(v, "", "  ")
				if err != nil {
					return err
				}
				fmt.Fprintf(a.out, "%s\n", b)
			case "text":
				fmt.Fprintf(a.out, "bench %s, %s, Arrow %s, lp_solve %s\n", v.Bench, v.Go, v.Arrow, v.LPSolve)
			default:
				return usageError("--format %q: it must be text or json", format)
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}
