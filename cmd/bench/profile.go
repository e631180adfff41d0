package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/datasets/importer"
	"yardstick/datasets/interference"
	"yardstick/datasets/profile"
)

// profileFormats are the profile formats of other systems. This is the only
// place where a name selects one.
func profileFormats() map[string]func(io.Reader, profile.Origin) (*profile.Profile, error) {
	return map[string]func(io.Reader, profile.Origin) (*profile.Profile, error){
		"pipedream": profile.ImportPipeDream,
		"dapple":    profile.ImportDAPPLE,
		"piper":     profile.ImportPiper,
	}
}

func (a *app) datasetProfileCommand() *cobra.Command {
	var format, out string
	var origin profile.Origin
	c := &cobra.Command{
		Use:   "profile builtin:GPU|FILE [-o OUT.parquet]",
		Short: "Show the layer profiles of models, or import them from other systems",
		Long: `Shows the built-in analytic profiles of nine models on a GPU (builtin:v100,
builtin:a100, builtin:h100, builtin:h200) or those of a Parquet file; with -o,
writes them. With --format pipedream, dapple or piper, imports FILE, which does
not say what was profiled where: --model, --gpu and --batch do.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			profiles, err := readProfiles(args[0], format, origin)
			if err != nil {
				return err
			}
			for i := range profiles {
				p := &profiles[i]
				fmt.Fprintf(a.out, "%-16s %-6s %-9s batch %-5d %4d layers  %10s parameters  %v per iteration\n", p.Model, p.GPU, p.Source,
					p.Batch, len(p.Layers), size(int64(p.Parameters())), time.Duration(p.Time()).Round(time.Microsecond))
			}
			if out == "" {
				return nil
			}
			if err := profile.WriteFile(out, profiles); err != nil {
				return usageError("%w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "", "pipedream, dapple or piper")
	c.Flags().StringVar(&origin.Model, "model", "", "with --format: the model that was profiled")
	c.Flags().StringVar(&origin.GPU, "gpu", "", "with --format: the GPU it ran on")
	c.Flags().IntVar(&origin.Batch, "batch", 0, "with --format: samples per (micro-)batch")
	c.Flags().StringVarP(&out, "out", "o", "", "Parquet file to write")
	return c
}

func readProfiles(path, format string, origin profile.Origin) ([]profile.Profile, error) {
	if gpu, ok := strings.CutPrefix(path, "builtin:"); ok {
		list, err := profile.Builtin(gpu)
		if err != nil {
			return nil, usageError("%w", err)
		}
		return list, nil
	}
	if format == "" {
		list, err := profile.ReadFile(path)
		if err != nil {
			return nil, usageError("%w", err)
		}
		return list, nil
	}
	read, ok := profileFormats()[format]
	if !ok {
		return nil, usageError("--format %q is unknown: pipedream, dapple, piper", format)
	}
	f, err := importer.Open(path, "")
	if err != nil {
		return nil, usageError("%w", err)
	}
	defer f.Close()
	p, err := read(f, origin)
	if err != nil {
		return nil, usageError("%s: %w", path, err)
	}
	return []profile.Profile{*p}, nil
}

func (a *app) datasetInterferenceCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "interference FILE -o OUT.parquet",
		Short: "Import interference factors from Gavel's simulation_throughputs.json",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usageError("-o OUT.parquet is missing: say where the table is to be written")
			}
			f, err := importer.Open(args[0], "")
			if err != nil {
				return usageError("%w", err)
			}
			defer f.Close()
			table, report, err := interference.ImportGavel(args[0], f)
			if err != nil {
				return usageError("%w", err)
			}
			if err := table.WriteFile(out); err != nil {
				return usageError("%w", err)
			}
			fmt.Fprintln(a.out, report)
			return nil
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "Parquet file to write")
	return c
}
