package pai

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"yardstick/datasets"
	"yardstick/datasets/importer"
)

// Tables are the paths of the trace's tables, each plain, compressed or in the
// published tar.gz archives.
type Tables struct {
	Jobs  string // pai_job_table: job_name,inst_id,user,status,start_time,end_time
	Tasks string // pai_task_table: job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type
	Tags  string // pai_group_tag_table: inst_id,user,gpu_type_spec,group,workload; "" leaves group and model NULL
}

// Import joins the tables, which have no header lines, and writes a Parquet
// file with a row for each row of the job table, in its order. Of a job it
// takes
//
//   - user, status and, as submission, start_time from the job table, in seconds
//     since a moment that is not published, but whose time of day and day of the
//     week, in UTC+8, are those of seconds since 1970;
//   - as queueing time, the time from there to the earliest start of a task, and
//     as running time, that from there to end_time of the job table; a job
//     without a task that started ran from its submission;
//   - the GPU and CPU demand, summed over tasks: inst_num · plan_gpu/100, and
//     inst_num · plan_cpu/100;
//   - as type of GPU, the one assigned to its first task with GPUs;
//   - from the tags, group, and workload as model, found by inst_id.
//
// Times of 0 mean that there is none. Tables that do not fit into memory are
// sorted and joined in temporary files in the folder of out.
//
// Errors name the file, the line and the column: a row with the wrong number of
// fields, a field that is neither empty nor a number, a negative number, a job
// without a name.
func Import(in Tables, out string, o Options) (*importer.Report, error) {
	o.fill()
	r, err := join(in, out, o)
	if err != nil {
		return nil, fmt.Errorf("pai: %w", err)
	}
	return r, nil
}

func join(in Tables, out string, o Options) (*importer.Report, error) {
	rules, err := importer.Choose(Rules(), o.Rules)
	if err != nil {
		return nil, err
	}
	j := joiner{dir: filepath.Dir(out), options: o}
	defer j.close()
	byName, err := j.jobsByName(in)
	if err != nil {
		return nil, err
	}
	tasks := j.sorter()
	if err := j.readTasks(in.Tasks, tasks); err != nil {
		return nil, err
	}
	joined := j.sorter()
	if err := j.joinTasks(byName, tasks, joined); err != nil {
		return nil, err
	}
	byName.Close()
	tasks.Close()
	r := &importer.Report{}
	return r, importer.Write(out, importer.Keep(j.jobs(joined), rules, r, (*Job).row), r, o.Watch)
}

// joiner joins the tables in three steps, each a merge of two sorted ones:
//
//	jobs by inst_id  ⋈ tags by inst_id   ──> tagged jobs
//	tagged jobs by job_name ⋈ tasks by job_name ──> whole jobs
//	whole jobs by their number in the job table
type joiner struct {
	dir     string
	options Options
	sorters []*importer.Sorter
	value   importer.Pack
}

func (j *joiner) sorter() *importer.Sorter {
	s := importer.NewSorter(j.dir, j.options.SortBytes)
	j.sorters = append(j.sorters, s)
	return s
}

func (j *joiner) close() {
	for _, s := range j.sorters {
		s.Close()
	}
}

// jobsByName reads the jobs and their tags.
func (j *joiner) jobsByName(in Tables) (*importer.Sorter, error) {
	byName := j.sorter()
	if in.Tags == "" {
		return byName, j.readJobs(in.Jobs, func(_, name []byte, job importer.Pack) error {
			return byName.Add(name, job.Text(nil).Text(nil))
		})
	}
	byInstance, tags := j.sorter(), j.sorter()
	var named importer.Pack
	err := j.readJobs(in.Jobs, func(instance, name []byte, job importer.Pack) error {
		named = append(importer.Pack(named[:0]).Text(name), job...)
		return byInstance.Add(instance, named)
	})
	if err != nil {
		return nil, err
	}
	if err := j.readTags(in.Tags, tags); err != nil {
		return nil, err
	}
	err = joinTags(byInstance, tags, byName)
	byInstance.Close()
	tags.Close()
	return byName, err
}

// columns of the tables
func jobColumns() []string {
	return []string{"job_name", "inst_id", "user", "status", "start_time", "end_time"}
}
func taskColumns() []string {
	return []string{"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu", "gpu_type"}
}
func tagColumns() []string {
	return []string{"inst_id", "user", "gpu_type_spec", "group", "workload"}
}

// each calls read for each record of a table.
func (j *joiner) each(path, member string, columns []string, read func(*importer.CSV) error) error {
	csv, err := importer.OpenCSV(path, importer.CSVOptions{Member: member, Watch: j.options.Watch, Header: columns, Nulls: []string{"nan"}})
	if err != nil {
		return err
	}
	defer csv.Close()
	for {
		err := csv.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := read(csv); err != nil {
			return err
		}
	}
}

// readJobs reads the job table. A job is its number, user, status, start and
// end.
func (j *joiner) readJobs(path string, add func(instance, name []byte, job importer.Pack) error) error {
	number := uint64(0)
	return j.each(path, "pai_job_table.csv", jobColumns(), func(c *importer.CSV) error {
		name := c.Bytes(0)
		if len(name) == 0 {
			return c.Errorf(0, "is empty")
		}
		start, err := moment(c, 4)
		if err != nil {
			return err
		}
		end, err := moment(c, 5)
		if err != nil {
			return err
		}
		p := importer.Pack(binary.BigEndian.AppendUint64(j.value[:0], number))
		number++
		j.value = p.Text(c.Bytes(2)).Text(c.Bytes(3)).Number(start).Number(end)
		return add(c.Bytes(1), name, j.value)
	})
}

// moment reads a time; 0 means that there is none.
func moment(c *importer.CSV, i int) (datasets.Opt[float64], error) {
	v, err := c.Quantity(i)
	v.OK = v.V != 0
	return v, err
}

// readTags reads the table of group tags. A tag is a group and a workload.
func (j *joiner) readTags(path string, tags *importer.Sorter) error {
	return j.each(path, "pai_group_tag_table.csv", tagColumns(), func(c *importer.CSV) error {
		j.value = importer.Pack(j.value[:0]).Text(c.Bytes(3)).Text(c.Bytes(4))
		return tags.Add(c.Bytes(0), j.value)
	})
}

// joinTags appends to each job the first tag of its inst_id.
func joinTags(byInstance, tags, byName *importer.Sorter) error {
	var instance, name, job, tag []byte // the first and the last outlive the job: the next one may have the same inst_id
	found, first := false, true
	none := importer.Pack{}.Text(nil).Text(nil)
	return importer.Join(byInstance.Sorted(), tags.Sorted(),
		func(l importer.Record) error {
			u := importer.Unpack(l.Value)
			name = append(name[:0], u.Text()...)
			job = append(job[:0], u...)
			if first || !bytes.Equal(l.Key, instance) {
				instance, tag, found, first = append(instance[:0], l.Key...), append(tag[:0], none...), false, false
			}
			return nil
		},
		func(r importer.Record) error {
			if !found {
				tag, found = append(tag[:0], r.Value...), true
			}
			return nil
		},
		func() error { return byName.Add(name, append(job, tag...)) })
}

// readTasks reads the task table. A task is its name, number of instances,
// start, CPUs and GPUs of an instance in percent, and type of GPU.
func (j *joiner) readTasks(path string, tasks *importer.Sorter) error {
	return j.each(path, "pai_task_table.csv", taskColumns(), func(c *importer.CSV) error {
		start, err := moment(c, 4)
		if err != nil {
			return err
		}
		p := importer.Pack(j.value[:0]).Text(c.Bytes(1)).Text(c.Bytes(9)).Number(start)
		for _, i := range [...]int{2, 6, 8} { // inst_num, plan_cpu, plan_gpu
			v, err := c.Quantity(i)
			if err != nil {
				return err
			}
			p = p.Number(v)
		}
		j.value = p
		return tasks.Add(c.Bytes(0), p)
	})
}

// joinTasks makes whole jobs. A whole job is the job and its tag as they were,
// and then its name, whether it is a duplicate, the number of tasks and
// instances, the earliest start, the demand for CPUs and GPUs, and the name,
// plan and type of GPU of a task.
func (j *joiner) joinTasks(byName, tasks, joined *importer.Sorter) error {
	var name, job, before []byte
	var sum tally
	first := true
	return importer.Join(byName.Sorted(), tasks.Sorted(),
		func(l importer.Record) error {
			before, name = name, append(before[:0], l.Key...)
			job = append(job[:0], l.Value...)
			sum.reset()
			return nil
		},
		func(r importer.Record) error {
			sum.add(importer.Unpack(r.Value))
			return nil
		},
		func() error {
			duplicate := datasets.Opt[float64]{OK: !first && string(name) == string(before)}
			first = false
			p := importer.Pack(append(j.value[:0], job[8:]...)).Text(name).Number(duplicate)
			j.value = sum.pack(p)
			return joined.Add(job[:8], j.value)
		})
}

// tally adds up the tasks of a job.
type tally struct {
	tasks, instances  float64
	start, cpus, gpus datasets.Opt[float64]
	task, kind        []byte // name and type of GPU of the first task, or the first with GPUs
	plan              float64
}

func (t *tally) reset() { *t = tally{task: t.task[:0], kind: t.kind[:0]} }

// add adds a task. The number of instances is 1 where the table does not say.
func (t *tally) add(u importer.Unpack) {
	name, kind := u.Text(), u.Text()
	start, instances, cpu, gpu := u.Number(), u.Number(), u.Number(), u.Number()
	if !instances.OK {
		instances.V = 1
	}
	if start.OK && (!t.start.OK || start.V < t.start.V) {
		t.start = start
	}
	if t.tasks == 0 || t.plan == 0 && gpu.V > 0 {
		t.task, t.kind, t.plan = append(t.task[:0], name...), append(t.kind[:0], kind...), gpu.V
	}
	t.tasks++
	t.instances += instances.V
	t.cpus = plus(t.cpus, instances.V, cpu)
	t.gpus = datasets.Some(t.gpus.V + instances.V*gpu.V)
}

// plus adds n times a plan in percent, if there is one.
func plus(sum datasets.Opt[float64], n float64, plan datasets.Opt[float64]) datasets.Opt[float64] {
	if !plan.OK {
		return sum
	}
	return datasets.Some(sum.V + n*plan.V)
}

func (t *tally) pack(p importer.Pack) importer.Pack {
	return p.Number(datasets.Some(t.tasks)).Number(datasets.Some(t.instances)).Number(t.start).Number(t.cpus).Number(t.gpus).
		Text(t.task).Number(datasets.Some(t.plan)).Text(t.kind)
}

// jobs reads the whole jobs in the order of the job table.
func (j *joiner) jobs(joined *importer.Sorter) iter.Seq2[*Job, error] {
	return func(yield func(*Job, error) bool) {
		var texts importer.Texts
		for record, err := range joined.Sorted() {
			if err != nil {
				yield(nil, err)
				return
			}
			job := unpack(importer.Unpack(record.Value), &texts)
			job.Trace = j.options.Trace
			if !yield(&job, nil) {
				return
			}
		}
	}
}

// unpack reads a whole job.
func unpack(u importer.Unpack, texts *importer.Texts) Job {
	var j Job
	j.User, j.Status = texts.Label(u.Text()), texts.Label(u.Text())
	submit, end := u.Number(), u.Number()
	j.Group, j.Model = texts.Label(u.Text()), texts.Label(u.Text())
	j.JobID = string(u.Text())
	j.Duplicate = u.Number().OK
	j.Tasks, j.Instances = int(u.Number().V), u.Number().V
	start := u.Number()
	j.CPUs, j.GPUs = percent(u.Number()), percent(u.Number())
	j.TaskName = texts.Text(u.Text())
	j.PlanGPU, j.GPUType = u.Number().V, texts.Label(u.Text())
	j.SubmitS = submit
	if submit.OK && start.OK {
		j.QueueS = datasets.Some(start.V - submit.V)
	}
	if !start.OK {
		start = submit
	}
	if start.OK && end.OK {
		j.DurationS = datasets.Some(end.V - start.V)
	}
	return j
}

func percent(v datasets.Opt[float64]) datasets.Opt[float64] {
	v.V /= 100
	return v
}
