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

// versionLine is "bench v1.2.0 of commit 0123456789ab, go1.26, Arrow v17, lp_solve 5.5.2.5".
func versionLine() string {
	v := currentVersions()
	text := "bench " + v.Bench
	if v.Revision != "" {
		text += fmt.Sprintf(" of commit %.12s", v.Revision)
		if v.Modified {
			text += " with changes"
		}
	}
	return fmt.Sprintf("%s, %s, Arrow %s, lp_solve %s", text, v.Go, v.Arrow, v.LPSolve)
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
				fmt.Fprintln(a.out, versionLine())
			default:
				return usageError("--format %q: it must be text or json", format)
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	c.Flags().StringVarP(&format, "output", "o", "text", "the same, as it was called before")
	_ = c.Flags().MarkHidden("output")
	return c
}
