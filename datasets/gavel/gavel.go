// Package gavel imports the traces of Gavel and of Shockwave, which is built on
// it, into the unified trace schema.
//
// Source: Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies
// for Deep Learning Workloads", OSDI 2020; Zheng et al., "Shockwave: Fair and
// Efficient Cluster Scheduling for Dynamic Adaptation in Machine Learning",
// NSDI 2023; and their published traces.
package gavel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"yardstick/datasets"
	"yardstick/datasets/importer"
)

// Options say how a file is imported.
type Options struct {
	Trace  string         // name of the trace; "" is gavel
	VC     string         // virtual cluster of all jobs, which the published files have as their name; "" is NULL
	Member string         // which file of an archive; see importer.Open
	Watch  importer.Watch // follows the import
	Rules  []string       // cleaning rules by name; nil are the default ones
}

// Rules lists the cleaning rules, in the order of application. The one on
// durations is in force by default only where the file has them.
func Rules() []importer.Rule[*datasets.Row] { return rules(false) }

func rules(durations bool) []importer.Rule[*datasets.Row] {
	noDuration := importer.NoDuration()
	noDuration.Default = durations
	return []importer.Rule[*datasets.Row]{noDuration, importer.NoGPUs()}
}

// headers returns the columns of the three shapes of a line: those of Gavel's
// replayed Philly, those of its experiments, and those of Shockwave.
func headers() [][]string {
	return [][]string{
		{"job_type", "command", "num_steps_arg", "needs_data_dir", "total_steps", "arrival_time", "scale_factor"},
		{"job_type", "command", "working_dir", "num_steps_arg", "needs_data_dir", "total_steps", "scale_factor", "priority_weight", "SLO", "arrival_time"},
		{"job_type", "command", "working_dir", "num_steps_arg", "needs_data_dir", "total_steps", "scale_factor", "mode", "priority_weight", "SLO", "duration", "arrival_time"},
	}
}

// Import converts a trace: one job per line, tab between fields, no header, of
//
//	job_type command num_steps_arg needs_data_dir total_steps arrival_time scale_factor
//	job_type command working_dir num_steps_arg needs_data_dir total_steps scale_factor priority_weight SLO arrival_time
//	job_type command working_dir num_steps_arg needs_data_dir total_steps scale_factor mode priority_weight SLO duration arrival_time
//
// told apart by the number of fields of the first line. The job type, such as
// "ResNet-18 (batch size 32)", becomes the model as it is, because interference
// tables are keyed by it; scale_factor is gpus, total_steps iterations,
// priority_weight the weight. The batch size in the job type is each GPU's, so
// that batch_size is that times gpus. Only Shockwave's lines have a duration.
// Commands, mode and SLO (−1, none, in all published traces) are not kept.
// job_id is the line's number.
//
// Errors name the file, the line and the column.
func Import(in, out string, o Options) (*importer.Report, error) {
	r, err := convert(in, out, o)
	if err != nil {
		return nil, fmt.Errorf("gavel: %w", err)
	}
	return r, nil
}

func convert(in, out string, o Options) (*importer.Report, error) {
	if o.Trace == "" {
		o.Trace = "gavel"
	}
	raw, err := importer.OpenWatched(in, o.Member, o.Watch)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	f, err := newFile(raw, o)
	if err != nil {
		return nil, err
	}
	chosen, err := importer.Choose(rules(f.duration >= 0), o.Rules)
	if err != nil {
		return nil, err
	}
	r := &importer.Report{}
	return r, importer.Write(out, importer.Keep(importer.Records(f.CSV, f.row), chosen, r, importer.Itself), r, o.Watch)
}

// file is an open trace and where its columns are; -1 where there is none.
type file struct {
	*importer.CSV
	options                                         Options
	jobType, steps, arrival, gpus, weight, duration int
}

// firstLine is how much of a file is looked at for the number of fields.
const firstLine = 1 << 16

func newFile(raw *importer.File, o Options) (*file, error) {
	b := bufio.NewReaderSize(raw, firstLine)
	head, err := b.Peek(firstLine)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%s: damaged: %w", raw.Name(), err)
	}
	if len(head) == 0 {
		return nil, fmt.Errorf("%s: is empty", raw.Name())
	}
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	fields := bytes.Count(line, []byte("\t")) + 1
	var counts []string
	for _, header := range headers() {
		if len(header) == fields {
			return newFileOf(raw.Name(), b, header, o)
		}
		counts = append(counts, strconv.Itoa(len(header)))
	}
	return nil, fmt.Errorf("%s: line 1: has %d fields with tabs between them; traces have %s", raw.Name(), fields, strings.Join(counts, ", "))
}

func newFileOf(name string, r io.Reader, header []string, o Options) (*file, error) {
	f := &file{options: o}
	columns := map[*int]string{&f.jobType: "job_type", &f.steps: "total_steps", &f.arrival: "arrival_time", &f.gpus: "scale_factor",
		&f.weight: "?priority_weight", &f.duration: "?duration"}
	var err error
	f.CSV, err = importer.NewCSV(name, r, importer.CSVOptions{Comma: '\t', Header: header, Columns: columns})
	return f, err
}

var batchSize = regexp.MustCompile(`\(batch size ([0-9]{1,9})\)$`)

// row converts the current record.
func (f *file) row(row *datasets.Row) error {
	*row = datasets.Row{Trace: f.options.Trace, JobID: f.RecordID(), Model: f.Label(f.jobType)}
	if !utf8.Valid(f.Bytes(f.jobType)) {
		return f.Errorf(f.jobType, "is not UTF-8 text")
	}
	if f.options.VC != "" {
		row.VC = datasets.Some(f.options.VC)
	}
	for _, c := range []struct {
		at int
		to *datasets.Opt[float64]
	}{{f.steps, &row.Iterations}, {f.arrival, &row.SubmitS}, {f.gpus, &row.GPUs}, {f.weight, &row.Weight}, {f.duration, &row.DurationS}} {
		var err error
		if *c.to, err = f.Quantity(c.at); err != nil {
			return err
		}
	}
	if row.Weight.OK && row.Weight.V == 0 {
		return f.Errorf(f.weight, "is 0: a weight must be positive")
	}
	if m := batchSize.FindStringSubmatch(row.Model.V); m != nil && row.GPUs.OK {
		each, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return f.Errorf(f.jobType, "%w", err)
		}
		row.BatchSize = datasets.Some(each * row.GPUs.V)
	}
	return nil
}
