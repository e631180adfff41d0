package logs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/record"
	"yardstick/datasets/importer"
	"yardstick/datasets/table"
	"yardstick/internal/input"
	"yardstick/internal/strictjson"
)

// source is a table of texts.
type source interface {
	Header() []string
	Next() error       // io.EOF at the end
	Cell(i int) []byte // of the record; empty if it is not there; valid until Next
	Where() string     // the file and the place of the record
	Close() error
}

// open tells what a table is stored as.
func open(path string, o Options) (source, error) {
	head := make([]byte, 8)
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	n, _ := io.ReadFull(f, head)
	f.Close()
	head = head[:n]
	first := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n")
	switch {
	case o.Format.blanks:
		return openBlanks(path, o.Format.header)
	case table.IsParquet(head[:min(4, n)]):
		return openParquet(path)
	case string(head[:min(6, n)]) == "ARROW1":
		return openArrow(path)
	case len(first) > 0 && (first[0] == '{' || first[0] == '['), strings.Contains(path, ".json"):
		return openJSON(path)
	}
	comma := o.Comma
	if comma == 0 {
		comma = o.Format.comma
	}
	c, err := importer.OpenCSV(path, importer.CSVOptions{Header: o.Format.header, Comma: comma, Nulls: []string{"NaN", "nan", "NaT", "None", "NULL", "null", "NA"}})
	if err != nil {
		return nil, err
	}
	return csvSource{c}, nil
}

type csvSource struct{ *importer.CSV }

func (s csvSource) Cell(i int) []byte { return s.Bytes(i) }
func (s csvSource) Where() string     { return fmt.Sprintf("%s: line %d", s.Name(), s.Line()) }

// blanks reads lines of fields that are separated by spaces.
type blanks struct {
	file   *importer.File
	lines  *bufio.Scanner
	header []string
	line   int
	fields [][]byte
}

func openBlanks(path string, header []string) (source, error) {
	f, err := importer.Open(path, "")
	if err != nil {
		return nil, err
	}
	return &blanks{file: f, lines: bufio.NewScanner(f), header: header}, nil
}

func (s *blanks) Header() []string  { return s.header }
func (s *blanks) Cell(i int) []byte { return s.fields[i] }
func (s *blanks) Where() string     { return fmt.Sprintf("%s: line %d", s.file.Name(), s.line) }
func (s *blanks) Close() error      { return s.file.Close() }

func (s *blanks) Next() error {
	for s.lines.Scan() {
		s.line++
		s.fields = bytes.Fields(s.lines.Bytes())
		if len(s.fields) == 0 || s.fields[0][0] == ';' {
			continue
		}
		if len(s.fields) < len(s.header) {
			return fmt.Errorf("%s: has %d fields, the format has %d", s.Where(), len(s.fields), len(s.header))
		}
		return nil
	}
	if err := s.lines.Err(); err != nil {
		return fmt.Errorf("%s: damaged after line %d: %w", s.file.Name(), s.line, err)
	}
	return io.EOF
}

// parquet reads the columns of a Parquet file that are text or numbers.
type parquet struct {
	file   *table.File
	header []string
	next   func() (*table.Batch, error, bool)
	stop   func()
	batch  *table.Batch
	row    int
	number []bool
	buffer []byte
}

func openParquet(path string) (source, error) {
	file, err := table.Open(path)
	if err != nil {
		return nil, err
	}
	s := &parquet{file: file}
	var scan []int
	for i, c := range file.Columns() {
		if c.Kind == table.Text || c.Kind == table.Number {
			scan, s.header, s.number = append(scan, i), append(s.header, c.Name), append(s.number, c.Kind == table.Number)
		}
	}
	s.next, s.stop = iter.Pull2(file.Scan(scan))
	return s, nil
}

func (s *parquet) Header() []string { return s.header }
func (s *parquet) Close() error     { s.stop(); return s.file.Close() }
func (s *parquet) Where() string {
	return fmt.Sprintf("%s: row %d", s.file.Name(), s.batch.First+int64(s.row)+1)
}

func (s *parquet) Next() error {
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

func (s *parquet) Cell(i int) []byte {
	if !s.number[i] {
		text, _ := s.batch.Text(i, s.row)
		return append(s.buffer[:0], text...)
	}
	v, ok := s.batch.Number(i, s.row)
	if !ok || math.IsNaN(v) {
		return nil
	}
	s.buffer = strconv.AppendFloat(s.buffer[:0], v, 'f', -1, 64)
	return s.buffer
}

// arrow reads an Arrow file, which is in memory as a whole.
type arrow struct {
	path   string
	header []string
	rows   [][]string
	row    int
}

func openArrow(path string) (source, error) {
	data, err := input.Read(path)
	if err != nil {
		return nil, err
	}
	header, rows, err := record.Texts(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &arrow{path: path, header: header, rows: rows, row: -1}, nil
}

func (s *arrow) Header() []string  { return s.header }
func (s *arrow) Cell(i int) []byte { return []byte(s.rows[s.row][i]) }
func (s *arrow) Where() string     { return fmt.Sprintf("%s: row %d", s.path, s.row+1) }
func (s *arrow) Close() error      { return nil }
func (s *arrow) Next() error {
	if s.row++; s.row >= len(s.rows) {
		return io.EOF
	}
	return nil
}

// objects reads JSON objects. The columns are the keys of the first.
type objects struct {
	json   *importer.JSON
	header []string
	object map[string]json.RawMessage
	row    int
}

func openJSON(path string) (source, error) {
	j, err := importer.OpenJSON(path, "", nil)
	if err != nil {
		return nil, err
	}
	s := &objects{json: j}
	if err := j.Next(&s.object); err != nil {
		j.Close()
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: is empty", path)
		}
		return nil, err
	}
	s.header = slices.Sorted(maps.Keys(s.object))
	return s, nil
}

func (s *objects) Header() []string { return s.header }
func (s *objects) Where() string    { return fmt.Sprintf("%s: object %d", s.json.Name(), s.row) }
func (s *objects) Close() error     { return s.json.Close() }
func (s *objects) Next() error {
	if s.row++; s.row == 1 {
		return nil // it is there already
	}
	s.object = nil
	err := s.json.Next(&s.object)
	for key := range s.object {
		if !slices.Contains(s.header, key) {
			return s.json.Errorf("the key %q is not in the first object: every object must have the same keys, null where there is no value", key)
		}
	}
	return err
}

func (s *objects) Cell(i int) []byte {
	raw := s.object[s.header[i]]
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] == '"' {
		var text string
		if strictjson.UnmarshalPart(raw, &text) == nil {
			return []byte(text)
		}
	}
	return raw
}
