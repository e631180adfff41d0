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
	"yardstick/internal/output"
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
				fmt.Fprintf(a.out, "%-16s %-6s %-9s batch %-5d %s  %10s parameters  %v per iteration\n", p.Model, p.GPU, p.Source,
					p.Batch, output.Count(len(p.Layers), "layer"), size(int64(p.Parameters())), time.Duration(p.Time()).Round(time.Microsecond))
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
	c.Flags().Var(atLeast(1, &origin.Batch), "batch", "with --format: samples per (micro-)batch")
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

type interferenceFlags struct {
	out, gpu, placement string
	gpus                int
	tasks               map[string]string
}

func (a *app) datasetInterferenceCommand() *cobra.Command {
	var f interferenceFlags
	c := &cobra.Command{
		Use:   "interference FILE -o OUT.parquet",
		Short: "Import interference factors from Gavel's simulation_throughputs.json",
		Long: `Writes the factors by which two jobs slow each other down on shared GPUs, by task:
those of all settings in the file, or of the type and number of GPUs and of the
placement given. A suite reads the file of one setting with the key
sharing.interference, which needs a row for every pair of the instances' tasks:
--task gives the file's tasks these names, and leaves the others out.`,
		Example: `  bench dataset interference simulation_throughputs.json -o v100.parquet --gpu v100 --gpus 1 --placement consolidated \
    --task 'bert=Transformer (batch size 16)' --task 'imagenet=ResNet-50 (batch size 64)'`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.importInterference(f, args[0]) },
	}
	c.Flags().StringVarP(&f.out, "out", "o", "", "Parquet file to write")
	c.Flags().StringVar(&f.gpu, "gpu", "", "only pairs on this type of GPU")
	c.Flags().Var(atLeast(0, &f.gpus), "gpus", "only pairs of jobs with so many GPUs each; 0 for any")
	c.Flags().StringVar(&f.placement, "placement", "", "only pairs placed so: consolidated or spread")
	c.Flags().StringToStringVar(&f.tasks, "task", nil, "NAME=TASK: write the file's TASK as NAME; may be repeated")
	return c
}

func (a *app) importInterference(f interferenceFlags, path string) error {
	if f.out == "" {
		return usageError("-o OUT.parquet is missing: say where the table is to be written")
	}
	if p := interference.Placement(f.placement); p != "" && p != interference.Consolidated && p != interference.Spread {
		return usageError("--placement is %q: it must be %s or %s", p, interference.Consolidated, interference.Spread)
	}
	in, err := importer.Open(path, "")
	if err != nil {
		return usageError("%w", err)
	}
	defer in.Close()
	all, report, err := interference.ImportGavel(path, in)
	if err != nil {
		return usageError("%w", err)
	}
	table := all.Select(func(s interference.Setting) bool {
		return (f.gpu == "" || s.GPUType == f.gpu) && (f.gpus == 0 || s.GPUs == f.gpus) && (f.placement == "" || string(s.Placement) == f.placement)
	})
	if len(table.Settings()) == 0 {
		var have []string
		for _, s := range all.Settings() {
			have = append(have, s.String())
		}
		return usageError("%s has no pairs with these --gpu, --gpus and --placement; it has: %s", path, strings.Join(have, "; "))
	}
	if f.tasks != nil {
		if table, err = table.Rename(f.tasks); err != nil {
			return usageError("--task: %w", err)
		}
	}
	if err := table.WriteFile(f.out); err != nil {
		return usageError("%w", err)
	}
	fmt.Fprintln(a.out, report)
	for _, s := range table.Settings() {
		fmt.Fprintf(a.out, "written: %v: %s\n", s, output.Count(len(table.Tasks(s)), "task"))
	}
	return nil
}
