package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/datasets/instances"
	"yardstick/internal/output"
	"yardstick/sched"
)

func (a *app) instanceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "instance",
		Short: "Build, describe, convert and extract instances",
	}
	c.AddCommand(a.instanceBuildCommand(), a.instanceDescribeCommand(), a.instanceConvertCommand(), a.instanceExtractCommand())
	return c
}

func (a *app) instanceBuildCommand() *cobra.Command {
	var out string
	var settings []string
	var seed uint64
	c := &cobra.Command{
		Use:   "build TRACE -s KEY=VALUE... -o OUT.json",
		Short: "Build an instance from a slice of a trace",
		Long: `Builds an instance from a trace (a Parquet file, or builtin:philly-like). The
keys are those of a suite's instances entry, such as

  model=gang|preemptive|sharing|elastic    profiles=builtin:v100
  slice.jobs=8  slice.at=busiest|start|random|INDEX
  cluster.servers=2  cluster.gpusPerServer=4  cluster.inter=10Gbps
  where.gpus=">=2"  round=60s  tooLarge=drop
  slice.load=0.7..1.0 (windows of that offered load)  offeredLoad=0.9 (sets it)

The same trace, keys and seed give the same instance, bit for bit.`,
		Example: `  bench instance build builtin:philly-like -s slice.at=busiest -s profiles=builtin:v100 -o gang.json
  bench instance build philly.parquet -s model=preemptive -s slice.jobs=20 -o lazer.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usageError("-o OUT.json is missing: say where the instance is to be written")
			}
			src := suite.NewSource(args[0])
			for _, text := range settings {
				key, value, ok := strings.Cut(text, "=")
				if !ok {
					return usageError("-s %q: write key=value, such as slice.jobs=8", text)
				}
				if err := src.SetText(key, value); err != nil {
					return usageError("-s %s: %w", key, err)
				}
			}
			built, err := src.Build(seed, &suite.Budget{})
			if err != nil {
				return usageError("%w", err)
			}
			if built[0].Note != "" {
				fmt.Fprintln(a.err, built[0].Note)
			}
			if len(built) > 1 {
				return usageError("slice.repeat makes %d instances, and one file holds one: leave it out", len(built))
			}
			if err := a.writeFile(out, built[0].Write); err != nil {
				return err
			}
			return a.describeInstance(built[0].Instance)
		},
	}
	c.Flags().StringArrayVarP(&settings, "set", "s", nil, "a key of a suite's instances entry; may be repeated")
	c.Flags().StringVarP(&out, "out", "o", "", "JSON file to write")
	c.Flags().Uint64Var(&seed, "seed", 1, "master seed")
	return c
}

func (a *app) instanceDescribeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "describe INSTANCE",
		Short: "Say what an instance is made of",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := readInstance(args[0])
			if err != nil {
				return err
			}
			return a.describeInstance(in)
		},
	}
}

func (a *app) describeInstance(in *sched.Instance) error {
	text, err := instances.Describe(in)
	if err != nil {
		return usageError("%w", err)
	}
	fmt.Fprintf(a.out, "%ssha256          %s\n", text, in.Hash())
	return nil
}

func (a *app) instanceConvertCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "convert INSTANCE -o OUT.csv|OUT.json",
		Short: "Write an instance as a plain job list for other simulators, or as JSON in standard form",
		Long: `Writes the jobs as CSV with submit time, GPUs, duration and weight, as other
simulators and bench simulate read them, or the instance as JSON with every
field in its standard form. A job list has one duration per job: instances whose
durations depend on the placement cannot be written as one.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := readInstance(args[0])
			if err != nil {
				return err
			}
			switch {
			case strings.HasSuffix(out, ".json"):
				return a.writeFile(out, in.Write)
			case strings.HasSuffix(out, ".csv"):
				var b bytes.Buffer
				if err := writeJobList(&b, in); err != nil {
					return usageError("%s: %w", args[0], err)
				}
				return a.writeFile(out, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err })
			}
			return usageError("-o %q: give a file that ends in .csv or .json", out)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "file to write")
	return c
}

func (a *app) instanceExtractCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "extract DIR NAME",
		Short: "Write an instance of a result directory as JSON",
		Long: `Writes one of the instances that a result directory keeps, as bench solve, bench
verify and bench simulate read it. NAME is what the tables call it.`,
		Example: `  bench instance extract results/quick small/07 -o small-07.json
  bench instance extract results/quick small/07 | bench instance describe /dev/stdin`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := extract(args[0], args[1])
			if err != nil {
				return err
			}
			if out == "" {
				return in.Write(a.out)
			}
			return a.writeFile(out, in.Write)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "JSON file to write (default standard output)")
	return c
}

// instancesOf maps the names of a run's instances to their hashes.
func instancesOf(run *record.Run) map[string]string {
	names := map[string]string{}
	for i := range run.Ratios {
		names[run.Ratios[i].Instance] = run.Ratios[i].InstanceSHA256
	}
	for i := range run.Bounds {
		names[run.Bounds[i].Instance] = run.Bounds[i].InstanceSHA256
	}
	return names
}

// extract reads the instance of that name from a result directory.
func extract(dir, name string) (*sched.Instance, error) {
	run, err := record.Open(dir)
	if err != nil {
		return nil, usageError("%w", err)
	}
	names := instancesOf(run)
	hash, ok := names[name]
	if !ok {
		all := slices.Sorted(maps.Keys(names))
		hint := ""
		if near := suite.Nearest(name, all); near != "" {
			hint = fmt.Sprintf(": the nearest is %q", near)
		} else if len(all) > 0 {
			hint = fmt.Sprintf(": the first is %q", all[0])
		}
		return nil, usageError("%s has no instance %q among %d%s", dir, name, len(all), hint)
	}
	text, err := record.ReadInstance(dir, hash)
	if err != nil {
		return nil, usageError("%s: instance %s: %w; run again to restore it", dir, name, err)
	}
	in, err := sched.ReadInstance(bytes.NewReader(text))
	if err != nil {
		return nil, usageError("%s: instance %s: %w", dir, name, err)
	}
	in.Name = name
	return in, nil
}

func writeJobList(w io.Writer, in *sched.Instance) error {
	rows := [][]string{{"id", "submit_s", "gpus", "duration_s", "weight", "user", "group"}}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if !j.OnlyStages() || !j.ConstantIteration() {
			return fmt.Errorf("jobs[%d] %q has no single duration: it depends on where and how the job runs", i, j.Name)
		}
		duration, err := in.RunTime(sched.JobID(i), anyPlacement(in, j))
		if err != nil {
			return err
		}
		name := j.Name
		if name == "" {
			name = strconv.Itoa(i)
		}
		rows = append(rows, []string{name, decimal(j.Release), strconv.Itoa(j.Gang()), decimal(duration),
			strconv.FormatFloat(j.Weight, 'g', -1, 64), j.User, j.Group})
	}
	return output.NewCSV(w).WriteAll(rows)
}

// anyPlacement puts a job of one stage on the servers in order.
func anyPlacement(in *sched.Instance, j *sched.Job) *sched.Placement {
	p, left := &sched.Placement{}, j.Gang()
	for s := range in.Cluster.Servers {
		if take := min(left, in.Cluster.Servers[s].GPUs); take > 0 {
			p.Shares = append(p.Shares, sched.Share{Server: s, GPUs: take})
			left -= take
		}
	}
	return p
}
