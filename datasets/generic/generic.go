// Package generic imports any CSV or Parquet file with one row per job into the
// unified trace schema, given which of its columns means what. The importers of
// formats that are no more than that are built on it.
package generic

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"yardstick/datasets"
	"yardstick/datasets/importer"
	"yardstick/datasets/table"
)

// Options say how a file is imported.
type Options struct {
	Trace string // name of the trace; "" is the file's name without folder and endings
	// Fields map columns; nil takes the columns of the file that have names of
	// the trace schema, with its units.
	Fields []Field
	Member string         // which file of an archive; see importer.Open
	Comma  byte           // between the fields of a CSV file; 0 is a comma
	Header []string       // names of the columns of a CSV file without a header line
	Nulls  []string       // texts that mean the same as an empty field; nil stands for NaN, nan, NaT, None, NULL, null and NA
	Clock  importer.Clock // reads dates
	Rules  []string       // cleaning rules by name; nil are the default ones
}

// Rules lists the cleaning rules of an import with the given fields, in the
// order of application. Those on a column that no field fills are not there: a
// format without durations would lose every row.
func Rules(fields []Field) []importer.Rule[*datasets.Row] {
	fills := map[string]bool{}
	for _, f := range fields {
		fills[f.Column] = true
	}
	rules := []importer.Rule[*datasets.Row]{importer.NegativeTime()}
	if fills["duration_s"] || fills[EndColumn] {
		rules = append(rules, importer.NoDuration())
	}
	if fills["gpus"] {
		rules = append(rules, importer.NoGPUs())
	}
	return rules
}

// Import converts a CSV file, which may be compressed or in an archive, or a
// Parquet file into a Parquet file in the unified schema. Rows keep their
// order; job_id is the row's number if no field fills it; submit_s counts from
// the earliest submission kept.
//
// Amounts and lengths of time must be finite and not negative; jobs that end
// before they start are left to the rule negative-time. A Parquet column must
// hold text or plain numbers, NaN being NULL: Parquet's own types of dates and
// times are refused.
//
// Errors name the file, the line or row, and the column.
func Import(in, out string, o Options) (*importer.Report, error) {
	r, err := Convert(in, out, o)
	if err != nil {
		return nil, fmt.Errorf("generic: %w", err)
	}
	return r, nil
}

// Convert is Import without the package's name in errors, for importers that
// are built on it.
func Convert(in, out string, o Options) (*importer.Report, error) {
	src, err := open(in, o)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if o.Trace == "" {
		o.Trace = strings.ToValidUTF8(stem(in), "_")
	}
	if o.Fields == nil {
		o.Fields = sameNames(src.Header())
	}
	c, err := newConverter(src, o)
	if err != nil {
		return nil, err
	}
	rules, err := importer.Choose(Rules(c.fields), o.Rules)
	if err != nil {
		return nil, err
	}
	r := &importer.Report{Calendar: c.calendar}
	if err := importer.Write(out, importer.Keep(c.rows(), rules, r, importer.Itself), r); err != nil {
		return nil, err
	}
	return r, nil
}

// stem returns a file's name up to the first dot that is not its beginning.
func stem(path string) string {
	base := filepath.Base(path)
	if i := strings.IndexByte(base[1:], '.'); i >= 0 {
		return base[:i+1]
	}
	return base
}

// sameNames returns a field for every column that has a name of the schema.
func sameNames(header []string) []Field {
	var fields []Field
	for _, c := range datasets.Columns()[1:] {
		if _, err := table.Find(header, c.Name); err == nil {
			fields = append(fields, Field{Column: c.Name, From: []string{c.Name}})
		}
	}
	return fields
}

// converter makes rows of records.
type converter struct {
	source   source
	options  Options
	fields   []Field // those that the file has
	places   []int   // of the same index, in the file
	kinds    []kind
	calendar bool
	number   int // of the record, from 1
}

func newConverter(s source, o Options) (*converter, error) {
	c := &converter{source: s, options: o}
	known, seen := kinds(), map[string]bool{}
	var first *Field // the first that gives moments
	for i := range o.Fields {
		f := &o.Fields[i]
		if err := f.check(); err != nil {
			return nil, err
		}
		if seen[f.Column] {
			return nil, fmt.Errorf("column %s is mapped twice", f.Column)
		}
		seen[f.Column] = true
		at, err := table.Find(s.Header(), f.From...)
		if err != nil && f.Optional {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name(), err)
		}
		if known[f.Column] == moment {
			if first == nil {
				first = f
			}
			if (first.Unit == Date) != (f.Unit == Date) {
				return nil, fmt.Errorf("%s and %s: both must be dates, or neither", first, f)
			}
			c.calendar = f.Unit == Date
		}
		c.fields, c.places, c.kinds = append(c.fields, *f), append(c.places, at), append(c.kinds, known[f.Column])
	}
	if len(c.fields) == 0 {
		return nil, fmt.Errorf("%s: none of its columns is mapped (they are %s)", s.Name(), strings.Join(s.Header(), ", "))
	}
	return c, s.choose(c.places)
}

func (c *converter) rows() iter.Seq2[*datasets.Row, error] {
	return func(yield func(*datasets.Row, error) bool) {
		var row datasets.Row
		for {
			err := c.source.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				c.number++
				err = c.row(&row)
			}
			if !yield(&row, err) || err != nil {
				return
			}
		}
	}
}

// row converts the current record.
func (c *converter) row(row *datasets.Row) error {
	*row = datasets.Row{Trace: c.options.Trace}
	var start, end datasets.Opt[float64]
	for i := range c.fields {
		at := c.places[i]
		if c.kinds[i] == text {
			v, err := c.source.Label(at)
			if err == nil && c.fields[i].Column == "job_id" {
				if row.JobID = v.V; !v.OK {
					err = c.source.Errorf(at, "is empty")
				}
			}
			if err != nil {
				return err
			}
			setText(row, c.fields[i].Column, v)
			continue
		}
		v, err := c.value(i)
		if err != nil {
			return err
		}
		switch c.fields[i].Column {
		case StartColumn:
			start = v
		case EndColumn:
			end = v
		default:
			setNumber(row, c.fields[i].Column, v)
		}
	}
	if row.JobID == "" { // no field fills it
		row.JobID = fmt.Sprintf("%06d", c.number)
	}
	derive(row, start, end)
	return nil
}

// value reads a number or a moment in the schema's unit.
func (c *converter) value(i int) (datasets.Opt[float64], error) {
	at, unit := c.places[i], c.fields[i].Unit
	if unit == Date {
		nanos, err := c.source.Time(at, c.options.Clock)
		return datasets.Opt[float64]{V: importer.Seconds(nanos.V), OK: nanos.OK}, err
	}
	v, err := c.source.Finite(at)
	if err != nil || !v.OK {
		return datasets.Opt[float64]{}, err
	}
	mul, div := unit.ratio()
	if mul != 1 {
		v.V *= mul
	} else if div != 1 {
		v.V /= div
	}
	if column := c.fields[i].Column; c.kinds[i] == amount || column == "duration_s" || column == "queue_s" {
		// Only what is derived from two moments may be negative, and then
		// a rule drops the row.
		err = table.CheckQuantity(v.V)
		if err == nil && column == "weight" && v.V == 0 {
			err = errors.New("is 0: it must be positive")
		}
	} else if v.V > 1e300 || v.V < -1e300 {
		err = fmt.Errorf("is %v: no time is that large", v.V)
	}
	if err != nil {
		return v, c.source.Errorf(at, "%w", err)
	}
	return v, nil
}

// derive fills in queue_s and duration_s from moments.
func derive(row *datasets.Row, start, end datasets.Opt[float64]) {
	if start.OK && row.SubmitS.OK && !row.QueueS.OK {
		row.QueueS = datasets.Some(start.V - row.SubmitS.V)
	}
	if !start.OK {
		start = row.SubmitS
	}
	if start.OK && end.OK && !row.DurationS.OK {
		row.DurationS = datasets.Some(end.V - start.V)
	}
}

func setText(r *datasets.Row, column string, v datasets.Opt[string]) {
	switch column {
	case "user":
		r.User = v
	case "vc":
		r.VC = v
	case "group":
		r.Group = v
	case "status":
		r.Status = v
	case "model":
		r.Model = v
	case "gpu_type":
		r.GPUType = v
	}
}

func setNumber(r *datasets.Row, column string, v datasets.Opt[float64]) {
	switch column {
	case "submit_s":
		r.SubmitS = v
	case "queue_s":
		r.QueueS = v
	case "duration_s":
		r.DurationS = v
	case "gpus":
		r.GPUs = v
	case "cpus":
		r.CPUs = v
	case "batch_size":
		r.BatchSize = v
	case "deadline_s":
		r.DeadlineS = v
	case "iterations":
		r.Iterations = v
	case "weight":
		r.Weight = v
	}
}
