package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"yardstick/bench/record"
	"yardstick/datasets/table"
	"yardstick/internal/output"
)

// writeParquet writes the tables of a result directory that have rows as
// Parquet files.
func (a *app) writeParquet(dir, out string) error {
	if out == "" {
		return usageError("--format parquet needs a directory to write to: -o DIR")
	}
	run, err := record.Open(dir)
	if err != nil {
		return usageError("%w", err)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return usageError("%w", err)
	}
	types := map[record.Type]table.FieldType{record.UTF8: table.String, record.Int32: table.Int32, record.Int64: table.Int64, record.Float64: table.Double, record.Bool: table.Boolean}
	for _, info := range run.Manifest.Files {
		columns, rows, err := run.Values(info.Name)
		if err != nil || info.Rows == 0 {
			continue // a table of a later version, or nothing to write
		}
		fields := make([]table.Field, len(columns))
		for i, c := range columns {
			fields[i] = table.Field{Name: c.Name, Type: types[c.Type], Nullable: c.Nullable}
		}
		path := filepath.Join(out, strings.TrimSuffix(info.Name, ".arrow")+".parquet")
		if err := a.writeFile(path, func(w io.Writer) error { return table.Export(w, fields, rows) }); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%s: %s\n", path, output.Count(int(info.Rows), "row"))
	}
	return nil
}
