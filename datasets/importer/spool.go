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
)

const spoolBuffer = 1 << 18

// temporary is a file that nobody else sees and that is gone once it is closed.
type temporary struct {
	*os.File
}

func newTemporary(dir string) (*temporary, error) {
	f, err := os.CreateTemp(dir, ".import-*")
	if err != nil {
		return nil, err
	}
	return &temporary{f}, nil
}

func (t *temporary) close() {
	t.Close()
	os.Remove(t.Name())
}

// spool is a queue of rows in a temporary file: first add all, then read all.
//
// A row is its length (4 bytes, little-endian), a word with one bit per field
// that is there, and the fields in the order of the schema: numbers as 8 bytes,
// the identifier as its length and bytes, other texts as a code. Code 0 is
// followed by a new text; code k is the k-th text that came new. The
// dictionary takes only so many, and code 1<<20 is followed by a text that is
// not to be remembered.
type spool struct {
	file  *temporary
	out   *bufio.Writer
	codes map[string]uint64
	row   []byte
}

const (
	newText   = 0
	maxTexts  = 1 << 16 // in the dictionary
	plainText = 1 << 20
)

func newSpool(dir string) (*spool, error) {
	f, err := newTemporary(dir)
	if err != nil {
		return nil, err
	}
	return &spool{file: f, out: bufio.NewWriterSize(f, spoolBuffer), codes: map[string]uint64{}}, nil
}

func (s *spool) close() { s.file.close() }

// labels and numbers are the optional fields of a row.
func labels(r *datasets.Row) [6]*datasets.Opt[string] {
	return [...]*datasets.Opt[string]{&r.User, &r.VC, &r.Group, &r.Status, &r.Model, &r.GPUType}
}

func numbers(r *datasets.Row) [9]*datasets.Opt[float64] {
	return [...]*datasets.Opt[float64]{&r.SubmitS, &r.QueueS, &r.DurationS, &r.GPUs, &r.CPUs, &r.BatchSize, &r.DeadlineS, &r.Iterations, &r.Weight}
}

func (s *spool) add(r *datasets.Row) error {
	b := append(s.row[:0], 0, 0, 0, 0, 0, 0)
	b = s.text(b, r.Trace)
	b = binary.AppendUvarint(b, uint64(len(r.JobID)))
	b = append(b, r.JobID...)
	present := uint16(0)
	for i, f := range labels(r) {
		if f.OK {
			present |= 1 << i
			b = s.text(b, f.V)
		}
	}
	for i, f := range numbers(r) {
		if f.OK {
			present |= 1 << (6 + i)
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f.V))
		}
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	binary.LittleEndian.PutUint16(b[4:], present)
	s.row = b
	_, err := s.out.Write(b)
	return err
}

func (s *spool) text(b []byte, t string) []byte {
	if code, ok := s.codes[t]; ok {
		return binary.AppendUvarint(b, code)
	}
	code := uint64(newText)
	if len(s.codes) < maxTexts {
		s.codes[t] = uint64(len(s.codes) + 1)
	} else {
		code = plainText
	}
	b = binary.AppendUvarint(b, code)
	b = binary.AppendUvarint(b, uint64(len(t)))
	return append(b, t...)
}

// rows reads back what was added, once.
func (s *spool) rows() iter.Seq2[datasets.Row, error] {
	return func(yield func(datasets.Row, error) bool) {
		if err := s.out.Flush(); err != nil {
			yield(datasets.Row{}, fmt.Errorf("temporary file: %w", err))
			return
		}
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			yield(datasets.Row{}, fmt.Errorf("temporary file: %w", err))
			return
		}
		d := decoder{in: bufio.NewReaderSize(s.file, spoolBuffer)}
		for {
			var row datasets.Row
			err := d.next(&row)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				err = fmt.Errorf("temporary file: %w", err)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// decoder reads rows of a spool.
type decoder struct {
	in    *bufio.Reader
	texts []string
	row   []byte // what is left of the row
	bytes []byte
}

func (d *decoder) next(r *datasets.Row) error {
	var head [4]byte
	if _, err := io.ReadFull(d.in, head[:]); err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if cap(d.bytes) < n {
		d.bytes = make([]byte, 2*n)
	}
	d.row = d.bytes[:n]
	if _, err := io.ReadFull(d.in, d.row); err != nil {
		return fmt.Errorf("cut off: %w", io.ErrUnexpectedEOF)
	}
	present := binary.LittleEndian.Uint16(d.row)
	d.row = d.row[2:]
	r.Trace = d.text()
	r.JobID = d.plain()
	for i, f := range labels(r) {
		if present&(1<<i) != 0 {
			*f = datasets.Some(d.text())
		}
	}
	for i, f := range numbers(r) {
		if present&(1<<(6+i)) != 0 {
			*f = datasets.Some(math.Float64frombits(binary.LittleEndian.Uint64(d.row)))
			d.row = d.row[8:]
		}
	}
	return nil
}

func (d *decoder) plain() string {
	n, k := binary.Uvarint(d.row)
	t := string(d.row[k : k+int(n)])
	d.row = d.row[k+int(n):]
	return t
}

func (d *decoder) text() string {
	code, k := binary.Uvarint(d.row)
	d.row = d.row[k:]
	switch code {
	case newText:
		t := d.plain()
		d.texts = append(d.texts, t)
		return t
	case plainText:
		return d.plain()
	}
	return d.texts[code-1]
}
