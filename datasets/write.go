package datasets

import (
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"yardstick/datasets/table"
)

// writeBatches writes rows as a Parquet file in the unified schema, streaming.
//
// Errors: a row breaks the schema; the error names it, from 1.
func writeBatches(w io.Writer, batches iter.Seq2[*table.Batch, error]) error {
	schema := Columns()
	out := table.NewWriter(w, tableColumns())
	rows := 0
	for b, err := range batches {
		if err != nil {
			return err
		}
		if i, err := checkBatch(b, schema); err != nil {
			return fmt.Errorf("datasets: row %d: %w", rows+i+1, err)
		}
		rows += b.Rows
		if err := out.Write(b); err != nil {
			return fmt.Errorf("datasets: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	return nil
}

// WriteFile writes rows as a Parquet file in the unified schema, streaming. The file
// appears whole or not at all: it is written beside its place and renamed.
//
// Errors: a row breaks the schema; the error names it, from 1.
func WriteFile(path string, rows iter.Seq2[Row, error]) error {
	return WriteBatches(path, batches(rows))
}

// WriteBatches is WriteFile of rows that are in batches of NewBatch already.
func WriteBatches(path string, batches iter.Seq2[*table.Batch, error]) (err error) {
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
	if err := writeBatches(f, batches); err != nil {
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
