package table

import (
	"fmt"
	"io"
	"iter"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// Field is a column to export, of one of the types in the constants.
type Field struct {
	Name     string
	Type     FieldType
	Nullable bool
}

// FieldType is how a value is stored.
type FieldType uint8

// The types and what Go values they are made of.
const (
	String  FieldType = iota // string, as UTF-8
	Int32                    // int64 within the range
	Int64                    // int64
	Double                   // float64
	Boolean                  // bool
)

// Export writes rows as a Parquet file, in the order of the fields. A row has
// one value per field, nil for NULL. The file can be read by every reader that
// the project knows: flat columns, plain types, zstd.
//
// Errors: a value of another type, a NULL where there may be none, or what rows
// or w return.
func Export(w io.Writer, fields []Field, rows iter.Seq2[[]any, error]) error {
	group := parquet.Group{}
	columns := make([]Column, len(fields))
	for i, f := range fields {
		columns[i] = Column{Name: f.Name}
		node := f.Type.node()
		if f.Nullable {
			node = parquet.Optional(node)
		}
		group[f.Name] = node
	}
	out := parquet.NewGenericWriter[any](w, parquet.NewSchema("table", orderedGroup{group, columns}),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.CreatedBy("yardstick", "1", "1"))
	const batch = 1024
	pending := make([]parquet.Row, 0, batch)
	flush := func() error {
		_, err := out.WriteRows(pending)
		pending = pending[:0]
		return err
	}
	n := 0
	for values, err := range rows {
		if err != nil {
			return err
		}
		row, err := rowOf(fields, values)
		if err != nil {
			return fmt.Errorf("writing Parquet: row %d: %w", n, err)
		}
		n++
		if pending = append(pending, row); len(pending) == batch {
			if err := flush(); err != nil {
				return fmt.Errorf("writing Parquet: %w", err)
			}
			if n%rowGroupRows == 0 {
				if err := out.Flush(); err != nil {
					return fmt.Errorf("writing Parquet: %w", err)
				}
			}
		}
	}
	if err := flush(); err != nil {
		return fmt.Errorf("writing Parquet: %w", err)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("writing Parquet: %w", err)
	}
	return nil
}

func (t FieldType) node() parquet.Node {
	switch t {
	case String:
		return parquet.String()
	case Int32:
		return parquet.Leaf(parquet.Int32Type)
	case Int64:
		return parquet.Leaf(parquet.Int64Type)
	case Double:
		return parquet.Leaf(parquet.DoubleType)
	case Boolean:
		return parquet.Leaf(parquet.BooleanType)
	}
	panic(fmt.Sprintf("table: no field type %d", t))
}

// rowOf turns values into a row, each at its definition level: 1 if the field
// is nullable and the value is there, else 0.
func rowOf(fields []Field, values []any) (parquet.Row, error) {
	if len(values) != len(fields) {
		return nil, fmt.Errorf("%d values for %d columns", len(values), len(fields))
	}
	row := make(parquet.Row, len(fields))
	for i, f := range fields {
		level := 0
		if f.Nullable && values[i] != nil {
			level = 1
		}
		v, err := valueOf(f, values[i])
		if err != nil {
			return nil, err
		}
		row[i] = v.Level(0, level, i)
	}
	return row, nil
}

func valueOf(f Field, value any) (parquet.Value, error) {
	switch v := value.(type) {
	case nil:
		if f.Nullable {
			return parquet.Value{}, nil
		}
		return parquet.Value{}, fmt.Errorf("no value for column %s, which is not nullable", f.Name)
	case string:
		if f.Type == String {
			return parquet.ByteArrayValue([]byte(v)), nil
		}
	case int64:
		switch {
		case f.Type == Int64:
			return parquet.Int64Value(v), nil
		case f.Type == Int32 && int64(int32(v)) == v:
			return parquet.Int32Value(int32(v)), nil
		}
	case float64:
		if f.Type == Double {
			return parquet.DoubleValue(v), nil
		}
	case bool:
		if f.Type == Boolean {
			return parquet.BooleanValue(v), nil
		}
	}
	return parquet.Value{}, fmt.Errorf("column %s cannot hold %v", f.Name, value)
}
