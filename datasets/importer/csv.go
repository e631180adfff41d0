package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"yardstick/datasets"
	"yardstick/datasets/table"
	"yardstick/internal/input"
)

const maxRecordBytes = 1 << 24 // of one CSV record; a longer one is a missing quote

// CSVOptions say how a CSV file is to be read.
type CSVOptions struct {
	Member string   // which file of an archive; see Open
	Watch  Watch    // follows the reading
	Header []string // names of the columns of a file without a header line; if its first line repeats them, it is skipped
	Comma  byte     // between fields; 0 means a comma
	Nulls  []string // texts that mean the same as an empty field, such as "None"

	// Columns are to be found as [CSV.Columns] does.
	Columns map[*int]string
}

// CSV reads comma-separated records, as RFC 4180 has them and package
// encoding/csv reads them: fields may be quoted, lines may end in CR LF, empty
// lines are skipped. Unlike that package it hands out bytes and allocates
// nothing per record.
//
// Fields are numbered from 0. A field number of -1 stands for a column that is
// not there, whose fields are empty. Space around a field is not part of it.
type CSV struct {
	name    string
	reader  *bufio.Reader
	closer  io.Closer
	options CSVOptions
	nulls   [256]bool // the first bytes of options.Nulls
	header  []string

	records     int     // read
	line, lines int     // where the record begins, from 1; lines read
	long        []byte  // a line that does not fit into the reader's buffer
	quoted      []byte  // the record without its quotes
	record      []byte  // the record, one of the two or the reader's own
	ends        []int32 // ends[i] is the end of field i, and field i+1 begins behind it
	gap         int32   // bytes between two fields: 1 if the comma is there, 0 in quoted
	texts       Texts
}

// OpenCSV opens a file and finds its header. The caller closes it.
//
// Errors name the file: those of Open; there is no header, or it names a column
// twice or one that is looked for not at all.
func OpenCSV(path string, o CSVOptions) (*CSV, error) {
	f, err := OpenWatched(path, o.Member, o.Watch)
	if err != nil {
		return nil, err
	}
	c, err := NewCSV(f.Name(), f, o)
	if err != nil {
		f.Close()
		return nil, err
	}
	c.closer = f
	return c, nil
}

// NewCSV is OpenCSV for a reader. The name appears in errors.
func NewCSV(name string, r io.Reader, o CSVOptions) (*CSV, error) {
	if o.Comma == 0 {
		o.Comma = ','
	}
	c := &CSV{name: name, reader: bufio.NewReaderSize(r, bufferBytes), options: o}
	for _, null := range o.Nulls {
		if null != "" { // an empty field is NULL anyway
			c.nulls[null[0]] = true
		}
	}
	head, _ := c.reader.Peek(4)
	if err := input.UTF8(head); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if mark, _ := c.reader.Peek(3); string(mark) == "\xef\xbb\xbf" { // UTF-8 byte order mark
		_, _ = c.reader.Discard(3)
	}
	if o.Header != nil {
		c.header = o.Header
		return c, c.Columns(o.Columns)
	}
	if err := c.read(); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: is empty: a line with column names is needed", name)
		}
		return nil, err
	}
	var header []string
	for i := range c.ends {
		h := string(c.Bytes(i))
		if slices.Contains(header, h) {
			return nil, fmt.Errorf("%s: line 1: column name %q is there twice", name, h)
		}
		header = append(header, h)
	}
	if err := table.Separated(header, o.Comma); err != nil {
		return nil, fmt.Errorf("%s: line 1: %w", name, err)
	}
	c.header = header
	return c, c.Columns(o.Columns)
}

// Name returns the name the file was opened by.
func (c *CSV) Name() string { return c.name }

// Header returns the column names. Some may be empty, as pandas leaves that of
// an index.
func (c *CSV) Header() []string { return c.header }

// Column returns the number of the first of the named columns that is there.
// Names are compared without regard to case.
//
// Errors: none is there; the error says which column comes nearest.
func (c *CSV) Column(names ...string) (int, error) {
	i, err := table.Find(c.header, names...)
	if err != nil {
		return -1, fmt.Errorf("%s: %w", c.name, err)
	}
	return i, nil
}

// Optional is Column for a column that need not be there; it is -1 then.
func (c *CSV) Optional(names ...string) int {
	i, err := table.Find(c.header, names...)
	if err != nil {
		return -1
	}
	return i
}

// Columns finds the columns of a map from the place to keep a number in to the
// names to look for, separated by "|" and with a "?" in front if the column is
// optional.
func (c *CSV) Columns(places map[*int]string) error {
	var failed []error
	for at, names := range places {
		optional := strings.HasPrefix(names, "?")
		i, err := c.Column(strings.Split(strings.TrimPrefix(names, "?"), "|")...)
		if err != nil && !optional {
			failed = append(failed, err)
		}
		*at = i
	}
	slices.SortFunc(failed, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if failed != nil {
		return failed[0]
	}
	return nil
}

// Next reads the next record. At the end it returns io.EOF; every other error
// names the file and the line.
func (c *CSV) Next() error {
	first := c.lines == 0
	if err := c.read(); err != nil {
		return err
	}
	if first && c.options.Header != nil && c.isHeader() {
		if err := c.read(); err != nil {
			return err
		}
	}
	if len(c.ends) != len(c.header) {
		return fmt.Errorf("%s: line %d: has %d fields, the header has %d", c.name, c.line, len(c.ends), len(c.header))
	}
	c.records++
	return nil
}

// Records reads all records, each with a function that stores it in the value
// that is yielded, the same for all. An error is the last thing yielded.
func Records[T any](c *CSV, read func(*T) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		var record T
		for {
			err := c.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				err = read(&record)
			}
			if !yield(&record, err) || err != nil {
				return
			}
		}
	}
}

// isHeader says whether the record repeats the names of the columns.
func (c *CSV) isHeader() bool {
	if len(c.ends) != len(c.header) {
		return false
	}
	for i, h := range c.header {
		if !strings.EqualFold(string(c.Bytes(i)), h) {
			return false
		}
	}
	return true
}

// Line returns the line that the current record begins on, from 1.
func (c *CSV) Line() int { return c.line }

// Bytes returns field i of the current record. It is valid until Next.
func (c *CSV) Bytes(i int) []byte {
	if i < 0 {
		return nil
	}
	begin := int32(0)
	if i > 0 {
		begin = c.ends[i-1] + c.gap
	}
	b := c.record[begin:c.ends[i]]
	if len(b) > 0 && (b[0] <= ' ' || b[len(b)-1] <= ' ' || b[0] >= 0x80 || b[len(b)-1] >= 0x80) {
		b = bytes.TrimSpace(b)
	}
	if len(b) > 0 && c.nulls[b[0]] && slices.Contains(c.options.Nulls, string(b)) {
		return nil
	}
	return b
}

// Text returns field i of the current record. It stays valid.
func (c *CSV) Text(i int) string { return c.texts.Text(c.Bytes(i)) }

// RecordID returns the current record's number, from 1, as the identifier of a
// job that has none.
func (c *CSV) RecordID() string { return c.texts.ID(c.records) }

// Label is Text as a field of a row: NULL if it is empty.
func (c *CSV) Label(i int) datasets.Opt[string] { return c.texts.Label(c.Bytes(i)) }

// Number returns field i of the current record as a decimal number; NULL if it
// is empty. NaN and infinities are numbers here.
func (c *CSV) Number(i int) (datasets.Opt[float64], error) {
	b := c.Bytes(i)
	if len(b) == 0 {
		return datasets.Opt[float64]{}, nil
	}
	v, ok := decimal(b)
	if !ok {
		var err error
		if v, err = strconv.ParseFloat(string(b), 64); err != nil {
			return datasets.Opt[float64]{}, c.Errorf(i, "%.40q is not a number", b)
		}
	}
	return datasets.Some(v), nil
}

// Finite is Number for values that may be negative but must be finite.
func (c *CSV) Finite(i int) (datasets.Opt[float64], error) {
	v, err := c.Number(i)
	if err == nil && (math.IsNaN(v.V) || math.IsInf(v.V, 0)) {
		return v, c.Errorf(i, "%w", table.CheckQuantity(v.V))
	}
	return v, err
}

// Quantity is Number for values that must be finite and not negative.
func (c *CSV) Quantity(i int) (datasets.Opt[float64], error) {
	v, err := c.Number(i)
	if err == nil && (v.V < 0 || math.IsNaN(v.V) || math.IsInf(v.V, 0)) {
		return v, c.Errorf(i, "%w", table.CheckQuantity(v.V))
	}
	return v, err
}

// Time returns field i of the current record as a date, in nanoseconds since
// 1970 in UTC; NULL if it is empty.
func (c *CSV) Time(i int, clock Clock) (datasets.Opt[int64], error) {
	b := c.Bytes(i)
	if len(b) == 0 {
		return datasets.Opt[int64]{}, nil
	}
	t, err := clock.Parse(b)
	if err != nil {
		return datasets.Opt[int64]{}, c.Errorf(i, "%w", err)
	}
	return datasets.Some(t), nil
}

// Errorf returns an error about field i of the current record that names the
// file, the line and the column.
func (c *CSV) Errorf(i int, format string, args ...any) error {
	return fmt.Errorf("%s: line %d: column %s: %w", c.name, c.line, c.header[i], fmt.Errorf(format, args...))
}

// Close closes the file if OpenCSV opened it.
func (c *CSV) Close() error {
	if c.closer == nil {
		return nil
	}
	return c.closer.Close()
}

// decimal reads digits with at most one point, no sign and no exponent, where
// the result is exact: the digits are an integer below 2^53 and the power of
// ten to divide by is a float64 (Clinger, "How to Read Floating Point Numbers
// Accurately", PLDI 1990, section 5). For all else ok is false.
func decimal(b []byte) (v float64, ok bool) {
	if len(b) > 16 {
		return 0, false
	}
	digits, point := uint64(0), -1
	for i, d := range b {
		switch {
		case d-'0' <= 9:
			digits = digits*10 + uint64(d-'0')
		case d == '.' && point < 0 && len(b) > 1:
			point = i
		default:
			return 0, false
		}
	}
	if digits >= 1<<53 {
		return 0, false
	}
	if point < 0 {
		return float64(digits), true
	}
	return float64(digits) / [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}[len(b)-1-point], true
}
