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
	rowGroupBytes   = 1 << 26 // the same in bytes, before compression
	dictionaryBytes = 1 << 16 // larger dictionaries give way to plain values
)

// Writer writes a Parquet file row by row: set the cells of a row, then call
// EndRow. Cells not set are NULL.
type Writer struct {
	columns []Column
	out     *parquet.GenericWriter[any]
	batch   *Batch          // of Text, Number and EndRow
	values  []parquet.Value // of one column of a batch
	nulls   []parquet.Value // all NULL
	digests []digest
	rows    int // in the row group
	bytes   int // in the row group, as they are digested
}

// NewWriter returns a writer of the given columns, each of kind Text or Number
// (utf8 and double in the file). The caller closes it.
func NewWriter(w io.Writer, columns []Column) *Writer {
	nodes := parquet.Group{}
	for _, c := range columns {
		node := parquet.Leaf(parquet.DoubleType)
		if c.Kind == Text {
			node = parquet.String()
		}
		if c.Distinct {
			node = parquet.Encoded(node, &parquet.Plain)
		} else {
			node = parquet.Encoded(node, &parquet.RLEDictionary)
		}
		if c.Nullable {
			node = parquet.Optional(node)
		}
		nodes[c.Name] = node
	}
	return &Writer{
		columns: columns,
		out: parquet.NewGenericWriter[any](w, parquet.NewSchema("table", orderedGroup{nodes, columns}),
			parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.CreatedBy("yardstick", "1", "1"), parquet.DictionaryMaxBytes(dictionaryBytes),
			parquet.DataPageStatistics(false)), // the column index has them
		batch:   NewBatch(columns),
		values:  make([]parquet.Value, BatchRows),
		nulls:   make([]parquet.Value, BatchRows),
		digests: make([]digest, len(columns)),
	}
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
func (w *Writer) Text(c int, v string) { w.batch.SetText(c, w.batch.Rows, v) }

// Number sets column c of the current row.
func (w *Writer) Number(c int, v float64) { w.batch.SetNumber(c, w.batch.Rows, v) }

// EndRow ends the current row and begins the next.
func (w *Writer) EndRow() error {
	w.batch.Rows++
	if w.batch.Rows < BatchRows {
		return nil
	}
	return w.flush()
}

// flush writes the rows of Text, Number and EndRow.
func (w *Writer) flush() error {
	err := w.Write(w.batch)
	w.batch.Clear()
	return err
}

// Write writes a batch of the writer's columns, after the rows that EndRow
// ended. It keeps nothing of the batch.
func (w *Writer) Write(b *Batch) error {
	if b != w.batch && w.batch.Rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	out := w.out.ColumnWriters()
	for c := range w.columns {
		w.bytes += w.digests[c].add(&b.cells[c], b.Rows)
		if _, err := out[c].WriteRowValues(w.column(c, b)); err != nil {
			return fmt.Errorf("writing Parquet: %w", err)
		}
	}
	w.rows += b.Rows
	if w.rows >= rowGroupRows || w.bytes >= rowGroupBytes {
		w.rows, w.bytes = 0, 0
		if err := w.out.Flush(); err != nil {
			return fmt.Errorf("writing Parquet: %w", err)
		}
	}
	return nil
}

// column returns the values of column c, at their definition level: 1 if the
// column is nullable and the value is there, else 0.
func (w *Writer) column(c int, b *Batch) []parquet.Value {
	cells, level := &b.cells[c], 0
	if w.columns[c].Nullable {
		level = 1
		if !cells.used {
			return w.nulls[:b.Rows]
		}
	} else if i := slices.Index(cells.present[:b.Rows], false); i >= 0 {
		panic("table: no value for column " + w.columns[c].Name + ", which is not nullable")
	}
	values := w.values[:b.Rows]
	for i, present := range cells.present[:b.Rows] {
		v := &values[i]
		if !present {
			*v = parquet.Value{}
			continue
		}
		if cells.texts == nil {
			*v = parquet.DoubleValue(cells.numbers[i])
		} else {
			// The library copies the bytes, and writes to none of them.
			text := cells.texts[i]
			*v = parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(text), len(text)))
		}
		v.SetDefinitionLevel(level)
	}
	return values
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
