package table

import (
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

const (
	createdBy       = "yardstick version 1(build 1)"
	rowGroupRows    = 1 << 17 // what a writer holds in memory at most
	dictionaryBytes = 1 << 16 // larger dictionaries give way to plain texts
)

// Writer writes a Parquet file row by row: set the cells of a row, then call
// EndRow. Cells not set are NULL.
type Writer struct {
	columns []Column
	out     *parquet.GenericWriter[any]
	batch   []cells
	values  []parquet.Value // of one column of the batch
	digests []digest
	filled  int // rows in batch
	group   int // rows in the row group
}

// NewWriter returns a writer of the given columns, each of kind Text or Number
// (utf8 and double in the file). The caller closes it.
func NewWriter(w io.Writer, columns []Column) *Writer {
	nodes := parquet.Group{}
	for _, c := range columns {
		node := parquet.Leaf(parquet.DoubleType)
		if c.Kind == Text {
			node = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		}
		if c.Nullable {
			node = parquet.Optional(node)
		}
		nodes[c.Name] = node
	}
	t := &Writer{
		columns: columns,
		out: parquet.NewGenericWriter[any](w, parquet.NewSchema("table", orderedGroup{nodes, columns}),
			parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault}), parquet.CreatedBy("yardstick", "1", "1"), parquet.DictionaryMaxBytes(dictionaryBytes)),
		digests: make([]digest, len(columns)),
		values:  make([]parquet.Value, batchRows),
	}
	for _, c := range columns {
		t.batch = append(t.batch, newCells(c.Kind))
	}
	return t
}

// orderedGroup is a group whose fields are in the order of the columns rather
// than of the alphabet.
type orderedGroup struct {
	parquet.Group
	columns []Column
}

func (g orderedGroup) Fields() []parquet.Field {
	place := func(f parquet.Field) int {
		return slices.IndexFunc(g.columns, func(c Column) bool { return c.Name == f.Name() })
	}
	fields := g.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return place(a) - place(b) })
	return fields
}

// Text sets column c of the current row.
func (w *Writer) Text(c int, v string) {
	w.batch[c].texts[w.filled], w.batch[c].present[w.filled] = v, true
}

// Number sets column c of the current row.
func (w *Writer) Number(c int, v float64) {
	w.batch[c].numbers[w.filled], w.batch[c].present[w.filled] = v, true
}

// EndRow ends the current row and begins the next.
func (w *Writer) EndRow() error {
	w.filled++
	if w.filled < batchRows {
		return nil
	}
	return w.flush()
}

// flush writes the batch, column by column.
func (w *Writer) flush() error {
	out := w.out.ColumnWriters()
	for c := range w.columns {
		w.digests[c].add(&w.batch[c], w.filled)
		w.fill(c)
		if _, err := out[c].WriteRowValues(w.values[:w.filled]); err != nil {
			return fmt.Errorf("writing Parquet: %w", err)
		}
		clear(w.batch[c].present)
	}
	w.group += w.filled
	w.filled = 0
	if w.group >= rowGroupRows {
		w.group = 0
		if err := w.out.Flush(); err != nil {
			return fmt.Errorf("writing Parquet: %w", err)
		}
	}
	return nil
}

// fill makes values of column c of the batch, at their definition level: 1 if
// the column is nullable and the value is there, else 0.
func (w *Writer) fill(c int) {
	cells, column := &w.batch[c], &w.columns[c]
	null := parquet.NullValue().Level(0, 0, c)
	level := 0
	if column.Nullable {
		level = 1
	}
	for i := range w.filled {
		switch {
		case !cells.present[i] && column.Nullable:
			w.values[i] = null
		case !cells.present[i]:
			panic("table: no value for column " + column.Name + ", which is not nullable")
		case column.Kind == Text:
			// The library copies the bytes, and writes to none of them.
			text := unsafe.Slice(unsafe.StringData(cells.texts[i]), len(cells.texts[i]))
			w.values[i] = parquet.ByteArrayValue(text).Level(0, level, c)
		default:
			w.values[i] = parquet.DoubleValue(cells.numbers[i]).Level(0, level, c)
		}
	}
}

// Close writes what is left and the footer, with the checksums.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	sums := digests{}
	for c := range w.columns {
		sums[w.columns[c].Name] = w.digests[c].sum
	}
	w.out.SetKeyValueMetadata(digestKey, sums.String())
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("writing Parquet: %w", err)
	}
	return nil
}
