package datasets

import (
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"yardstick/datasets/table"
)

// Write writes rows as a Parquet file in the unified schema, streaming.
//
// Errors: a row breaks the schema; the error names it, from 1.
func Write(w io.Writer, rows iter.Seq2[Row, error]) error {
	schema := Columns()
	out := table.NewWriter(w, tableColumns())
	n := 0
	for row, err := range rows {
		if err != nil {
			return err
		}
		n++
		if err := row.check(schema); err != nil {
			return fmt.Errorf("datasets: row %d: %w", n, err)
		}
		for c := range schema {
			switch f := row.field(c).(type) {
			case *string:
				out.Text(c, *f)
			case *Opt[string]:
				if f.OK {
					out.Text(c, f.V)
				}
			case *Opt[float64]:
				if f.OK {
					out.Number(c, f.V)
				}
			}
		}
		if err := out.EndRow(); err != nil {
			return fmt.Errorf("datasets: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	return nil
}

// WriteFile is Write to a file. The file appears whole or not at all: it is
// written beside its place and renamed.
func WriteFile(path string, rows iter.Seq2[Row, error]) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".trace-*")
	if err != nil {
		return fmt.Errorf("datasets: cannot write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := Write(f, rows); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return fmt.Errorf("datasets: cannot write %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("datasets: cannot write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("datasets: cannot write %s: %w", path, err)
	}
	return nil
}
