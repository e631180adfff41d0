// Package logs reads lists of jobs and schedules that other systems wrote: job names,
// submit times, starts, ends, GPUs and places, out of the columns that each format
// documents. docs/schedules.md has the formats.
package logs

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"yardstick/datasets/importer"
	"yardstick/datasets/table"
)

// Row is a line of a list of jobs or of a schedule. A job may have several lines: its
// attempts or intervals. Times are in microseconds by the clock of the file.
type Row struct {
	Job                        string // its name
	Submit, Start, End, Length Time
	GPUs                       int64 // thousandths; −1 if the file does not say
	Weight                     float64
	User, Status, Type         string // Type is that of the GPUs
	Place                      []Spot // nil if the file does not say
}

// Time is a time that may be missing.
type Time struct {
	V  int64 // microseconds
	OK bool
}

// Spot is what a row holds on one server.
type Spot struct {
	Server  string
	GPUs    int
	Devices []int // nil if the file does not name them
}

// Log is a file that was read.
type Log struct {
	Rows []Row
	// Rounded reports that some time is finer than a microsecond and was rounded to the
	// nearest.
	Rounded bool
	// Numbered reports that the file names no jobs: they are numbered from 1.
	Numbered bool
	// Hidden reports that jobs were stopped and the file does not say when: what is between
	// start and end was not held throughout, and ends alone are evidence.
	Hidden bool
	// Resized says why the file's schedule is of a class that bounds for fixed gangs do not
	// divide; "" if it does not say so.
	Resized string
	// Sample says why the file is only a part of a published log; "" if it seems whole. Jobs
	// outside a sample held GPUs too.
	Sample string
	// Steps are rows that are parts of others, as steps of a Slurm job, and are left out.
	Steps int
}

// Format is a way to write jobs or schedules.
type Format struct {
	Name, What string
	columns    []Column
	comma      byte
	header     []string // of files without a header line
	blanks     bool     // fields are separated by spaces, and lines that begin with ; are comments
	nulls      []string
	published  int  // jobs of the log that the format is of, at least; 0 if there is no one log
	numbered   bool // its jobs are numbered from 0 at the end of their names
	fix        func(*Log, *Row, func(field string) string) (keep bool, err error)
	read       func(path string, c importer.Clock) (*Log, error) // of what is no table
}

// Column says which column of a file a field is.
type Column struct {
	Field string
	Names []string // the first that is there is taken
	Unit  Unit
}

// Fields are the fields of rows, in order.
func Fields() []string {
	return []string{"job", "submit", "start", "end", "duration", "queue", "gpus", "weight", "user", "status", "gpu_type", "place"}
}

// ParseColumn reads "field=name" or "field=name:unit", such as end=finished_at:date.
// Alternatives for the name are separated by |.
func ParseColumn(text string) (Column, error) {
	field, names, ok := strings.Cut(text, "=")
	c := Column{Field: strings.TrimSpace(field)}
	if !slices.Contains(Fields(), c.Field) {
		return c, fmt.Errorf("%q: the field %q is unknown: the nearest is %q (fields are %s)", text, c.Field, table.Nearest(c.Field, Fields()), strings.Join(Fields(), ", "))
	}
	if at := strings.LastIndexByte(names, ':'); at >= 0 {
		unit, err := parseUnit(names[at+1:])
		if err != nil {
			return c, fmt.Errorf("%q: %w", text, err)
		}
		c.Unit, names = unit, names[:at]
	}
	if c.Names = strings.Split(names, "|"); !ok || slices.Contains(c.Names, "") {
		return c, fmt.Errorf("%q: it must be field=name or field=name:unit, such as end=finished_at:date", text)
	}
	if timed := slices.Contains([]string{"submit", "start", "end", "duration", "queue"}, c.Field); c.Unit != auto && timed == (c.Unit == milli) {
		return c, fmt.Errorf("%q: %s cannot be in %s", text, c.Field, unitNames[c.Unit])
	}
	return c, nil
}

// Options say how a file is read.
type Options struct {
	Format *Format  // nil is Generic
	Map    []Column // instead of the format's columns of these fields
	Comma  byte     // between the fields of a CSV file; 0 is the format's
	Clock  importer.Clock
}

// Read reads a file. Tables may be CSV (compressed too), Parquet, Arrow, or JSON objects one
// after the other or in an array; they are told by their first bytes and their name.
//
// Errors name the file, the line or row, and the column.
func Read(path string, o Options) (*Log, error) {
	if o.Format == nil {
		o.Format = Generic()
	}
	l, err := readAny(path, o)
	if err == nil {
		l.Sample = o.Format.sample(l)
	}
	return l, err
}

func readAny(path string, o Options) (*Log, error) {
	if o.Format.read != nil {
		return o.Format.read(path, o.Clock)
	}
	src, err := open(path, o)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := reader{source: src, format: o.Format, clock: o.Clock, log: &Log{}}
	for _, c := range o.Map {
		if _, err := table.Find(src.Header(), c.Names...); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	r.find(slices.Concat(o.Map, o.Format.columns))
	for n := 1; ; n++ {
		err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.row(n)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(r.log.Rows) == 0 {
		return nil, fmt.Errorf("%s: has no rows", path)
	}
	return r.log, nil
}

// sample says why rows are not all of the published log.
func (f *Format) sample(l *Log) string {
	jobs := map[string]bool{}
	last := -1
	if f.published == 0 {
		return ""
	}
	for i := range l.Rows {
		name := l.Rows[i].Job
		jobs[name] = true
		if n, err := strconv.Atoi(name[len(strings.TrimRight(name, "0123456789")):]); err == nil && f.numbered {
			last = max(last, n)
		}
	}
	switch {
	case f.numbered && last >= len(jobs):
		return fmt.Sprintf("has %d jobs, numbered up to %d", len(jobs), last)
	case len(jobs) < f.published:
		return fmt.Sprintf("has %d jobs of the published log's %d or more", len(jobs), f.published)
	}
	return ""
}

// reader turns records into rows.
type reader struct {
	source
	format *Format
	clock  importer.Clock
	at     map[string]int // of fields
	unit   map[string]Unit
	texts  importer.Texts
	log    *Log
}

// find looks for the columns of the fields; of several for a field, the first that the file
// has.
func (r *reader) find(columns []Column) {
	r.at, r.unit = map[string]int{}, map[string]Unit{}
	for _, c := range columns {
		if _, done := r.at[c.Field]; done {
			continue
		}
		if at, err := table.Find(r.Header(), c.Names...); err == nil {
			r.at[c.Field], r.unit[c.Field] = at, c.Unit
		}
	}
	_, named := r.at["job"]
	r.log.Numbered = !named
}

// text returns a field of the record as text, "" if it is not there.
func (r *reader) text(field string) string {
	at, ok := r.at[field]
	if !ok {
		return ""
	}
	return r.texts.Text(r.Cell(at))
}

// time reads a field that is a moment or a length of time.
func (r *reader) time(field string) (Time, error) {
	at, ok := r.at[field]
	if !ok {
		return Time{}, nil
	}
	cell := r.Cell(at)
	if len(cell) == 0 || r.format.null(cell) {
		return Time{}, nil
	}
	v, exact, err := r.unit[field].micros(cell, r.clock)
	if err != nil {
		return Time{}, r.fail(field, err)
	}
	r.log.Rounded = r.log.Rounded || !exact
	return Time{v, true}, nil
}

func (f *Format) null(cell []byte) bool { return slices.Contains(f.nulls, string(cell)) }

func (r *reader) fail(field string, err error) error {
	return fmt.Errorf("%s: column %s: %w", r.Where(), r.Header()[r.at[field]], err)
}

// row reads a record.
func (r *reader) row(n int) (err error) {
	row := Row{Job: r.text("job"), User: r.text("user"), Status: r.text("status"), Type: r.text("gpu_type"), GPUs: -1, Weight: 1}
	if row.Job == "" && !r.log.Numbered {
		return r.fail("job", errors.New("is empty: every row needs the name of its job"))
	}
	if r.log.Numbered {
		row.Job = strconv.Itoa(n)
	}
	var queue Time
	for field, to := range map[string]*Time{"submit": &row.Submit, "start": &row.Start, "end": &row.End, "duration": &row.Length, "queue": &queue} {
		if *to, err = r.time(field); err != nil {
			return err
		}
	}
	if !row.Start.OK && row.Submit.OK && queue.OK {
		row.Start = Time{row.Submit.V + queue.V, true}
	}
	if !row.End.OK && row.Start.OK && row.Length.OK {
		row.End = Time{row.Start.V + row.Length.V, true}
	}
	for field, to := range map[string]func(v int64, exact bool){
		"gpus":   func(v int64, _ bool) { row.GPUs = v },
		"weight": func(v int64, _ bool) { row.Weight = float64(v) / 1000 },
	} {
		at, ok := r.at[field]
		if !ok || len(r.Cell(at)) == 0 || r.format.null(r.Cell(at)) {
			continue
		}
		v, exact, err := r.unit[field].thousandths(r.Cell(at))
		if err == nil && (!exact || v < 0) {
			err = fmt.Errorf("%.40q: it must be a number of at most three decimals, and not negative", r.Cell(at))
		}
		if err != nil {
			return r.fail(field, err)
		}
		to(v, exact)
	}
	if at, ok := r.at["place"]; ok {
		if row.Place, err = parsePlace(string(r.Cell(at))); err != nil {
			return r.fail("place", err)
		}
	}
	if r.format.fix != nil {
		keep, err := r.format.fix(r.log, &row, func(name string) string {
			at, err := table.Find(r.Header(), name)
			if err != nil {
				return ""
			}
			return string(r.Cell(at))
		})
		if err != nil {
			return fmt.Errorf("%s: %w", r.Where(), err)
		}
		if !keep {
			return nil
		}
	}
	r.log.Rows = append(r.log.Rows, row)
	return nil
}
