package datasets

import (
	"fmt"
	"io"
	"iter"

	"yardstick/datasets/table"
	"yardstick/internal/output"
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
// appears whole or not at all, as package output says.
//
// Errors: a row breaks the schema; the error names it, from 1.
func WriteFile(path string, rows iter.Seq2[Row, error]) error {
	return WriteBatches(path, batches(rows))
}

// WriteBatches is WriteFile of rows that are in batches of NewBatch already.
func WriteBatches(path string, batches iter.Seq2[*table.Batch, error]) error {
	return output.Write(path, func(w io.Writer) error { return writeBatches(w, batches) })
}
