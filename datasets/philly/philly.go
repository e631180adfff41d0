// Package philly imports Microsoft's Philly trace into the unified trace
// schema: the cleaned form that was published with Pollux (file philly.csv of
// the AdaptDL repository), and the job log with all scheduling attempts (file
// cluster_job_log).
//
// The trace is described in Jeon et al., "Analysis of Large-Scale Multi-Tenant
// GPU Clusters for DNN Training Workloads", USENIX ATC 2019; the cleaned form
// in Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for
// Goodput-Optimized Deep Learning", OSDI 2021.
package philly

import (
	"fmt"

	"yardstick/datasets"
	"yardstick/datasets/importer"
)

// RuleLucid is a cleaning rule of both forms, beside importer.RuleNoDuration
// and importer.RuleNoGPUs.
const RuleLucid = "lucid"

// Options say how a trace is imported. The zero value is a good one.
type Options struct {
	Trace  string         // name of the trace in the file written; "" stands for philly
	Member string         // which file of an archive; see importer.Open
	Watch  importer.Watch // follows the import
	Rules  []string       // cleaning rules by name; nil stands for the default ones
	Clock  importer.Clock // reads the dates, which are local to the cluster (US Pacific) and say no zone
}

func (o *Options) fill() {
	if o.Trace == "" {
		o.Trace = "philly"
	}
}

// Rules lists the cleaning rules of Import, in the order of application.
func Rules(o Options) []importer.Rule[*datasets.Row] {
	return []importer.Rule[*datasets.Row]{importer.NoDuration(), importer.NoGPUs(), lucid(o)}
}

// lucid is the window of Lucid's simulations.
func lucid(o Options) importer.Rule[*datasets.Row] {
	return importer.Between(RuleLucid, "keeps 2017-10-01 00:00 to 2017-10-07 23:59, which Lucid simulates", o.Clock, "2017-10-01 00:00:00", "2017-10-07 23:59:01")
}

// Import converts a CSV file with the columns timestamp, duration, num_gpus and
// cluster, which may be compressed or in an archive, into a Parquet file. The
// column gpu_time, which is duration times num_gpus, is not kept. Rows keep
// their order, which is not that of time; job_id is the row's number.
//
// Errors name the file, and where they can the line and column: a missing
// column, a timestamp or number that is none, a negative number.
func Import(in, out string, o Options) (*importer.Report, error) {
	o.fill()
	r, err := convert(in, out, o)
	if err != nil {
		return nil, fmt.Errorf("philly: %w", err)
	}
	return r, nil
}

func convert(in, out string, o Options) (*importer.Report, error) {
	rules, err := importer.Choose(Rules(o), o.Rules)
	if err != nil {
		return nil, err
	}
	f := file{options: o}
	columns := map[*int]string{&f.timestamp: "timestamp", &f.duration: "duration", &f.gpus: "num_gpus", &f.cluster: "cluster"}
	if f.CSV, err = importer.OpenCSV(in, importer.CSVOptions{Member: o.Member, Watch: o.Watch, Columns: columns}); err != nil {
		return nil, err
	}
	defer f.Close()
	r := &importer.Report{Calendar: true}
	return r, importer.Write(out, importer.Keep(importer.Records(f.CSV, f.row), rules, r, importer.Itself), r, o.Watch)
}

// file is an open philly.csv and where its columns are.
type file struct {
	*importer.CSV
	options                            Options
	timestamp, duration, gpus, cluster int
}

// row converts the current record; times are dates in seconds since 1970.
func (f *file) row(row *datasets.Row) error {
	*row = datasets.Row{Trace: f.options.Trace, JobID: f.RecordID(), VC: f.Label(f.cluster)}
	t, err := f.Time(f.timestamp, f.options.Clock)
	if err != nil {
		return err
	}
	if !t.OK {
		return f.Errorf(f.timestamp, "is empty")
	}
	row.SubmitS = datasets.Some(importer.Seconds(t.V))
	if row.DurationS, err = f.Quantity(f.duration); err != nil {
		return err
	}
	row.GPUs, err = f.Quantity(f.gpus)
	return err
}
