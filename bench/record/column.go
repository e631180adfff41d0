package record

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Column describes one column of a table.
type Column struct {
	Name     string
	Type     Type
	Unit     string // "" where there is none
	Nullable bool
	Group    Group
	Doc      string
}

// Type is an Arrow type, by Arrow's name.
type Type string

// The types in use.
const (
	UTF8    Type = "utf8"
	Int32   Type = "int32"
	Int64   Type = "int64" // within ±2^53, so that every tool reads it exactly
	Float64 Type = "float64"
	Bool    Type = "bool"
)

// Group says what a column is for.
type Group string

// The groups of columns.
const (
	Key     Group = "key"     // together they name the row; never null
	Value   Group = "value"   // the same for the same suite, wherever it runs
	Timing  Group = "timing"  // how long something took; not part of the result digest
	Machine Group = "machine" // depends on the machine or on how the run was started, or is prose; not part of the result digest
)

// column is a Column bound to a field of a row.
type column[R any] struct {
	name, unit string
	group      Group
	doc        string
	// field returns a pointer to the field; its type fixes the column's type
	// and whether it is nullable.
	field func(*R) any
}

// table is the definition of one file of rows R.
type table[R any] struct {
	name    string // of the file, without .arrow
	doc     string
	columns []column[R]
	rows    func(*Run) *[]R
	// omit reports whether a row stays out of the result digest, given the
	// cells that a limit in wall-clock time or memory shaped.
	omit func(r *R, limited map[string]bool) bool
}

func (t *table[R]) file() string { return t.name + ".arrow" }

func (c *column[R]) describe() Column {
	d := Column{Name: c.name, Unit: c.unit, Group: c.group, Doc: c.doc}
	d.Type, d.Nullable = typeOf(c.field(new(R)))
	return d
}

func (t *table[R]) describe() []Column {
	list := make([]Column, len(t.columns))
	for i := range t.columns {
		list[i] = t.columns[i].describe()
	}
	return list
}

// param is the "field" of a swept parameter: an entry of a row's map.
type param struct {
	row *Ratio
	Param
}

func typeOf(field any) (t Type, nullable bool) {
	switch f := field.(type) {
	case *string:
		return UTF8, false
	case *Text:
		return UTF8, true
	case *int:
		return Int32, false
	case *Opt[int]:
		return Int32, true
	case *int64:
		return Int64, false
	case *Opt[int64]:
		return Int64, true
	case *float64:
		return Float64, false
	case *Opt[float64]:
		return Float64, true
	case *bool:
		return Bool, false
	case *Opt[bool]:
		return Bool, true
	case param:
		if f.Number {
			return Float64, true
		}
		return UTF8, true
	}
	panic(fmt.Sprintf("record: no column type for %T", field))
}

// value is what one cell of a table holds: the part that its column's type
// names, or null.
type value struct {
	null bool
	s    string
	i    int64
	f    float64
	b    bool
}

// get reads a field and refuses what a file may not hold.
func get(field any) (value, error) {
	switch f := field.(type) {
	case *string:
		return text(*f)
	case *Text:
		if *f == "" {
			return value{null: true}, nil
		}
		return value{s: strings.ToValidUTF8(string(*f), "\uFFFD")}, nil
	case *int:
		return integer(int64(*f), math.MaxInt32)
	case *Opt[int]:
		return optional(*f, func(v int) (value, error) { return integer(int64(v), math.MaxInt32) })
	case *int64:
		return integer(*f, 1<<53)
	case *Opt[int64]:
		return optional(*f, func(v int64) (value, error) { return integer(v, 1<<53) })
	case *float64:
		return number(*f)
	case *Opt[float64]:
		return optional(*f, number)
	case *bool:
		return value{b: *f}, nil
	case *Opt[bool]:
		return optional(*f, func(v bool) (value, error) { return value{b: v}, nil })
	case param:
		s, ok := f.row.Params[f.Name]
		if !ok {
			return value{null: true}, nil
		}
		if !f.Number {
			return text(s)
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return value{}, fmt.Errorf("is %q, which is not a number", s)
		}
		return number(v)
	}
	panic(fmt.Sprintf("record: no column type for %T", field))
}

func optional[T any](o Opt[T], convert func(T) (value, error)) (value, error) {
	if !o.Valid {
		return value{null: true}, nil
	}
	return convert(o.V)
}

func text(s string) (value, error) {
	switch {
	case s == "":
		return value{}, fmt.Errorf("is empty, but it may not be missing")
	case !utf8.ValidString(s):
		return value{}, fmt.Errorf("is %q, which is not UTF-8", s)
	}
	return value{s: s}, nil
}

func integer(v, limit int64) (value, error) {
	if v > limit || v < -limit {
		return value{}, fmt.Errorf("is %d, beyond ±%d, the range of the column", v, limit)
	}
	return value{i: v}, nil
}

// Most is what every number is below: solvers write ±1e30 for "none".
const Most = 1e30

// number refuses what solvers write for "none", NaN and infinities.
func number(v float64) (value, error) {
	if !(math.Abs(v) < Most) {
		return value{}, fmt.Errorf("is %v: a missing number must be left missing", v)
	}
	if v == 0 {
		v = 0 // minus zero is zero
	}
	return value{f: v}, nil
}

// set writes a value into a field. Null leaves the field as it is: missing.
func set(field any, v value) {
	if v.null {
		return
	}
	switch f := field.(type) {
	case *string:
		*f = v.s
	case *Text:
		*f = Text(v.s)
	case *int:
		*f = int(v.i)
	case *Opt[int]:
		*f = Some(int(v.i))
	case *int64:
		*f = v.i
	case *Opt[int64]:
		*f = Some(v.i)
	case *float64:
		*f = v.f
	case *Opt[float64]:
		*f = Some(v.f)
	case *bool:
		*f = v.b
	case *Opt[bool]:
		*f = Some(v.b)
	case param:
		if f.row.Params == nil {
			f.row.Params = map[string]string{}
		}
		if f.Number {
			v.s = strconv.FormatFloat(v.f, 'g', -1, 64)
		}
		f.row.Params[f.Name] = v.s
	default:
		panic(fmt.Sprintf("record: no column type for %T", field))
	}
}
