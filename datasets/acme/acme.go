// Package acme imports the Acme traces into the unified trace schema: the files
// trace_seren.csv and trace_kalos.csv of the two clusters.
//
// The traces are described in Hu et al., "Characterization of Large Language
// Model Development in the Datacenter", NSDI 2024.
package acme

import (
	"fmt"

	"yardstick/datasets"
	"yardstick/datasets/importer"
)

// The cleaning rules.
const (
	RuleGPUOnly         = "gpu-only"
	RulePublishedLength = "published-duration"
	RuleCompleted       = "completed"
	RuleMergeFailed     = "merge-failed"
)

// Options say how a trace is imported. The zero value is a good one.
type Options struct {
	Trace  string         // name of the trace in the file written; "" stands for acme
	Member string         // which file of an archive; see importer.Open
	Watch  importer.Watch // follows the import
	Rules  []string       // cleaning rules by name; nil stands for the default ones
	Clock  importer.Clock // reads dates without a zone; the published ones have one
}

// Job is a job that the rules judge.
type Job struct {
	datasets.Row
	Published datasets.Opt[float64] // the column duration, in seconds
}

func (j *Job) row() *datasets.Row { return &j.Row }

// Rules lists the cleaning rules, in the order of application.
func Rules() []importer.Rule[*Job] {
	return []importer.Rule[*Job]{
		{Name: RuleGPUOnly, Doc: "drops jobs that ask for no GPU", Default: true,
			Drops: func(j *Job) bool { return j.GPUs.V == 0 }},
		{Name: RulePublishedLength, Doc: "takes the column duration, which for Kalos includes the queueing time, instead of end_time - start_time",
			Changes: func(j *Job) { j.DurationS = j.Published }},
		importer.Lift(importer.NegativeTime(), (*Job).row),
		importer.Lift(importer.NoDuration(), (*Job).row),
		{Name: RuleCompleted, Doc: "drops jobs whose state is not COMPLETED",
			Drops: func(j *Job) bool { return j.Status.V != "COMPLETED" }},
		{Name: RuleMergeFailed, Doc: "counts TIMEOUT and NODE_FAIL as FAILED (NSDI'24)",
			Changes: func(j *Job) {
				if j.Status.V == "TIMEOUT" || j.Status.V == "NODE_FAIL" {
					j.Status.V = "FAILED"
				}
			}},
	}
}

// Import converts trace_seren.csv or trace_kalos.csv, which may be compressed
// or in an archive, into a Parquet file. Of the columns
//
//	job_id,user,node_num,gpu_num,cpu_num,(mem_per_pod_GB,shared_mem_per_pod,)type,state,
//	submit_time,start_time,end_time,(fail_time,stop_time,)duration,queue,gpu_time
//
// (in parentheses: Kalos only) it keeps job_id, user, gpu_num, cpu_num, state,
// submit_time and queue, and type, the kind of work, as model. The running time is end_time − start_time, or the column
// duration where one of the two is missing: in Kalos, the column counts from
// the submission, against its description. Rows keep their order. Times are in
// seconds; submit_s counts from the earliest submission kept.
//
// Errors name the file, the line and the column: a required column is missing,
// a field that is neither empty nor a number or a date, a negative demand.
func Import(in, out string, o Options) (*importer.Report, error) {
	r, err := convert(in, out, o)
	if err != nil {
		return nil, fmt.Errorf("acme: %w", err)
	}
	return r, nil
}

func convert(in, out string, o Options) (*importer.Report, error) {
	if o.Trace == "" {
		o.Trace = "acme"
	}
	rules, err := importer.Choose(Rules(), o.Rules)
	if err != nil {
		return nil, err
	}
	f := file{options: o}
	columns := map[*int]string{&f.id: "job_id", &f.user: "?user", &f.gpus: "gpu_num", &f.cpus: "?cpu_num", &f.kind: "?type",
		&f.state: "?state", &f.submit: "submit_time", &f.start: "start_time", &f.end: "end_time", &f.length: "duration", &f.queued: "?queue"}
	if f.CSV, err = importer.OpenCSV(in, importer.CSVOptions{Member: o.Member, Watch: o.Watch, Nulls: []string{"None", "nan", "NaT"}, Columns: columns}); err != nil {
		return nil, err
	}
	defer f.Close()
	r := &importer.Report{Calendar: true}
	return r, importer.Write(out, importer.Keep(importer.Records(f.CSV, f.job), rules, r, (*Job).row), r, o.Watch)
}

// file is an open trace and where its columns are.
type file struct {
	*importer.CSV
	options                                                       Options
	id, user, gpus, cpus, kind, state, submit, start, end, length int
	queued                                                        int
}

// job converts the current record; times are dates in seconds since 1970.
func (f *file) job(j *Job) error {
	*j = Job{Row: datasets.Row{Trace: f.options.Trace, JobID: f.Text(f.id), User: f.Label(f.user), Model: f.Label(f.kind), Status: f.Label(f.state)}}
	if j.JobID == "" {
		return f.Errorf(f.id, "is empty")
	}
	var times [3]datasets.Opt[int64]
	for i, column := range [...]int{f.submit, f.start, f.end} {
		var err error
		if times[i], err = f.Time(column, f.options.Clock); err != nil {
			return err
		}
	}
	submit, start, end := times[0], times[1], times[2]
	j.SubmitS = datasets.Opt[float64]{V: importer.Seconds(submit.V), OK: submit.OK}
	var err error
	if j.Published, err = f.Finite(f.length); err != nil {
		return err
	}
	j.DurationS = j.Published
	if start.OK && end.OK {
		j.DurationS = datasets.Some(importer.Seconds(end.V - start.V))
	}
	if j.QueueS, err = f.Finite(f.queued); err != nil {
		return err
	}
	if j.GPUs, err = f.Quantity(f.gpus); err != nil {
		return err
	}
	j.CPUs, err = f.Quantity(f.cpus)
	return err
}
