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
	Watch  importer.Watch // follows the import
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
	if err := importer.Write(out, importer.Keep(c.rows(), rules, r, importer.Itself), r, o.Watch); err != nil {
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
	columns  []column
	calendar bool
	number   int // of the record, from 1
	texts    importer.Texts

	row        datasets.Row // of the record
	id         datasets.Opt[string]
	start, end datasets.Opt[float64] // moments that the row has no fields for
}

// column is where a field comes from and where it goes to, which is one of text
// and number.
type column struct {
	Field
	at     int // in the file
	kind   kind
	text   *datasets.Opt[string]
	number *datasets.Opt[float64]
}

func newConverter(s source, o Options) (*converter, error) {
	c := &converter{source: s, options: o}
	known, seen := kinds(), map[string]bool{}
	var first *Field // the first that gives moments
	var places []int
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
		c.fields = append(c.fields, *f)
		c.columns = append(c.columns, column{Field: *f, at: at, kind: known[f.Column], text: c.textField(f.Column), number: c.numberField(f.Column)})
		places = append(places, at)
	}
	if len(c.fields) == 0 {
		return nil, fmt.Errorf("%s: none of its columns is mapped (they are %s)", s.Name(), strings.Join(s.Header(), ", "))
	}
	return c, s.choose(places)
}

func (c *converter) rows() iter.Seq2[*datasets.Row, error] {
	return func(yield func(*datasets.Row, error) bool) {
		for {
			err := c.source.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				c.number++
				err = c.convert()
			}
			if !yield(&c.row, err) || err != nil {
				return
			}
		}
	}
}

// convert makes the row of the current record.
func (c *converter) convert() error {
	c.row, c.id, c.start, c.end = datasets.Row{Trace: c.options.Trace}, datasets.Opt[string]{}, datasets.Opt[float64]{}, datasets.Opt[float64]{}
	for i := range c.columns {
		column := &c.columns[i]
		var err error
		if column.kind == text {
			*column.text, err = c.source.Label(column.at)
		} else {
			*column.number, err = c.value(column)
		}
		if err == nil && column.text == &c.id && !c.id.OK {
			err = c.source.Errorf(column.at, "is empty")
		}
		if err != nil {
			return err
		}
	}
	if c.row.JobID = c.id.V; !c.id.OK { // no field fills it
		c.row.JobID = c.texts.ID(c.number)
	}
	derive(&c.row, c.start, c.end)
	return nil
}

// value reads a number or a moment in the schema's unit.
func (c *converter) value(column *column) (datasets.Opt[float64], error) {
	if column.Unit == Date {
		nanos, err := c.source.Time(column.at, c.options.Clock)
		return datasets.Opt[float64]{V: importer.Seconds(nanos.V), OK: nanos.OK}, err
	}
	v, err := c.source.Finite(column.at)
	if err != nil || !v.OK {
		return datasets.Opt[float64]{}, err
	}
	mul, div := column.Unit.ratio()
	if mul != 1 {
		v.V *= mul
	} else if div != 1 {
		v.V /= div
	}
	if column.kind == amount || column.number == &c.row.DurationS || column.number == &c.row.QueueS {
		// Only what is derived from two moments may be negative, and then
		// a rule drops the row.
		err = table.CheckQuantity(v.V)
		if err == nil && column.number == &c.row.Weight && v.V == 0 {
			err = errors.New("is 0: it must be positive")
		}
	} else if v.V > 1e300 || v.V < -1e300 {
		err = fmt.Errorf("is %v: no time is that large", v.V)
	}
	if err != nil {
		return v, c.source.Errorf(column.at, "%w", err)
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

// textField returns where a text is kept until the row is complete; nil for
// numbers.
func (c *converter) textField(column string) *datasets.Opt[string] {
	switch column {
	case "job_id":
		return &c.id
	case "user":
		return &c.row.User
	case "vc":
		return &c.row.VC
	case "group":
		return &c.row.Group
	case "status":
		return &c.row.Status
	case "model":
		return &c.row.Model
	case "gpu_type":
		return &c.row.GPUType
	}
	return nil
}

// numberField returns where a number is kept until the row is complete; nil for
// texts.
func (c *converter) numberField(column string) *datasets.Opt[float64] {
	switch column {
	case StartColumn:
		return &c.start
	case EndColumn:
		return &c.end
	case "submit_s":
		return &c.row.SubmitS
	case "queue_s":
		return &c.row.QueueS
	case "duration_s":
		return &c.row.DurationS
	case "gpus":
		return &c.row.GPUs
	case "cpus":
		return &c.row.CPUs
	case "batch_size":
		return &c.row.BatchSize
	case "deadline_s":
		return &c.row.DeadlineS
	case "iterations":
		return &c.row.Iterations
	case "weight":
		return &c.row.Weight
	}
	return nil
}
