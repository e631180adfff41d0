package logs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"yardstick/datasets/importer"
	"yardstick/internal/input"
	"yardstick/internal/strictjson"
)

// readBlox reads {"job": [submit, end], …}, in seconds.
func readBlox(path string, _ importer.Clock) (*Log, error) {
	text, err := input.Read(path)
	if err != nil {
		return nil, err
	}
	var jobs map[string][]json.RawMessage
	if err := strictjson.Unmarshal(text, &jobs); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l := &Log{}
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		times := jobs[name]
		if len(times) < 2 {
			return nil, fmt.Errorf("%s: job %s: has %d times, and needs a submit time and an end", path, name, len(times))
		}
		row := Row{Job: name, GPUs: -1, Weight: 1}
		for i, to := range []*Time{&row.Submit, &row.End} {
			v, exact, err := second.micros(times[i], importer.Clock{})
			if err != nil {
				return nil, fmt.Errorf("%s: job %s: %w", path, name, err)
			}
			*to, l.Rounded = Time{v, true}, l.Rounded || !exact
		}
		l.Rows = append(l.Rows, row)
	}
	if len(l.Rows) == 0 {
		return nil, fmt.Errorf("%s: has no jobs", path)
	}
	return l, nil
}

// readPhilly reads the JSON job log: every attempt that has a start and an end is a row. The
// GPUs of a machine are named gpu0, gpu1, …
func readPhilly(path string, _ importer.Clock) (*Log, error) {
	j, err := importer.OpenJSON(path, "", nil)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	l := &Log{}
	for {
		var job struct {
			JobID     string `json:"jobid"`
			Status    string `json:"status"`
			VC        string `json:"vc"`
			User      string `json:"user"`
			Submitted string `json:"submitted_time"`
			Attempts  []struct {
				Start  string `json:"start_time"`
				End    string `json:"end_time"`
				Detail []struct {
					IP   string   `json:"ip"`
					GPUs []string `json:"gpus"`
				} `json:"detail"`
			} `json:"attempts"`
		}
		err := j.Next(&job)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if job.JobID == "" {
			return nil, j.Errorf("has no jobid: excerpts of the log are samples, whose missing jobs held GPUs")
		}
		common := Row{Job: job.JobID, User: job.User, Status: job.Status, Weight: 1, GPUs: -1}
		if common.Submit, err = phillyTime(job.Submitted); err != nil {
			return nil, j.Errorf("%w", err)
		}
		rows := len(l.Rows)
		for _, a := range job.Attempts {
			row := common
			row.GPUs = 0
			for _, d := range a.Detail {
				spot := Spot{Server: d.IP, GPUs: len(d.GPUs)}
				for _, g := range d.GPUs {
					n, err := strconv.Atoi(strings.TrimPrefix(g, "gpu"))
					if err != nil {
						return nil, j.Errorf("%q is no GPU such as gpu3", g)
					}
					spot.Devices = append(spot.Devices, n)
				}
				slices.Sort(spot.Devices)
				row.GPUs += int64(spot.GPUs) * 1000
				row.Place = append(row.Place, spot)
			}
			if row.Start, err = phillyTime(a.Start); err == nil {
				row.End, err = phillyTime(a.End)
			}
			if err != nil {
				return nil, j.Errorf("%w", err)
			}
			l.Rows = append(l.Rows, row)
		}
		if len(l.Rows) == rows { // never attempted: it is listed all the same
			l.Rows = append(l.Rows, common)
		}
	}
	if len(l.Rows) == 0 {
		return nil, fmt.Errorf("%s: has no jobs", path)
	}
	return l, nil
}

func phillyTime(text string) (Time, error) {
	if text == "" || text == "None" {
		return Time{}, nil
	}
	v, _, err := date.micros([]byte(text), importer.Clock{})
	return Time{v, true}, err
}

// readPollux reads the log of Pollux' or Sia's simulator: an object per interval, with the
// state of all jobs submitted so far. When a job was done is in the last one.
func readPollux(path string, _ importer.Clock) (*Log, error) {
	j, err := importer.OpenJSON(path, "", nil)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	type state struct {
		Name      string          `json:"name"`
		Submitted json.RawMessage `json:"submission_time"`
		Completed json.RawMessage `json:"completion_time"`
	}
	var last struct {
		Jobs []state `json:"submitted_jobs"`
	}
	for {
		next := last
		next.Jobs = nil
		err := j.Next(&next)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		last = next
	}
	l := &Log{Resized: "Pollux and Sia change the number of GPUs of jobs while they run (class M): their ratio needs speeds by number of GPUs, which the log does not have"}
	for _, s := range last.Jobs {
		row := Row{Job: s.Name, GPUs: -1, Weight: 1}
		for i, text := range []json.RawMessage{s.Submitted, s.Completed} {
			if len(text) == 0 || string(text) == "null" {
				continue
			}
			to := []*Time{&row.Submit, &row.End}[i]
			v, exact, err := second.micros(text, importer.Clock{})
			if err != nil {
				return nil, fmt.Errorf("%s: job %s: %w", path, s.Name, err)
			}
			*to, l.Rounded = Time{v, true}, l.Rounded || !exact
		}
		l.Rows = append(l.Rows, row)
	}
	if len(l.Rows) == 0 {
		return nil, fmt.Errorf("%s: has no jobs", path)
	}
	return l, nil
}

// readGavel reads the lines of micro-tasks,
//
//	[time] [Micro-task scheduled]  Job ID: 3  Worker type: v100  Worker ID(s): 0,1  …
//	[time] [Micro-task succeeded]  Job ID: 3  Worker type: v100  Worker ID(s): 0,1
//
// each of which holds its workers from the one line to the other.
func readGavel(path string, _ importer.Clock) (*Log, error) {
	f, err := importer.Open(path, "")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &Log{}
	running := map[string]Row{}
	types := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		n++
		text := lines.Text()
		scheduled, succeeded := strings.Contains(text, "[Micro-task scheduled]"), strings.Contains(text, "[Micro-task succeeded]")
		if !scheduled && !succeeded {
			continue
		}
		now, job, kind, workers, err := gavelLine(text)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		l.Rounded = true // it prints binary fractions
		if strings.HasPrefix(job, "(") {
			l.Resized = "jobs of the log share GPUs in pairs (class S): their ratio needs interference factors, which the log does not have"
		}
		types[kind] = true
		key := job + "/" + fmt.Sprint(workers)
		if scheduled {
			running[key] = Row{Job: job, Start: now, GPUs: int64(len(workers)) * 1000, Weight: 1, Type: kind, Place: []Spot{{Server: "0", GPUs: len(workers), Devices: workers}}}
			continue
		}
		row, ok := running[key]
		if !ok {
			return nil, fmt.Errorf("%s: line %d: a micro-task of job %s succeeds that was not scheduled", path, n, job)
		}
		delete(running, key)
		row.End = now
		l.Rows = append(l.Rows, row)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: damaged after line %d: %w", path, n, err)
	}
	if len(types) > 1 && l.Resized == "" {
		l.Resized = fmt.Sprintf("the log has workers of %d types, on which jobs take different times: its ratio needs lengths by type", len(types))
	}
	if len(l.Rows) == 0 {
		return nil, fmt.Errorf("%s: has no micro-tasks that were scheduled and succeeded", path)
	}
	return l, nil
}

// gavelLine takes a line of a micro-task apart.
func gavelLine(text string) (now Time, job, kind string, workers []int, err error) {
	at, rest, _ := strings.Cut(text, "] [Micro-task")
	at = at[strings.LastIndexByte(at, '[')+1:]
	v, _, err := second.micros([]byte(strings.TrimSpace(at)), importer.Clock{})
	if err != nil {
		return now, "", "", nil, err
	}
	after := func(label string) string {
		_, v, _ := strings.Cut(rest, label)
		v, _, _ = strings.Cut(strings.TrimSpace(v), "\t")
		return strings.TrimSpace(v)
	}
	job, kind = after("Job ID:"), after("Worker type:")
	for _, w := range strings.FieldsFunc(after("Worker ID(s):"), func(c rune) bool { return strings.ContainsRune("[], ", c) }) {
		id, err := strconv.Atoi(w)
		if err != nil {
			return now, "", "", nil, fmt.Errorf("%.40q is no worker", w)
		}
		workers = append(workers, id)
	}
	slices.Sort(workers)
	if job == "" || len(workers) == 0 {
		return now, "", "", nil, errors.New("names no job or no workers")
	}
	return Time{v, true}, job, kind, workers, nil
}

// accasimLine is a line of a dispatching plan as AccaSim writes it unless it is configured
// otherwise: job;user;queued__nodes__start;end;nodes;cores;memory;expected duration; where the
// nodes are node;amount;amount#… with amounts in an order that the file does not say.
//
// Source: SCHEDULE_OUTPUT of DEFAULT_SIMULATION in AccaSim 1.0, and its documentation.
var accasimLine = regexp.MustCompile(`^([^;]+);([^;]*);([0-9-]{10} [0-9:]{8})__(.*)__([0-9-]{10} [0-9:]{8});([0-9-]{10} [0-9:]{8});([0-9]+);([0-9]+|NA);([0-9]+|NA);([0-9]+|NA);$`)

// readAccasim reads sched-WORKLOAD of AccaSim, a core being a GPU. Jobs have one interval each.
func readAccasim(path string, c importer.Clock) (*Log, error) {
	f, err := importer.Open(path, "")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &Log{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24) // a job may be on many nodes
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimRight(lines.Text(), "\r")
		if text == "" {
			continue
		}
		m := accasimLine.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("%s: line %d: %.60q is no line such as job;user;queued__nodes__start;end;nodes;cores;memory;expected; as AccaSim writes it by default: another SCHEDULE_OUTPUT is --format table with --map", path, n, text)
		}
		r := Row{Job: m[1], User: m[2], GPUs: -1, Weight: 1}
		for i, to := range []*Time{&r.Submit, &r.Start, &r.End} {
			v, _, err := date.micros([]byte(m[[...]int{3, 5, 6}[i]]), c)
			if err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
			}
			*to = Time{v, true}
		}
		if m[8] != "NA" {
			cores, err := strconv.ParseInt(m[8], 10, 32)
			if err != nil {
				return nil, fmt.Errorf("%s: line %d: %s cores are more than there can be", path, n, m[8])
			}
			r.GPUs = cores * 1000
		}
		l.Rows = append(l.Rows, r)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: damaged after line %d: %w", path, len(l.Rows), err)
	}
	if len(l.Rows) == 0 {
		return nil, fmt.Errorf("%s: has no jobs", path)
	}
	return l, nil
}
