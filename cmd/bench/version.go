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

// environment is what results depend on beside their inputs, named as in the
// manifest of a result directory.
type environment struct {
	Versions record.Versions    `json:"versions"`
	Machine  record.MachineInfo `json:"machine"`
}

func (a *app) versionCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the versions that results depend on",
		Long: `Prints the versions that results depend on; as JSON, with how the program was built
and the machine, as the manifest of every result directory has them.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := currentVersions()
			switch format {
			case "json":
				b, err := json.MarshalIndent(environment{v, record.ThisMachine()}, "", "  ")
				if err != nil {
					return err
				}
				fmt.Fprintf(a.out, "%s\n", b)
			case "text":
				fmt.Fprintf(a.out, "bench %s, %s, Arrow %s, lp_solve %s\n", v.Bench, v.Go, v.Arrow, v.LPSolve)
			default:
				return usageError("-o %q: it must be text or json", format)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return c
}
