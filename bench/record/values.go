package record

import (
	"fmt"
	"iter"
)

// Values returns the rows of the named file of a result directory, such as
// ratios.arrow, with its columns: one value per column, a string, int64,
// float64 or bool, nil where it is missing. A row is good until the next.
//
// Errors: there is no such table; in the sequence, a value that may not be
// stored.
func (r *Run) Values(name string) ([]Column, iter.Seq2[[]any, error], error) {
	for _, f := range tables(r.Manifest.Params) {
		if t := f.table(); t.Name == name {
			return t.Columns, f.values(r), nil
		}
	}
	return nil, nil, fmt.Errorf("record: there is no table %s", name)
}

func (t *table[R]) values(run *Run) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		columns := t.describe()
		rows := *t.rows(run)
		line := make([]any, len(columns))
		for i := range rows {
			for c := range columns {
				v, err := get(t.columns[c].field(&rows[i]))
				if err != nil {
					yield(nil, fmt.Errorf("record: %s: %w", t.file(), t.rowError(i, &rows[i], fmt.Errorf("column %s %w", columns[c].Name, err))))
					return
				}
				line[c] = v.of(columns[c].Type)
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// of returns the value as a Go value of its column's type, nil if it is
// missing.
func (v value) of(t Type) any {
	switch {
	case v.null:
		return nil
	case t == UTF8:
		return v.s
	case t == Float64:
		return v.f
	case t == Bool:
		return v.b
	}
	return v.i
}
