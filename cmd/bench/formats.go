package main

import (
	"fmt"
	"strings"

	"yardstick/datasets/acme"
	"yardstick/datasets/gavel"
	"yardstick/datasets/generic"
	"yardstick/datasets/helios"
	"yardstick/datasets/importer"
	"yardstick/datasets/openb"
	"yardstick/datasets/pai"
	"yardstick/datasets/philly"
	"yardstick/datasets/pollux"
	"yardstick/datasets/tiresias"
)

// importFlags are what the user says about an import.
type importFlags struct {
	trace, member string
	rules         []string
	fields        []string // of the format generic
	unit          string   // of tiresias
	vc            string   // of gavel
	watch         importer.Watch
}

// format is a trace format that can be imported.
type format struct {
	name   string
	doc    string
	inputs int // files that it takes, at most
	rules  func() []string
	run    func(in []string, out string, f importFlags) (*importer.Report, error)
}

// formats lists the import formats. This is the only place where a name
// selects an importer.
func formats() []format {
	return []format{
		{"philly", "philly.csv of Pollux: timestamp,duration,num_gpus,gpu_time,cluster", 1,
			func() []string { return importer.Describe(philly.Rules(philly.Options{})) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				return philly.Import(in[0], out, philly.Options{Trace: f.trace, Watch: f.watch, Member: f.member, Rules: f.rules})
			}},
		{"philly-json", "cluster_job_log of the Philly trace: JSON with attempts", 1,
			func() []string { return importer.Describe(philly.LogRules(philly.Options{})) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				return philly.ImportLog(in[0], out, philly.Options{Trace: f.trace, Watch: f.watch, Member: f.member, Rules: f.rules})
			}},
		{"helios", "cluster_log.csv of Helios", 1,
			func() []string { return importer.Describe(helios.Rules(helios.Options{})) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				return helios.Import(in[0], out, helios.Options{Trace: f.trace, Watch: f.watch, Member: f.member, Rules: f.rules})
			}},
		{"pai", "Alibaba PAI gpu-v2020: pai_job_table pai_task_table [pai_group_tag_table]", 3,
			func() []string { return importer.Describe(pai.Rules()) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				if len(in) < 2 {
					return nil, fmt.Errorf("pai: give the job table and the task table, and the group tag table if there is one")
				}
				tables := pai.Tables{Jobs: in[0], Tasks: in[1]}
				if len(in) > 2 {
					tables.Tags = in[2]
				}
				return pai.Import(tables, out, pai.Options{Trace: f.trace, Watch: f.watch, Rules: f.rules})
			}},
		{"pai-sim", "pai_job_*.csv of the simulator of PAI gpu-v2020", 1,
			func() []string { return importer.Describe(pai.JobRules()) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				return pai.ImportJobs(in[0], out, pai.Options{Trace: f.trace, Watch: f.watch, Member: f.member, Rules: f.rules})
			}},
		{"openb", "openb_pod_list_*.csv of Alibaba gpu-v2023", 1,
			func() []string { return importer.Describe(openb.Rules()) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				return openb.Import(in[0], out, openb.Options{Trace: f.trace, Watch: f.watch, Member: f.member, Rules: f.rules})
			}},
		{"acme", "trace_seren.csv or trace_kalos.csv of Acme", 1,
			func() []string { return importer.Describe(acme.Rules()) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				return acme.Import(in[0], out, acme.Options{Trace: f.trace, Watch: f.watch, Member: f.member, Rules: f.rules})
			}},
		{"pollux", "workload-N.csv of Pollux or Sia", 1,
			func() []string { return importer.Describe(pollux.Rules()) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				return pollux.Import(in[0], out, pollux.Options{Trace: f.trace, Watch: f.watch, Member: f.member, Rules: f.rules})
			}},
		{"gavel", "a trace of Gavel or Shockwave, tab-separated; --vc names its virtual cluster", 1,
			func() []string { return importer.Describe(gavel.Rules()) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				return gavel.Import(in[0], out, gavel.Options{Trace: f.trace, Watch: f.watch, Member: f.member, Rules: f.rules, VC: f.vc})
			}},
		{"tiresias", "CSV of Tiresias: job_id,num_gpu,submit_time,iterations,model_name,duration; --unit ms for Muri's", 1,
			func() []string { return importer.Describe(tiresias.Rules(tiresias.Options{})) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				o := tiresias.Options{Trace: f.trace, Watch: f.watch, Member: f.member, Rules: f.rules}
				if f.unit != "" {
					if err := o.Unit.UnmarshalText([]byte(f.unit)); err != nil {
						return nil, fmt.Errorf("--unit: %w", err)
					}
				}
				return tiresias.Import(in[0], out, o)
			}},
		{"generic", "any CSV or Parquet file; --map submit_s=COLUMN:ms says which column is which", 1,
			func() []string { return importer.Describe(generic.Rules(nil)) },
			func(in []string, out string, f importFlags) (*importer.Report, error) {
				o := generic.Options{Trace: f.trace, Watch: f.watch, Member: f.member, Rules: f.rules}
				for _, text := range f.fields {
					field, err := generic.ParseField(text)
					if err != nil {
						return nil, fmt.Errorf("--map: %w", err)
					}
					o.Fields = append(o.Fields, field)
				}
				return generic.Import(in[0], out, o)
			}},
	}
}

func findFormat(name string) (format, error) {
	var names []string
	for _, f := range formats() {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	return format{}, fmt.Errorf("--format %q is unknown: %s", name, strings.Join(names, ", "))
}

// formatHelp lists the formats for the help of bench dataset import.
func formatHelp() string {
	var b strings.Builder
	for _, f := range formats() {
		fmt.Fprintf(&b, "  %-11s %s\n", f.name, f.doc)
	}
	return b.String()
}
