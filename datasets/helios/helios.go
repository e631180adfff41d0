// Package helios imports the Helios traces into the unified trace schema: the
// file cluster_log.csv of one of the four clusters Earth, Saturn, Uranus and
// Venus, alone or within the published data.zip.
//
// The traces are described in Hu et al., "Characterization and Prediction of
// Deep Learning Workloads in Large-Scale GPU Datacenters", SC 2021.
package helios

import (
	"fmt"

	"yardstick/datasets"
	"yardstick/datasets/importer"
)

// The cleaning rules.
const (
	RuleGPUOnly     = "gpu-only"
	RuleSinceApril  = "since-2020-04-01"
	RuleLucid       = "lucid"
	RuleCompleted   = "completed"
	RuleMergeFailed = "merge-failed"
)

// Options say how a trace is imported. The zero value is a good one.
type Options struct {
	Trace  string         // name of the trace in the file written; "" stands for helios
	Member string         // which file of an archive; "" stands for its cluster_log.csv, if it is the only one
	Watch  importer.Watch // follows the import
	Rules  []string       // cleaning rules by name; nil stands for the default ones
	Clock  importer.Clock // reads the dates, which say no zone
}

// Rules lists the cleaning rules, in the order of application.
func Rules(o Options) []importer.Rule[*datasets.Row] {
	return []importer.Rule[*datasets.Row]{
		{Name: RuleGPUOnly, Doc: "drops jobs that ask for no GPU (SC'21, Lucid)", Default: true,
			Drops: func(r *datasets.Row) bool { return r.GPUs.V == 0 }},
		importer.NegativeTime(),
		importer.NoDuration(),
		importer.Between(RuleSinceApril, "drops jobs submitted before 2020-04-01 (SC'21)", o.Clock, "2020-04-01 00:00:00", "2199-12-31 23:59:59"),
		importer.Between(RuleLucid, "keeps 2020-09-01 00:00 to 2020-09-26 23:59, which Lucid simulates", o.Clock, "2020-09-01 00:00:00", "2020-09-26 23:59:01"),
		{Name: RuleCompleted, Doc: "drops jobs whose state is not COMPLETED",
			Drops: func(r *datasets.Row) bool { return r.Status.V != "COMPLETED" }},
		{Name: RuleMergeFailed, Doc: "counts TIMEOUT and NODE_FAIL as FAILED (SC'21)",
			Changes: func(r *datasets.Row) {
				if r.Status.V == "TIMEOUT" || r.Status.V == "NODE_FAIL" {
					r.Status.V = "FAILED"
				}
			}},
	}
}

// Import converts cluster_log.csv, which may be compressed or in an archive,
// into a Parquet file. It has the columns
//
//	job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
//
// of which job_id, gpu_num, submit_time and duration must be there; node_num,
// start_time and end_time are not kept. Rows keep their order. Times are in
// seconds; submit_s counts from the earliest submission kept.
//
// Errors name the file, the line and the column: a required column is missing,
// a field that is neither empty nor a number or a date, a negative demand.
func Import(in, out string, o Options) (*importer.Report, error) {
	r, err := convert(in, out, o)
	if err != nil {
		return nil, fmt.Errorf("helios: %w", err)
	}
	return r, nil
}

func convert(in, out string, o Options) (*importer.Report, error) {
	if o.Trace == "" {
		o.Trace = "helios"
	}
	if o.Member == "" {
		o.Member = "cluster_log.csv"
	}
	rules, err := importer.Choose(Rules(o), o.Rules)
	if err != nil {
		return nil, err
	}
	// What Slurm and pandas write where there is no value.
	nulls := []string{"None", "Unknown", "nan", "NaT"}
	f := file{options: o}
	columns := map[*int]string{&f.id: "job_id", &f.user: "?user", &f.vc: "?vc", &f.gpus: "gpu_num", &f.cpus: "?cpu_num",
		&f.state: "?state", &f.submit: "submit_time", &f.runs: "duration", &f.queued: "?queue"}
	if f.CSV, err = importer.OpenCSV(in, importer.CSVOptions{Member: o.Member, Watch: o.Watch, Nulls: nulls, Columns: columns}); err != nil {
		return nil, err
	}
	defer f.Close()
	r := &importer.Report{Calendar: true}
	return r, importer.Write(out, importer.Keep(importer.Records(f.CSV, f.row), rules, r, importer.Itself), r, o.Watch)
}

// file is an open cluster_log.csv and where its columns are.
type file struct {
	*importer.CSV
	options                                               Options
	id, user, vc, gpus, cpus, state, submit, runs, queued int
}

// row converts the current record; times are dates in seconds since 1970.
func (f *file) row(row *datasets.Row) error {
	*row = datasets.Row{Trace: f.options.Trace, JobID: f.Text(f.id), User: f.Label(f.user), VC: f.Label(f.vc), Status: f.Label(f.state)}
	if row.JobID == "" {
		return f.Errorf(f.id, "is empty")
	}
	submit, err := f.Time(f.submit, f.options.Clock)
	if err != nil {
		return err
	}
	row.SubmitS = datasets.Opt[float64]{V: importer.Seconds(submit.V), OK: submit.OK}
	if row.DurationS, err = f.Finite(f.runs); err != nil {
		return err
	}
	if row.QueueS, err = f.Finite(f.queued); err != nil {
		return err
	}
	if row.GPUs, err = f.Quantity(f.gpus); err != nil {
		return err
	}
	row.CPUs, err = f.Quantity(f.cpus)
	return err
}
