// Package openb imports the pods of Alibaba's cluster trace gpu-v2023
// (openb_pod_list*.csv) into the unified trace schema.
//
// Source: Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing
// Workloads with Fragmentation Gradient Descent", USENIX ATC 2023, and its
// published traces.
package openb

import (
	"fmt"
	"unicode/utf8"

	"yardstick/datasets"
	"yardstick/datasets/importer"
)

// The cleaning rules of this format.
const (
	RuleFinished  = "finished"
	RuleSucceeded = "succeeded"
	RuleWholeGPUs = "whole-gpus"
)

// Options say how a file is imported.
type Options struct {
	Trace  string         // name of the trace; "" is openb
	Member string         // which file of an archive; see importer.Open
	Watch  importer.Watch // follows the import
	Rules  []string       // cleaning rules by name; nil are the default ones
}

// Rules lists the cleaning rules, in the order of application. A list without
// times (openb_pod_list_multigpu*.csv) is not subject to the default rules on
// time.
func Rules() []importer.Rule[*datasets.Row] { return rules(true) }

func rules(timed bool) []importer.Rule[*datasets.Row] {
	negative, noDuration := importer.NegativeTime(), importer.NoDuration()
	noDuration.Doc += ": pods that were never scheduled"
	noDuration.Default = timed
	return []importer.Rule[*datasets.Row]{
		negative, noDuration, importer.NoGPUs(),
		{Name: RuleFinished, Doc: "drops pods still running or waiting when the trace ends: the deletion of the former is the trace's end",
			Drops: func(r *datasets.Row) bool { return r.Status.V == "Running" || r.Status.V == "Pending" }},
		{Name: RuleSucceeded, Doc: "drops pods whose phase is not Succeeded",
			Drops: func(r *datasets.Row) bool { return r.Status.V != "Succeeded" }},
		{Name: RuleWholeGPUs, Doc: "drops pods that ask for a share of a GPU",
			Drops: func(r *datasets.Row) bool { return r.GPUs.OK && r.GPUs.V > 0 && r.GPUs.V < 1 }},
	}
}

// Import converts a list of pods. The columns are
//
//	name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
//
// and the last six may be missing together. gpus is num_gpu·gpu_milli/1000,
// where gpu_milli is the share of each GPU; gpu_spec, the admissible types with
// "|" between them, becomes gpu_type, and pod_phase the status. Submission is
// creation, the start is scheduling and the end is deletion; a pod that was
// never scheduled has no duration. memory_mib and qos are not kept.
//
// Errors name the file, the line and the column.
func Import(in, out string, o Options) (*importer.Report, error) {
	r, err := convert(in, out, o)
	if err != nil {
		return nil, fmt.Errorf("openb: %w", err)
	}
	return r, nil
}

func convert(in, out string, o Options) (*importer.Report, error) {
	if o.Trace == "" {
		o.Trace = "openb"
	}
	f, err := open(in, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	chosen, err := importer.Choose(rules(f.creation >= 0), o.Rules)
	if err != nil {
		return nil, err
	}
	r := &importer.Report{}
	return r, importer.Write(out, importer.Keep(importer.Records(f.CSV, f.row), chosen, r, importer.Itself), r, o.Watch)
}

// file is an open list and where its columns are; -1 where there is none.
type file struct {
	*importer.CSV
	trace                                                             string
	name, cpu, gpus, milli, spec, phase, creation, deletion, schedule int
}

func open(in string, o Options) (*file, error) {
	csv, err := importer.OpenCSV(in, importer.CSVOptions{Member: o.Member, Watch: o.Watch})
	if err != nil {
		return nil, err
	}
	f := &file{CSV: csv, trace: o.Trace}
	optional := "?"
	if csv.Optional("creation_time", "deletion_time", "scheduled_time") >= 0 {
		optional = "" // all three, or none
	}
	err = csv.Columns(map[*int]string{&f.name: "name", &f.cpu: "?cpu_milli", &f.gpus: "num_gpu", &f.milli: "gpu_milli", &f.spec: "?gpu_spec",
		&f.phase: "?pod_phase", &f.creation: optional + "creation_time", &f.deletion: optional + "deletion_time", &f.schedule: optional + "scheduled_time"})
	if err != nil {
		csv.Close()
		return nil, err
	}
	return f, nil
}

// row converts the current record.
func (f *file) row(row *datasets.Row) error {
	*row = datasets.Row{Trace: f.trace, JobID: f.Text(f.name), GPUType: f.Label(f.spec), Status: f.Label(f.phase)}
	for _, i := range []int{f.name, f.spec, f.phase} {
		if !utf8.Valid(f.Bytes(i)) {
			return f.Errorf(i, "is not UTF-8 text")
		}
	}
	if row.JobID == "" {
		return f.Errorf(f.name, "is empty")
	}
	var cpu, gpus, milli, scheduled, deleted datasets.Opt[float64]
	for _, c := range []struct {
		at int
		to *datasets.Opt[float64]
	}{{f.cpu, &cpu}, {f.gpus, &gpus}, {f.milli, &milli}, {f.creation, &row.SubmitS}, {f.schedule, &scheduled}, {f.deletion, &deleted}} {
		var err error
		if *c.to, err = f.Quantity(c.at); err != nil {
			return err
		}
	}
	if milli.V > 1000 {
		return f.Errorf(f.milli, "is %v: a GPU has 1000", milli.V)
	}
	if cpu.OK {
		row.CPUs = datasets.Some(cpu.V / 1000)
	}
	if gpus.OK && milli.OK {
		row.GPUs = datasets.Some(gpus.V * milli.V / 1000)
	}
	if row.SubmitS.OK && scheduled.OK {
		row.QueueS = datasets.Some(scheduled.V - row.SubmitS.V)
	}
	if scheduled.OK && deleted.OK {
		row.DurationS = datasets.Some(deleted.V - scheduled.V)
	}
	return nil
}
