package pai

import (
	"fmt"

	"yardstick/datasets"
	"yardstick/datasets/importer"
)

// Column is a column of the simulator's job lists.
type Column struct {
	Names    []string // the first that is there counts
	Required bool
	Meaning  string
}

// JobColumns lists the columns that ImportJobs reads; it passes over others,
// such as the estimates user_dur, user_gpu_dur, group_dur and group_gpu_dur.
func JobColumns() []Column {
	return []Column{
		{[]string{"job_id", "job_name", "jobid"}, true, "identifier"},
		{[]string{"submit_time"}, true, "submission, in seconds"},
		{[]string{"duration"}, true, "running time, in seconds"},
		{[]string{"num_gpu", "num_gpus"}, false, "GPUs of an instance, as a decimal number; plan_gpu in percent where it is missing"},
		{[]string{"plan_gpu"}, false, "GPUs of an instance, in percent"},
		{[]string{"num_cpu", "num_cpus"}, false, "CPU cores of an instance; plan_cpu in percent where it is missing"},
		{[]string{"plan_cpu"}, false, "CPU cores of an instance, in percent"},
		{[]string{"num_inst", "inst_num"}, false, "instances, which start together; 1 where it is missing"},
		{[]string{"wait_time"}, false, "queueing time, in seconds"},
		{[]string{"gpu_type"}, false, "type of GPU; CPU where none is asked for"},
		{[]string{"user"}, false, "user"},
		{[]string{"group"}, false, "group"},
		{[]string{"status"}, false, "how the job ended"},
		{[]string{"workload", "model_name"}, false, "what was trained"},
	}
}

// ImportJobs converts a job list of the trace's simulator
// (pai_job_no_estimate_100K.csv, pai_job_duration_estimate_100K.csv or one with
// the columns of JobColumns), which may be compressed or in an archive, into a
// Parquet file. A job asks for num_inst · num_gpu GPUs: the simulator places
// that many instances at once, each with so many GPUs. Rows keep their order.
//
// Errors name the file, the line and the column: a required column is missing,
// a field that is neither empty nor a number, a negative number, no identifier.
func ImportJobs(in, out string, o Options) (*importer.Report, error) {
	o.fill()
	r, err := convert(in, out, o)
	if err != nil {
		return nil, fmt.Errorf("pai: %w", err)
	}
	return r, nil
}

func convert(in, out string, o Options) (*importer.Report, error) {
	rules, err := importer.Choose(JobRules(), o.Rules)
	if err != nil {
		return nil, err
	}
	f, err := open(in, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &importer.Report{}
	return r, importer.Write(out, importer.Keep(importer.Records(f.CSV, f.row), rules, r, importer.Itself), r, o.Watch)
}

// file is an open job list and where its columns are.
type file struct {
	*importer.CSV
	options                                                Options
	id, submit, runs, gpus, planGPU, cpus, planCPU, number int
	wait, kind, user, group, status, model                 int
}

func open(in string, o Options) (*file, error) {
	csv, err := importer.OpenCSV(in, importer.CSVOptions{Member: o.Member, Watch: o.Watch, Nulls: []string{"nan", "None"}})
	if err != nil {
		return nil, err
	}
	f := &file{CSV: csv, options: o}
	places := []*int{&f.id, &f.submit, &f.runs, &f.gpus, &f.planGPU, &f.cpus, &f.planCPU, &f.number, &f.wait, &f.kind, &f.user, &f.group, &f.status, &f.model}
	for i, c := range JobColumns() {
		if *places[i], err = csv.Column(c.Names...); err != nil && c.Required {
			csv.Close()
			return nil, err
		}
	}
	if f.gpus < 0 && f.planGPU < 0 {
		csv.Close()
		_, err := csv.Column("num_gpu", "plan_gpu")
		return nil, err
	}
	return f, nil
}

// row converts the current record.
func (f *file) row(row *datasets.Row) error {
	*row = datasets.Row{Trace: f.options.Trace, JobID: f.Text(f.id), User: f.Label(f.user), Group: f.Label(f.group),
		Status: f.Label(f.status), Model: f.Label(f.model), GPUType: f.Label(f.kind)}
	if row.JobID == "" {
		return f.Errorf(f.id, "is empty")
	}
	if row.GPUType.V == "CPU" {
		row.GPUType = datasets.Opt[string]{}
	}
	var err error
	if row.SubmitS, err = f.Quantity(f.submit); err != nil {
		return err
	}
	if row.DurationS, err = f.Finite(f.runs); err != nil {
		return err
	}
	if row.QueueS, err = f.Finite(f.wait); err != nil {
		return err
	}
	instances, err := f.Quantity(f.number)
	if err != nil {
		return err
	}
	if !instances.OK {
		instances.V = 1
	}
	if row.GPUs, err = f.demand(f.gpus, f.planGPU, instances.V); err != nil {
		return err
	}
	row.CPUs, err = f.demand(f.cpus, f.planCPU, instances.V)
	return err
}

// demand returns n times a column, or n/100 times the plan where the column is
// missing.
func (f *file) demand(amount, plan int, n float64) (datasets.Opt[float64], error) {
	if amount >= 0 {
		v, err := f.Quantity(amount)
		v.V *= n
		return v, err
	}
	v, err := f.Quantity(plan)
	v.V *= n
	return percent(v), err
}
