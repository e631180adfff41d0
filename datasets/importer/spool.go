package importer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"

	"yardstick/datasets"
	"yardstick/datasets/table"
)

const spoolBuffer = 1 << 18

// newTemporary returns a file that nobody else sees and that is gone once it is closed,
// or the process has ended.
func newTemporary(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".import-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// spool is a queue of rows in a temporary file: first add all, then read all.
//
// The file holds batches, each with its length in front (4 bytes,
// little-endian). A batch is its number of rows and its columns one after the
// other: a byte that says which values are there, followed by a byte per row if
// only some are, and the values that are there: numbers as 8 bytes, texts as
// length and bytes, or as just one text if all are the same.
type spool struct {
	file    *os.File
	columns []datasets.Column
	batch   *table.Batch // to be written, or read last
	held    int          // bytes of text in batch
	bytes   []byte       // of batches to be written, or of the batch read last
}

// Which values of a column are there.
const (
	noValues   = iota
	someValues // a byte per row says which
	allValues
	oneValue // in all rows; of texts only
)

func newSpool(dir string) (*spool, error) {
	f, err := newTemporary(dir)
	if err != nil {
		return nil, err
	}
	return &spool{file: f, columns: datasets.Columns(), batch: datasets.NewBatch()}, nil
}

func (s *spool) close() { s.file.Close() }

func (s *spool) add(r *datasets.Row) error {
	r.Append(s.batch)
	s.held += len(r.JobID) + len(r.User.V) + len(r.VC.V) + len(r.Group.V) + len(r.Status.V) + len(r.Model.V) + len(r.GPUType.V)
	if s.batch.Rows < table.BatchRows && s.held < spoolBuffer {
		return nil
	}
	s.encode()
	if len(s.bytes) < spoolBuffer {
		return nil
	}
	return s.write()
}

// write writes what was encoded.
func (s *spool) write() error {
	_, err := s.file.Write(s.bytes)
	s.bytes = s.bytes[:0]
	return err
}

// encode appends the batch to what is to be written, and empties it.
func (s *spool) encode() {
	at := len(s.bytes)
	b := append(s.bytes, 0, 0, 0, 0)
	b = binary.AppendUvarint(b, uint64(s.batch.Rows))
	for c := range s.columns {
		switch {
		case s.batch.Empty(c):
			b = append(b, noValues)
		case s.columns[c].Type == "utf8":
			b = appendTexts(b, s.batch, c)
		default:
			b = appendNumbers(b, s.batch, c)
		}
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	s.batch.Clear()
	s.bytes, s.held = b, 0
}

func appendNumbers(b []byte, batch *table.Batch, c int) []byte {
	values, present := batch.Numbers(c)
	b = appendPresent(b, present)
	for i, v := range values {
		if present[i] {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

func appendTexts(b []byte, batch *table.Batch, c int) []byte {
	values, present := batch.Texts(c)
	at := len(b)
	b = appendPresent(b, present)
	if b[at] == allValues && same(values) {
		b[at] = oneValue
		values = values[:1]
	}
	for i, v := range values {
		if present[i] {
			b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
		}
	}
	return b
}

func same(values []string) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}

// appendPresent appends someValues and a byte per row, or allValues.
func appendPresent(b []byte, present []bool) []byte {
	at, all := len(b), true
	b = append(b, someValues)
	for _, there := range present {
		if there {
			b = append(b, 1)
		} else {
			b = append(b, 0)
			all = false
		}
	}
	if all {
		b = append(b[:at], allValues)
	}
	return b
}

// batches reads back what was added, once. A batch is valid until the next one.
func (s *spool) batches() iter.Seq2[*table.Batch, error] {
	return func(yield func(*table.Batch, error) bool) {
		s.encode()
		err := s.write()
		if err == nil {
			_, err = s.file.Seek(0, io.SeekStart)
		}
		in := bufio.NewReaderSize(s.file, spoolBuffer)
		for err == nil {
			if err = s.read(in); err == nil && !yield(s.batch, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			yield(nil, fmt.Errorf("temporary file: %w", err))
		}
	}
}

// read reads the next batch; io.EOF says that there is none.
func (s *spool) read(in io.Reader) error {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if cap(s.bytes) < n {
		s.bytes = make([]byte, 2*n)
	}
	b := s.bytes[:n]
	if _, err := io.ReadFull(in, b); err != nil {
		return fmt.Errorf("cut off: %w", io.ErrUnexpectedEOF)
	}
	s.batch.Clear()
	rows, k := binary.Uvarint(b)
	s.batch.Rows = int(rows)
	d := decoder{batch: s.batch, bytes: b, text: string(b), at: k}
	for c := range s.columns {
		d.column(c, s.columns[c].Type == "utf8")
	}
	return nil
}

// decoder reads the columns of a batch.
type decoder struct {
	batch *table.Batch
	bytes []byte
	text  string // the same bytes; the batch's texts are parts of it
	at    int    // what is read next
}

func (d *decoder) column(c int, text bool) {
	kind := d.bytes[d.at]
	d.at++
	if kind == noValues {
		return
	}
	var present []byte
	if kind == someValues {
		present = d.bytes[d.at : d.at+d.batch.Rows]
		d.at += d.batch.Rows
	}
	value := ""
	for i := range d.batch.Rows {
		switch {
		case kind == someValues && present[i] == 0:
		case text:
			if kind != oneValue || i == 0 {
				n, k := binary.Uvarint(d.bytes[d.at:])
				value = d.text[d.at+k : d.at+k+int(n)]
				d.at += k + int(n)
			}
			d.batch.SetText(c, i, value)
		default:
			d.batch.SetNumber(c, i, math.Float64frombits(binary.LittleEndian.Uint64(d.bytes[d.at:])))
			d.at += 8
		}
	}
}
