package record

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// batchRows is the number of rows of a record batch. Small batches cost far
// more bytes per row and slow readers down.
const batchRows = 64 << 10

func arrowType(t Type) arrow.DataType {
	switch t {
	case UTF8:
		return arrow.BinaryTypes.String
	case Int32:
		return arrow.PrimitiveTypes.Int32
	case Int64:
		return arrow.PrimitiveTypes.Int64
	case Float64:
		return arrow.PrimitiveTypes.Float64
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	}
	panic("record: no Arrow type for " + string(t))
}

func schema(columns []Column, metadata [][2]string) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		keys, values := []string{"description", "group"}, []string{c.Doc, string(c.Group)}
		if c.Unit != "" {
			keys, values = append(keys, "unit"), append(values, c.Unit)
		}
		fields[i] = arrow.Field{Name: c.Name, Type: arrowType(c.Type), Nullable: c.Nullable, Metadata: arrow.NewMetadata(keys, values)}
	}
	var keys, values []string
	for _, kv := range metadata {
		keys, values = append(keys, kv[0]), append(values, kv[1])
	}
	md := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(fields, &md)
}

// encode writes the table of a run as an Arrow IPC file and returns the number
// of rows. A table without rows still holds its schema.
func (t *table[R]) encode(w io.Writer, run *Run, metadata [][2]string) (int, error) {
	rows := *t.rows(run)
	columns := t.describe()
	s := schema(columns, metadata)
	out, err := ipc.NewFileWriter(&counter{Writer: w}, ipc.WithSchema(s))
	if err != nil {
		return 0, err
	}
	builder := array.NewRecordBuilder(memory.NewGoAllocator(), s)
	defer builder.Release()
	for from := 0; from < len(rows); from += batchRows {
		batch := rows[from:min(from+batchRows, len(rows))]
		builder.Reserve(len(batch))
		for i := range batch {
			for c := range columns {
				v, err := get(t.columns[c].field(&batch[i]))
				if err != nil {
					return 0, t.rowError(from+i, &batch[i], fmt.Errorf("column %s %w", columns[c].Name, err))
				}
				appendTo(builder.Field(c), v)
			}
		}
		record := builder.NewRecord()
		err := out.Write(record)
		record.Release()
		if err != nil {
			return 0, err
		}
	}
	return len(rows), out.Close()
}

func appendTo(b array.Builder, v value) {
	if v.null {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(v.s)
	case *array.Int32Builder:
		b.Append(int32(v.i))
	case *array.Int64Builder:
		b.Append(v.i)
	case *array.Float64Builder:
		b.Append(v.f)
	case *array.BooleanBuilder:
		b.Append(v.b)
	default:
		panic(fmt.Sprintf("record: no value for %T", b))
	}
}

// counter gives a writer the Seek that the IPC writer asks for its position,
// and for nothing else.
type counter struct {
	io.Writer
	n int64
}

// Write implements io.Writer.
func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	return n, err
}

// Seek returns the position, whatever it is asked for.
func (c *counter) Seek(int64, int) (int64, error) { return c.n, nil }
