package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"yardstick/internal/input"
)

// CSV reads a comma-separated file with a header line, record by record.
// Input that begins like gzip is decompressed.
type CSV struct {
	name   string
	header []string
	record []string
	line   int
	size   int64
	reader *csv.Reader
	budget *budget
	closer io.Closer
}

// OpenCSV opens a file and reads its header. The caller closes it.
func OpenCSV(path string) (*CSV, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	c, err := NewCSV(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	c.closer = f
	if info, err := f.Stat(); err == nil {
		c.size = info.Size()
	}
	return c, nil
}

// Size returns how many bytes the file takes, compressed as it may be; 0 if OpenCSV did
// not open it.
func (c *CSV) Size() int64 { return c.size }

// Rest returns about how many records follow, by the length of those so far, of which there
// are n; too few of a compressed file.
func (c *CSV) Rest(n int) int {
	read := c.reader.InputOffset()
	return int(max(0, float64(c.size-read)/float64(read)*float64(n)*1.01))
}

// NewCSV reads the header from r. The name appears in errors.
//
// Errors: there is no header, a column name is empty or there twice, or r is
// damaged.
func NewCSV(name string, r io.Reader) (*CSV, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := input.Gzip(buffered)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		buffered = bufio.NewReaderSize(unzipped, 1<<16)
	}
	if head, _ := buffered.Peek(4); true {
		if err := input.UTF8(head); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" { // UTF-8 byte order mark
		_, _ = buffered.Discard(3)
	}
	c := &CSV{name: name, budget: &budget{in: buffered}}
	c.reader = csv.NewReader(c.budget)
	c.reader.ReuseRecord = true
	if err := c.Next(); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: is empty: a line with column names is needed", name)
		}
		return nil, err
	}
	seen := map[string]bool{}
	for _, h := range c.record {
		h = strings.TrimSpace(h)
		if h == "" || seen[h] {
			return nil, fmt.Errorf("%s: line 1: column name %q is empty or there twice", name, h)
		}
		seen[h] = true
		c.header = append(c.header, h)
	}
	if err := Separated(c.header, ','); err != nil {
		return nil, fmt.Errorf("%s: line 1: %w", name, err)
	}
	return c, nil
}

// Header returns the column names, without surrounding space.
func (c *CSV) Header() []string { return c.header }

// Next reads the next record. At the end it returns io.EOF; every other error
// names the file and the line.
func (c *CSV) Next() (err error) {
	c.budget.left = maxRecordBytes
	c.record, err = c.reader.Read()
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return io.EOF
	case errors.Is(err, csv.ErrFieldCount):
		c.line, _ = c.reader.FieldPos(0)
		return fmt.Errorf("%s: line %d: has %d fields, the header has %d", c.name, c.line, len(c.record), len(c.header))
	case errors.As(err, &parse):
		return fmt.Errorf("%s: line %d: %w", c.name, parse.Line, parse.Err)
	case err != nil:
		return fmt.Errorf("%s: damaged after line %d: %w", c.name, c.line, err)
	}
	c.line, _ = c.reader.FieldPos(0)
	return nil
}

// Line returns the line that the current record begins on, from 1.
func (c *CSV) Line() int { return c.line }

// Text returns field i of the current record, without surrounding space. It
// stays valid.
func (c *CSV) Text(i int) string { return strings.Clone(strings.TrimSpace(c.record[i])) }

// Number returns field i of the current record; ok is false if it is empty.
//
// Errors: not a decimal number. NaN and infinities are numbers here.
func (c *CSV) Number(i int) (v float64, ok bool, err error) {
	s := strings.TrimSpace(c.record[i])
	if s == "" {
		return 0, false, nil
	}
	v, err = strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false, c.Errorf(i, "%.40q is not a number", s)
	}
	return v, true, nil
}

// Errorf returns an error about field i of the current record that names the
// file, the line and the column.
func (c *CSV) Errorf(i int, format string, args ...any) error {
	return fmt.Errorf("%s: line %d: column %s: %w", c.name, c.Line(), c.header[i], fmt.Errorf(format, args...))
}

// Close closes the file if OpenCSV opened it.
func (c *CSV) Close() error {
	if c.closer == nil {
		return nil
	}
	return c.closer.Close()
}

// maxRecordBytes bounds one record; a longer one is a missing quote.
const maxRecordBytes = 1 << 20

// budget passes bytes on until there are too many for one record.
type budget struct {
	in   io.Reader
	left int
}

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a record is longer than %d MiB: is a quote missing?", maxRecordBytes>>20)
	}
	n, err := b.in.Read(p)
	b.left -= n
	return n, err
}

// Separated returns an error if a header shows that fields are not separated by the
// given byte: it is one name, in which another separator is.
func Separated(header []string, by byte) error {
	if len(header) != 1 {
		return nil
	}
	for _, other := range []string{";", "\t", "|", ","} {
		if strings.Contains(header[0], other) && other != string(by) {
			return fmt.Errorf("the fields seem to be separated by %q: they must be separated by %q", other, by)
		}
	}
	return nil
}
