package logs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"yardstick/datasets/joblist"
	"yardstick/datasets/table"
)

// column makes a Column of "field=name|name:unit".
func columns(texts ...string) (list []Column) {
	for _, t := range texts {
		c, err := ParseColumn(t)
		if err != nil {
			panic("logs: " + err.Error()) // a mistake in the table below
		}
		list = append(list, c)
	}
	return list
}

// Generic is any table with column names that say what they are. What lists of jobs have
// too has the names that they have there.
func Generic() *Format {
	list := joblist.Defaults()
	return &Format{Name: "table", What: "CSV, Parquet, Arrow or JSON with columns named after what they hold", columns: append([]Column{
		{Field: "job", Names: list.ID}, {Field: "submit", Names: list.Submit}, {Field: "duration", Names: list.Duration}, {Field: "gpus", Names: list.GPUs},
		{Field: "weight", Names: list.Weight}, {Field: "user", Names: list.User}}, columns(
		"start=start|start_s|start_time|begin",
		"end=end|end_s|end_time|finish|finish_s|finish_time|completion|completion_time",
		"queue=queue_s|queue", "status=status|state", "gpu_type=gpu_type", "place=place|placement")...)}
}

// Formats lists all formats, in order of name. The least numbers of jobs are those that the
// logs' publications state for GPU jobs; lists of the gpu-v2023 trace that other mixes were
// drawn for have some more or less.
func Formats() []*Format {
	return []*Format{
		{Name: "accasim", What: "dispatching plan of AccaSim (sched-WORKLOAD), a core being a GPU", read: readAccasim},
		{Name: "acme", What: "job logs of Acme (Seren, Kalos)", published: 19_907, columns: columns("job=job_id", "user=user", "status=state", "gpus=gpu_num",
			"submit=submit_time:date", "start=start_time:date", "end=end_time:date")},
		{Name: "batsim", What: "jobs.csv of Batsim, a resource being a GPU", columns: columns("job=job_id", "submit=submission_time:s", "start=starting_time:s",
			"end=finish_time:s", "gpus=requested_number_of_resources", "status=final_state"), fix: batsimJob},
		{Name: "blox", What: "job statistics of Blox: a JSON object of submit and end per job", read: readBlox},
		{Name: "dlrm2025", What: "instances of Alibaba's gpu-v2025 trace (disaggregated DLRM)", published: 15_000, numbered: true, columns: columns("job=instance_sn", "gpus=gpu_request",
			"submit=creation_time:s", "start=scheduled_time:s", "end=deletion_time:s")},
		{Name: "gavel", What: "log of Gavel's scheduler, whose micro-tasks are intervals", read: readGavel},
		{Name: "helios", What: "cluster_log.csv of Helios", published: 125_214, columns: columns("job=job_id", "user=user", "status=state", "gpus=gpu_num",
			"submit=submit_time:date", "start=start_time:date", "end=end_time:date")},
		{Name: "kueue", What: "pods as exported from Kueue or Volcano, a pod being a job", columns: columns("job=podName", "submit=createTs", "start=scheduleTs", "end=finishTs", "gpus=gpus")},
		{Name: "lucid", What: "job log of the simulators of Lucid and Helios", columns: columns("job=job_id", "user=user", "status=state", "gpus=gpu_num",
			"submit=submit_time:s", "start=start_time:s", "end=end_time:s"), fix: lucidJob},
		{Name: "openb", What: "pods of Alibaba's gpu-v2023 trace", published: 7_000, numbered: true, columns: columns("job=name", "gpus=num_gpu", "gpu_type=gpu_spec", "status=pod_phase",
			"submit=creation_time:s", "start=scheduled_time:s", "end=deletion_time:s"), fix: openbPod},
		{Name: "philly", What: "JSON job log of Philly, with attempts and their GPUs", published: 117_325, read: readPhilly},
		{Name: "pollux", What: "log of the simulators of Pollux and Sia", read: readPollux},
		{Name: "sacct", What: "sacct -P of Slurm, with JobID, Eligible, Start, End, State and AllocTRES", comma: '|', nulls: []string{"Unknown", "None"}, columns: columns(
			"job=JobIDRaw|JobID", "user=User", "status=State", "submit=Eligible|Submit:date", "start=Start:date", "end=End:date"), fix: slurmJob},
		{Name: "swf", What: "Standard Workload Format, a processor being a GPU", blanks: true, header: swfFields(), nulls: []string{"-1"}, columns: columns(
			"job=job", "submit=submit:s", "queue=wait:s", "duration=run:s", "gpus=processors", "status=status", "user=user"), fix: func(_ *Log, r *Row, _ func(string) string) (bool, error) {
			if name, ok := map[string]string{"0": "FAILED", "1": "COMPLETED", "5": "CANCELLED"}[r.Status]; ok {
				r.Status = name
			}
			return true, nil
		}},
		Generic(),
		{Name: "tiresias", What: "job.csv of Tiresias' simulator", columns: columns("job=job_id", "gpus=num_gpu", "submit=submit_time:s", "start=start_time:s",
			"end=end_time:s"), fix: func(l *Log, r *Row, get func(string) string) (bool, error) {
			l.Hidden = l.Hidden || !slices.Contains([]string{"", "0"}, get("preempt"))
			return true, nil
		}},
	}
}

// Find returns the format of a name.
func Find(name string) (*Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("format %q is unknown: the nearest is %q (formats are %s)", name, table.Nearest(name, names), strings.Join(names, ", "))
}

// swfFields are the 18 fields of a line.
//
// Source: D. G. Feitelson, D. Tsafrir, D. Krakov, Experience with using the Parallel
// Workloads Archive (2014), and the archive's page on the format.
func swfFields() []string {
	return []string{"job", "submit", "wait", "run", "processors", "cpu", "memory", "requested_processors", "requested_time", "requested_memory",
		"status", "user", "group", "executable", "queue", "partition", "preceding", "think"}
}

// batsimJob reads which resources a job had: intervals of their numbers, such as 0-3 5.
func batsimJob(_ *Log, r *Row, get func(string) string) (bool, error) {
	if workload := get("workload_name"); workload != "" {
		r.Job = workload + "!" + r.Job // as Batsim names jobs itself
	}
	list := get("allocated_resources")
	if list == "" {
		return true, nil
	}
	spot := Spot{Server: "0"}
	for _, part := range strings.FieldsFunc(list, func(c rune) bool { return c == ' ' || c == ',' }) {
		low, high, ranged := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		last := first
		if err == nil && ranged {
			last, err = strconv.Atoi(high)
		}
		if err != nil || last < first || last-first > 1e6 {
			return false, fmt.Errorf("allocated_resources %.40q are no numbers such as 0-3 5", list)
		}
		for d := first; d <= last; d++ {
			spot.Devices = append(spot.Devices, d)
		}
	}
	slices.Sort(spot.Devices)
	spot.GPUs = len(spot.Devices)
	r.Place = []Spot{spot}
	return true, nil
}

// lucidJob notes whether jobs were stopped. One that never started has the largest time.
func lucidJob(l *Log, r *Row, get func(string) string) (bool, error) {
	l.Hidden = l.Hidden || !slices.Contains([]string{"", "0"}, get("ckpt_times"))
	if r.Start.V >= 1<<60 || r.End.V >= 1<<60 {
		r.Start, r.End = Time{}, Time{}
	}
	return true, nil
}

// openbPod takes the share of each GPU into account.
func openbPod(_ *Log, r *Row, get func(string) string) (bool, error) {
	share, exact, err := milli.thousandths([]byte(get("gpu_milli")))
	if err != nil || !exact || share < 0 || share > 1000 {
		return false, fmt.Errorf("gpu_milli %.40q is no number from 0 to 1000", get("gpu_milli"))
	}
	r.GPUs = r.GPUs / 1000 * share
	return true, nil
}

// slurmJob leaves out the steps of jobs and reads the GPUs from the trackable resources.
// Jobs that were requeued have a line for each time (sacct --duplicates).
func slurmJob(l *Log, r *Row, get func(string) string) (bool, error) {
	if strings.Contains(r.Job, ".") {
		l.Steps++
		return false, nil
	}
	tres := get("AllocTRES")
	if tres == "" {
		tres = get("ReqTRES")
	}
	r.Status, _, _ = strings.Cut(r.Status, " ") // CANCELLED by 1000
	var typed, plain int64
	for _, item := range strings.FieldsFunc(tres, func(c rune) bool { return c == ',' }) {
		name, count, _ := strings.Cut(item, "=")
		if name != "gres/gpu" && !strings.HasPrefix(name, "gres/gpu:") {
			continue
		}
		n, err := strconv.ParseInt(count, 10, 32)
		if err != nil || n < 0 {
			return false, fmt.Errorf("AllocTRES %.60q has no number of GPUs", tres)
		}
		if kind, ok := strings.CutPrefix(name, "gres/gpu:"); ok {
			typed += n
			r.Type = kind
		} else {
			plain = n
		}
	}
	if r.GPUs = max(plain, typed) * 1000; tres == "" && !r.Start.OK {
		r.GPUs = -1 // it never started, and nobody knows what it asked for
	}
	return true, nil
}
