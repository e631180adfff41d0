// Package tiresias imports job lists in the format of the simulator of
// Tiresias, which others took over, into the unified trace schema.
//
// Source: Gu et al., "Tiresias: A GPU Cluster Manager for Distributed Deep
// Learning", NSDI 2019, and its published simulator; Zhao et al., "Multi-Resource
// Interleaving for Deep Learning Training" (Muri), SIGCOMM 2022; Gao et al.,
// "Chronus: A Novel Deadline-aware Scheduler for Deep Learning Training Jobs",
// SoCC 2021.
package tiresias

import (
	"fmt"

	"yardstick/datasets"
	"yardstick/datasets/generic"
	"yardstick/datasets/importer"
)

// Options say how a file is imported.
type Options struct {
	Trace  string         // name of the trace; "" is tiresias
	Unit   generic.Unit   // of the times; None is seconds. Muri's are in milliseconds, those of Chronus in minutes.
	Member string         // which file of an archive; see importer.Open
	Watch  importer.Watch // follows the import
	Rules  []string       // cleaning rules by name; nil are the default ones
}

func fields(u generic.Unit) []generic.Field {
	return []generic.Field{
		{Column: "job_id", From: []string{"job_id"}},
		{Column: "gpus", From: []string{"num_gpu"}},
		{Column: "submit_s", From: []string{"submit_time"}, Unit: u},
		{Column: "duration_s", From: []string{"duration"}, Unit: u},
		{Column: "iterations", From: []string{"iterations"}, Optional: true},
		{Column: "model", From: []string{"model_name"}, Optional: true},
		{Column: "vc", From: []string{"user"}, Optional: true},
		{Column: "batch_size", From: []string{"batch_size"}, Optional: true},
	}
}

// Rules lists the cleaning rules, in the order of application.
func Rules(o Options) []importer.Rule[*datasets.Row] { return generic.Rules(fields(o.Unit)) }

// Import converts a CSV file with the columns
//
//	job_id,num_gpu,submit_time,iterations,model_name,duration,interval
//
// of which interval, the time between submissions, is not kept, and only the
// first three and duration must be there. Of the columns that others added,
// batch_size (Muri) and user (Chronus, whose users are virtual clusters and
// become the vc) are kept.
//
// Errors name the file, the line and the column.
func Import(in, out string, o Options) (*importer.Report, error) {
	if o.Trace == "" {
		o.Trace = "tiresias"
	}
	if o.Unit == generic.Date {
		return nil, fmt.Errorf("tiresias: the times of the format are numbers, not dates")
	}
	r, err := generic.Convert(in, out, generic.Options{Trace: o.Trace, Fields: fields(o.Unit), Member: o.Member, Watch: o.Watch, Rules: o.Rules})
	if err != nil {
		return nil, fmt.Errorf("tiresias: %w", err)
	}
	return r, nil
}
