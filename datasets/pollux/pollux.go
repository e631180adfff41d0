// Package pollux imports the workloads that Pollux and Sia were evaluated on
// into the unified trace schema.
//
// Source: Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for
// Goodput-Optimized Deep Learning", OSDI 2021; Jayaram Subramanya et al., "Sia:
// Heterogeneity-aware, Goodput-optimized ML-cluster Scheduling", SOSP 2023.
package pollux

import (
	"fmt"

	"yardstick/datasets"
	"yardstick/datasets/generic"
	"yardstick/datasets/importer"
)

// Options say how a file is imported.
type Options struct {
	Trace  string         // name of the trace; "" is pollux
	Member string         // which file of an archive; see importer.Open
	Watch  importer.Watch // follows the import
	Rules  []string       // cleaning rules by name; nil are the default ones
}

func fields() []generic.Field {
	return []generic.Field{
		{Column: "job_id", From: []string{"name"}},
		{Column: "submit_s", From: []string{"time"}},
		{Column: "model", From: []string{"application"}},
		{Column: "gpus", From: []string{"num_replicas", "num_gpus"}},
		{Column: "batch_size", From: []string{"batch_size"}},
	}
}

// Rules lists the cleaning rules, in the order of application. None is about
// durations, which the files do not have.
func Rules() []importer.Rule[*datasets.Row] { return generic.Rules(fields()) }

// Import converts a file workload-N.csv with the columns
//
//	name,time,application,num_replicas,batch_size
//
// (num_gpus in place of num_replicas in some). The application becomes the
// model; duration_s and iterations are NULL, because the jobs run until their
// model has converged.
//
// Errors name the file, the line and the column.
func Import(in, out string, o Options) (*importer.Report, error) {
	if o.Trace == "" {
		o.Trace = "pollux"
	}
	r, err := generic.Convert(in, out, generic.Options{Trace: o.Trace, Fields: fields(), Member: o.Member, Watch: o.Watch, Rules: o.Rules})
	if err != nil {
		return nil, fmt.Errorf("pollux: %w", err)
	}
	return r, nil
}
