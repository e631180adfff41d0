package generic

import (
	"fmt"
	"slices"
	"strings"

	"yardstick/datasets"
	"yardstick/datasets/table"
)

// Field says where a column of the trace schema comes from.
type Field struct {
	// Column is a column of the trace schema other than trace, or one of
	// StartColumn and EndColumn.
	Column   string
	From     []string // names of the file's column; the first that is there is taken
	Unit     Unit
	Optional bool // the column is NULL if the file has none of the names
}

// Moments that the schema does not hold itself, but that files have: queue_s is
// start_s less submit_s, and duration_s is end_s less start_s, unless a field
// gives them. With no start_s, a job starts when it is submitted.
const (
	StartColumn = "start_s"
	EndColumn   = "end_s"
)

// kind is what may be done with a column's values.
type kind uint8

const (
	text   kind = iota
	moment      // a time since some moment of the source's, or a date
	span        // a length of time
	amount
)

// kinds lists the columns that a field can fill.
func kinds() map[string]kind {
	list := map[string]kind{StartColumn: moment, EndColumn: moment}
	for _, c := range datasets.Columns() {
		switch {
		case c.Name == "trace":
		case c.Name == "submit_s" || c.Name == "deadline_s":
			list[c.Name] = moment
		case c.Unit == "s":
			list[c.Name] = span
		case c.Type == "double":
			list[c.Name] = amount
		default:
			list[c.Name] = text
		}
	}
	return list
}

// ParseField reads "column=name" or "column=name:unit", such as
//
//	gpus=num_gpu
//	submit_s=submitted_at:date
//	duration_s=runtime:ms
//
// with alternatives for the name separated by "|" and a "?" before the column
// if it may be absent. A name may have a colon: only a unit after the last one
// is taken for one.
func ParseField(s string) (Field, error) {
	column, from, ok := strings.Cut(s, "=")
	f := Field{}
	f.Column, f.Optional = strings.CutPrefix(strings.TrimSpace(column), "?")
	if i := strings.LastIndexByte(from, ':'); i >= 0 {
		if err := f.Unit.UnmarshalText([]byte(strings.TrimSpace(from[i+1:]))); err == nil {
			from = from[:i]
		}
	}
	for _, name := range strings.Split(from, "|") {
		if name = strings.TrimSpace(name); name != "" {
			f.From = append(f.From, name)
		}
	}
	if !ok || len(f.From) == 0 {
		return Field{}, fmt.Errorf("generic: column mapping %q: it must be column=name or column=name:unit, such as submit_s=submitted:ms", s)
	}
	if err := f.check(); err != nil {
		return Field{}, fmt.Errorf("generic: column mapping %q: %w", s, err)
	}
	return f, nil
}

// String returns the form that ParseField reads.
func (f Field) String() string {
	s := f.Column + "=" + strings.Join(f.From, "|")
	if f.Unit != None {
		s += ":" + f.Unit.String()
	}
	if f.Optional {
		s = "?" + s
	}
	return s
}

func (f *Field) check() error {
	k, ok := kinds()[f.Column]
	if !ok {
		var names []string
		for name := range kinds() {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Errorf("column %q cannot be filled; the nearest is %q (columns are %s)", f.Column, table.Nearest(f.Column, names), strings.Join(names, ", "))
	}
	good := false
	switch k {
	case moment:
		good = f.Unit.ofTime()
	case span:
		good = f.Unit.ofTime() && f.Unit != Date
	case amount:
		good = f.Unit.ofAmount()
	case text:
		good = f.Unit == None
	}
	if !good {
		return fmt.Errorf("column %s cannot be in %s", f.Column, f.Unit)
	}
	return nil
}
