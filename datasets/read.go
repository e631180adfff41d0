package datasets

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"yardstick/datasets/table"
)

// Source is an open trace.
type Source struct {
	file  *table.File
	place []int // place[i] is the file's column of schema column i, or absent
}

const absent = -1 // in Source.place: the file has no such column

// Open opens a trace: a builtin ("builtin:philly-like") or a Parquet file in
// the unified schema. The caller closes it.
//
// Errors: no such builtin or file; the file is no Parquet, damaged, lacks a
// required column, has one that is not in the schema, or one of the wrong type.
func Open(name string) (*Source, error) {
	s, err := open(name)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	return s, nil
}

func open(name string) (*Source, error) {
	builtin, ok := strings.CutPrefix(name, "builtin:")
	if ok {
		return openBuiltin(builtin)
	}
	file, err := table.Open(name)
	if err != nil {
		return nil, err
	}
	s, err := newSource(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	return s, nil
}

// newSource matches the file's columns with the schema's.
func newSource(file *table.File) (*Source, error) {
	schema := Columns()
	s := &Source{file: file, place: make([]int, len(schema))}
	for i := range s.place {
		s.place[i] = absent
	}
	for at, have := range file.Columns() {
		if isIndex(have.Name) {
			continue
		}
		i, err := columnIndex(have.Name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		want := table.Number
		if schema[i].Type == "utf8" {
			want = table.Text
		}
		switch {
		case have.Kind == want:
			s.place[i] = at
		case have.Kind != table.Empty || schema[i].Required:
			return nil, fmt.Errorf("%s: column %s holds %s (%s): %s is required", file.Name(), have.Name, have.Kind, have.Type, want)
		}
	}
	for i, c := range schema {
		if c.Required && s.place[i] == absent {
			var have []string
			for _, h := range file.Columns() {
				have = append(have, h.Name)
			}
			return nil, fmt.Errorf("%s: has no column %s, which the trace schema requires (its columns are %s)", file.Name(), c.Name, strings.Join(have, ", "))
		}
	}
	return s, nil
}

// isIndex reports whether a column is the index that pandas adds to a table whose rows
// were filtered: where each was before.
func isIndex(name string) bool {
	level, ok := strings.CutPrefix(name, "__index_level_")
	level, ok2 := strings.CutSuffix(level, "__")
	_, err := strconv.ParseUint(level, 10, 16)
	return ok && ok2 && err == nil
}

// Note is a line about a trace that another program edited, which users should see; ""
// for all others.
func (s *Source) Note() string {
	by := s.file.Edited()
	if by == "" {
		return ""
	}
	return fmt.Sprintf("%s was edited by %s: the checksums in it no longer apply, and nothing tells whether it is damaged; bench dataset slice writes new ones", s.Name(), by)
}

// Name returns the name the source was opened by.
func (s *Source) Name() string { return s.file.Name() }

// Close closes the file.
func (s *Source) Close() error { return s.file.Close() }

// Rows reads the trace from the first row to the last, with only the named
// columns filled in, or all if none is named. The sequence ends with an error
// that names the file, and where it can the row (from 1) and the column, if the
// file is damaged, if the number of rows is not the footer's, or if a value
// breaks the schema. After an error the rows before it are not to be trusted.
//
// Memory: one page per column.
func (s *Source) Rows(columns ...string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		fields, places, err := s.choose(columns)
		if err != nil {
			yield(Row{}, fmt.Errorf("datasets: %s: %w", s.Name(), err))
			return
		}
		schema := Columns()
		var rows []Row
		for batch, err := range s.file.Scan(places) {
			if err != nil {
				yield(Row{}, fmt.Errorf("datasets: %w", err))
				return
			}
			rows = append(rows[:0], make([]Row, batch.Rows)...)
			for c, field := range fields {
				if i, err := fill(rows, &schema[field], field, batch, c); err != nil {
					yield(Row{}, fmt.Errorf("datasets: %s: row %d: %w", s.Name(), batch.First+int64(i)+1, err))
					return
				}
			}
			for i := range rows {
				if !yield(rows[i], nil) {
					return
				}
			}
		}
	}
}

// choose returns the schema's columns that are asked for and in the file, and
// where the file has them.
func (s *Source) choose(columns []string) (fields, places []int, err error) {
	if len(columns) == 0 {
		columns = columnNames()
	}
	for _, name := range columns {
		i, err := columnIndex(name)
		if err != nil {
			return nil, nil, err
		}
		if s.place[i] != absent {
			fields = append(fields, i)
			places = append(places, s.place[i])
		}
	}
	return fields, places, nil
}

// fill copies column c of the batch into the given field of every row and
// checks it. On an error it returns the index of the row.
func fill(rows []Row, column *Column, field int, batch *table.Batch, c int) (int, error) {
	for i := range rows {
		f := rows[i].field(field)
		switch f := f.(type) {
		case *string:
			v, ok := batch.Text(c, i)
			if !ok {
				return i, fmt.Errorf("column %s is NULL: it must not be", column.Name)
			}
			*f = v
		case *Opt[string]:
			f.V, f.OK = batch.Text(c, i)
		case *Opt[float64]:
			f.V, f.OK = batch.Number(c, i)
		}
		if err := checkField(column, f); err != nil {
			return i, err
		}
	}
	return 0, nil
}
