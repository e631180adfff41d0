package generic

import (
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"unicode/utf8"

	"yardstick/datasets"
	"yardstick/datasets/importer"
	"yardstick/datasets/table"
	"yardstick/internal/input"
)

// source reads records. Columns are numbered as in the header.
type source interface {
	Name() string
	Header() []string
	choose(columns []int) error // called once, before Next: the only columns that will be read
	Next() error                // io.EOF at the end
	Label(i int) (datasets.Opt[string], error)
	Finite(i int) (datasets.Opt[float64], error)
	Time(i int, c importer.Clock) (datasets.Opt[int64], error)
	Errorf(i int, format string, args ...any) error
	Close() error
}

// open tells Parquet from CSV by the first bytes.
func open(path string, o Options) (source, error) {
	parquet, err := isParquet(path)
	if err != nil {
		return nil, err
	}
	if parquet {
		file, err := table.Open(path)
		if err != nil {
			return nil, err
		}
		return newParquet(file), nil
	}
	if o.Nulls == nil {
		o.Nulls = []string{"NaN", "nan", "NaT", "None", "NULL", "null", "NA"}
	}
	c, err := importer.OpenCSV(path, importer.CSVOptions{Member: o.Member, Watch: o.Watch, Header: o.Header, Comma: o.Comma, Nulls: o.Nulls})
	if err != nil {
		return nil, err
	}
	return csvSource{c}, nil
}

func isParquet(path string) (bool, error) {
	f, err := input.Open(path)
	if err != nil {
		return false, nil // whoever opens it next says why in better words
	}
	defer f.Close()
	head := make([]byte, 4)
	if _, err := io.ReadFull(f, head); err != nil {
		return false, nil
	}
	return table.IsParquet(head), nil
}

type csvSource struct{ *importer.CSV }

func (s csvSource) choose([]int) error { return nil }

func (s csvSource) Label(i int) (datasets.Opt[string], error) {
	if !utf8.Valid(s.Bytes(i)) {
		return datasets.Opt[string]{}, s.Errorf(i, "is not UTF-8 text")
	}
	return s.CSV.Label(i), nil
}

// parquetSource reads a Parquet file row by row.
type parquetSource struct {
	*table.File
	header []string
	place  []int // of a column of the file among those that are scanned
	next   func() (*table.Batch, error, bool)
	stop   func()
	batch  *table.Batch
	row    int // in the batch
}

func newParquet(file *table.File) *parquetSource {
	s := &parquetSource{File: file}
	for _, c := range file.Columns() {
		s.header = append(s.header, c.Name)
	}
	return s
}

func (s *parquetSource) Header() []string { return s.header }

func (s *parquetSource) choose(columns []int) error {
	s.place = make([]int, len(s.header))
	var scan []int
	for _, c := range columns {
		s.place[c] = len(scan) // a column that is chosen twice is scanned twice
		scan = append(scan, c)
	}
	s.next, s.stop = iter.Pull2(s.Scan(scan))
	return nil
}

func (s *parquetSource) Close() error {
	if s.stop != nil {
		s.stop()
	}
	return s.File.Close()
}

func (s *parquetSource) Next() error {
	s.row++
	for s.batch == nil || s.row >= s.batch.Rows {
		batch, err, ok := s.next()
		if !ok {
			return io.EOF
		}
		if err != nil {
			return err
		}
		s.batch, s.row = batch, 0
	}
	return nil
}

func (s *parquetSource) isText(i int) bool { return s.Columns()[i].Kind == table.Text }

func (s *parquetSource) Label(i int) (datasets.Opt[string], error) {
	if s.isText(i) {
		v, ok := s.batch.Text(s.place[i], s.row)
		return datasets.Opt[string]{V: v, OK: ok && v != ""}, nil
	}
	v, ok := s.batch.Number(s.place[i], s.row)
	if !ok || math.IsNaN(v) {
		return datasets.Opt[string]{}, nil
	}
	return datasets.Some(strconv.FormatFloat(v, 'f', -1, 64)), nil
}

func (s *parquetSource) Finite(i int) (datasets.Opt[float64], error) {
	null := datasets.Opt[float64]{}
	if s.isText(i) {
		v, ok := s.batch.Text(s.place[i], s.row)
		if !ok || v == "" {
			return null, nil
		}
		number, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			return null, s.Errorf(i, "%.40q is not a finite number", v)
		}
		return datasets.Some(number), nil
	}
	v, ok := s.batch.Number(s.place[i], s.row)
	if !ok || math.IsNaN(v) {
		return null, nil
	}
	if math.IsInf(v, 0) {
		return null, s.Errorf(i, "%w", table.CheckQuantity(v))
	}
	return datasets.Some(v), nil
}

func (s *parquetSource) Time(i int, c importer.Clock) (datasets.Opt[int64], error) {
	null := datasets.Opt[int64]{}
	if !s.isText(i) {
		return null, s.Errorf(i, "holds %s: a date is text", s.Columns()[i].Kind)
	}
	v, ok := s.batch.Text(s.place[i], s.row)
	if !ok || v == "" {
		return null, nil
	}
	nanos, err := c.Parse([]byte(v))
	if err != nil {
		return null, s.Errorf(i, "%w", err)
	}
	return datasets.Some(nanos), nil
}

func (s *parquetSource) Errorf(i int, format string, args ...any) error {
	return fmt.Errorf("%s: row %d: column %s: %w", s.Name(), s.batch.First+int64(s.row)+1, s.header[i], fmt.Errorf(format, args...))
}
