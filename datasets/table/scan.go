package table

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// Scan reads the columns of the given indices from the first row to the last.
// The sequence ends with an error if the file is damaged, holds fewer or more
// rows than its footer announces, or holds a column that does not match its
// checksum (files of [Writer] carry one per column); then the rows seen before
// are not to be trusted either.
//
// Memory: one page per column. Only columns of kind Text and Number can be
// scanned.
func (t *File) Scan(columns []int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		s := &scan{file: t}
		for _, c := range columns {
			if k := t.columns[c].Kind; k != Text && k != Number {
				yield(nil, fmt.Errorf("%s: column %s is %s: it cannot be read as text or number", t.name, t.columns[c].Name, t.columns[c].Type))
				return
			}
			s.readers = append(s.readers, newColumnReader(&t.columns[c], c))
			s.batch.cells = append(s.batch.cells, newCells(t.columns[c].Kind))
			s.batch.cells[len(s.batch.cells)-1].used = true // whatever is read
		}
		defer s.close()
		for g, group := range t.file.RowGroups() {
			if !s.rowGroup(g, group, yield) {
				return
			}
		}
		if err := s.finish(); err != nil {
			yield(nil, err)
		}
	}
}

type scan struct {
	file    *File
	readers []*columnReader
	batch   Batch
	rows    int64 // read so far
}

// rowGroup yields the batches of one row group; it returns false when the scan
// is over.
func (s *scan) rowGroup(g int, group parquet.RowGroup, yield func(*Batch, error) bool) bool {
	fail := func(c *Column, err error) bool {
		yield(nil, fmt.Errorf("%s: column %s, row group %d, after row %d: %w", s.file.name, c.Name, g, s.rows, err))
		return false
	}
	for _, r := range s.readers {
		chunk := &s.file.file.Metadata().RowGroups[g].Columns[r.index].MetaData
		err := protect(func() error {
			if err := s.file.checkPages(chunk); err != nil {
				return err
			}
			return r.open(group)
		})
		if err != nil {
			return fail(r.column, err)
		}
	}
	for left := group.NumRows(); left > 0; {
		n := int(min(left, BatchRows))
		for i, r := range s.readers {
			if err := protect(func() error { return r.read(&s.batch.cells[i], n) }); err != nil {
				return fail(r.column, err)
			}
		}
		s.batch.First, s.batch.Rows = s.rows, n
		s.rows += int64(n)
		left -= int64(n)
		if !yield(&s.batch, nil) {
			return false
		}
	}
	for _, r := range s.readers {
		if err := protect(r.expectEnd); err != nil {
			return fail(r.column, err)
		}
	}
	return true
}

// finish checks the number of rows and the checksums, once all was read.
func (s *scan) finish() error {
	if s.rows != s.file.Rows() {
		return fmt.Errorf("%s: damaged: %d rows were read, the footer announces %d", s.file.name, s.rows, s.file.Rows())
	}
	if s.file.digests == nil {
		return nil
	}
	for _, r := range s.readers {
		want, ok := s.file.digests[r.column.Name]
		if !ok || want != r.digest.sum {
			return fmt.Errorf("%s: damaged: column %s %w%s", s.file.name, r.column.Name, errDigest, s.file.writer())
		}
	}
	return nil
}

// errDigest means that a column is not the one that was written.
var errDigest = errors.New("does not match its checksum")

// writer says what may have become of a file whose footer names another program than
// this one.
func (t *File) writer() string {
	by := t.file.Metadata().CreatedBy
	if by == createdBy {
		return ""
	}
	return fmt.Sprintf(" (or %q edited it and kept the metadata %s: remove these, or edit with bench dataset slice)", by, digestKey)
}

func (s *scan) close() {
	for _, r := range s.readers {
		// What was read has been checked; closing only gives buffers back.
		_ = protect(r.close)
	}
}

// columnReader reads one column, row group after row group.
type columnReader struct {
	column *Column
	index  int
	values parquet.ColumnChunkValueReader
	buffer []parquet.Value
	digest digest
	known  map[string]string // recent texts, so that equal ones share memory
}

func newColumnReader(c *Column, index int) *columnReader {
	return &columnReader{column: c, index: index, buffer: make([]parquet.Value, BatchRows), known: map[string]string{}}
}

func (r *columnReader) open(group parquet.RowGroup) error {
	if err := r.close(); err != nil {
		return err
	}
	r.values = parquet.NewColumnChunkValueReader(group.ColumnChunks()[r.index])
	return nil
}

func (r *columnReader) close() error {
	if r.values == nil {
		return nil
	}
	v := r.values
	r.values = nil
	return v.Close()
}

// read fills the first n cells.
func (r *columnReader) read(out *cells, n int) error {
	for got := 0; got < n; {
		k, err := r.values.ReadValues(r.buffer[:n-got])
		// The values point into a page that the next call may give back.
		for _, v := range r.buffer[:k] {
			if err := r.store(out, got, v); err != nil {
				return err
			}
			got++
		}
		switch {
		case got == n:
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("damaged: the column ends too early")
		case err != nil:
			return fmt.Errorf("damaged: %w", oneLine(err))
		}
	}
	r.digest.add(out, n)
	return nil
}

// expectEnd returns an error if the column holds more values than its row
// group has rows.
func (r *columnReader) expectEnd() error {
	k, err := r.values.ReadValues(r.buffer[:1])
	if k != 0 {
		return errors.New("damaged: the column holds more values than rows were announced")
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("damaged after the last row: %w", oneLine(err))
	}
	return nil
}

// store copies one value into cell i.
func (r *columnReader) store(out *cells, i int, v parquet.Value) error {
	out.present[i] = !v.IsNull()
	if r.column.Kind == Text {
		if v.IsNull() {
			out.texts[i] = ""
			return nil
		}
		b := v.ByteArray()
		if !utf8.Valid(b) {
			return fmt.Errorf("damaged: %q is not UTF-8 text", b)
		}
		out.texts[i] = r.share(b)
		return nil
	}
	out.numbers[i] = r.number(v)
	return nil
}

func (r *columnReader) number(v parquet.Value) float64 {
	switch {
	case v.IsNull():
		return 0
	case v.Kind() == parquet.Double:
		return v.Double()
	case v.Kind() == parquet.Float:
		return float64(v.Float())
	case v.Kind() == parquet.Int32 && r.column.unsigned:
		return float64(v.Uint32())
	case v.Kind() == parquet.Int32:
		return float64(v.Int32())
	case r.column.unsigned:
		return float64(v.Uint64())
	}
	return float64(v.Int64())
}

// share returns b as a string that equal values of the column share, as long
// as there are not too many.
func (r *columnReader) share(b []byte) string {
	if s, ok := r.known[string(b)]; ok {
		return s
	}
	if len(r.known) >= 1<<12 {
		clear(r.known)
	}
	s := string(b)
	r.known[s] = s
	return s
}

// oneLine keeps the first line of an error's text.
func oneLine(err error) error {
	first, rest, _ := strings.Cut(err.Error(), "\n")
	if rest == "" {
		return err
	}
	return errors.New(first)
}
