package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func sequence(rows [][]any, end error) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

// What was written is read back, column by column in order, NULLs and all.
func TestExport(t *testing.T) {
	fields := []Field{{"z", String, false}, {"text", String, true}, {"a", Int32, true}, {"big", Int64, false}, {"x", Double, true}, {"yes", Boolean, true}}
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var rows [][]any
		for i := range rng.IntN(5000) {
			row := []any{fmt.Sprint("é", i), "t", int64(rng.Int32()), rng.Int64(), rng.NormFloat64(), rng.IntN(2) == 0}
			for c := range row {
				if fields[c].Nullable && rng.IntN(3) == 0 {
					row[c] = nil
				}
			}
			rows = append(rows, row)
		}
		var b bytes.Buffer
		if err := Export(&b, fields, sequence(rows, nil)); err != nil {
			t.Fatal(err)
		}
		file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range file.Schema().Fields() {
			if c.Name() != fields[i].Name || c.Optional() != fields[i].Nullable {
				t.Errorf("column %d is %s", i, c.Name())
			}
		}
		if file.NumRows() != int64(len(rows)) {
			t.Fatalf("seed %d: %d rows, want %d", seed, file.NumRows(), len(rows))
		}
		n := 0
		for _, group := range file.RowGroups() {
			in := group.Rows()
			buffer := make([]parquet.Row, 100)
			for {
				got, err := in.ReadRows(buffer)
				for _, row := range buffer[:got] {
					for c, v := range row {
						want, _ := valueOf(fields[c], rows[n][c])
						if v.IsNull() != (rows[n][c] == nil) || !v.IsNull() && !parquet.Equal(v, want) {
							t.Fatalf("seed %d: row %d, %s: %v, want %v", seed, n, fields[c].Name, v, rows[n][c])
						}
					}
					n++
				}
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			in.Close()
		}
	}
}

func TestExportRefuses(t *testing.T) {
	fields := []Field{{"a", Int32, false}}
	for _, rows := range [][][]any{{{nil}}, {{"text"}}, {{int64(1 << 40)}}, {{1.5}}, {{int64(1), int64(2)}}, {{}}} {
		if err := Export(io.Discard, fields, sequence(rows, nil)); err == nil {
			t.Errorf("%v was written", rows)
		}
	}
	end := errors.New("end")
	if err := Export(io.Discard, fields, sequence([][]any{{int64(1)}}, end)); !errors.Is(err, end) {
		t.Errorf("%v", err)
	}
}
