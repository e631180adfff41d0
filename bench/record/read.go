package record

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// decodeSafely decodes a table into a run and returns the number of rows. The
// Arrow reader panics on damaged files: that becomes an error.
func decodeSafely(f file, data []byte, run *Run) (rows int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("is a damaged Arrow file: %v", p)
		}
	}()
	return f.decode(data, run)
}

func (t *table[R]) decode(data []byte, run *Run) (int, error) {
	if err := checkFooter(data); err != nil {
		return 0, err
	}
	in, err := ipc.NewFileReader(bytes.NewReader(data), ipc.WithAllocator(newBudget(len(data))))
	if err != nil {
		return 0, fmt.Errorf("is a damaged Arrow file: %w", err)
	}
	defer in.Close()
	source, err := t.match(in.Schema())
	if err != nil {
		return 0, err
	}
	var rows []R
	for b := range in.NumRecords() {
		record, err := in.Record(b)
		if err != nil {
			return 0, fmt.Errorf("is a damaged Arrow file: %w", err)
		}
		if n := record.NumRows(); n < 0 || n > int64(len(data)) { // a row takes several bytes
			return 0, fmt.Errorf("is a damaged Arrow file: %d rows in %d bytes", n, len(data))
		}
		rows = slices.Grow(rows, int(record.NumRows()))
		last := make([]string, len(t.columns)) // the last string of each column: most repeat
		for i := range int(record.NumRows()) {
			rows = append(rows, *new(R))
			for c, at := range source {
				if at < 0 {
					continue
				}
				v := cell(record.Column(at), i)
				if v.s == last[c] {
					v.s = last[c]
				} else {
					v.s = strings.Clone(v.s) // not a view of the batch
					last[c] = v.s
				}
				if err := t.load(c, &rows[len(rows)-1], v); err != nil {
					return 0, fmt.Errorf("row %d: column %s %w", len(rows)-1, t.columns[c].name, err)
				}
			}
		}
	}
	*t.rows(run) = rows
	return len(rows), nil
}

// load writes a value into a row's field and holds it to the writer's rules.
func (t *table[R]) load(c int, r *R, v value) error {
	field := t.columns[c].field(r)
	if _, nullable := typeOf(field); v.null && !nullable {
		return fmt.Errorf("is null, but it may not be missing")
	}
	set(field, v)
	_, err := get(field)
	return err
}

// match returns, for each column of the table, its index in the schema, or -1
// where an older file lacks a column that may be missing. Columns that this
// program does not know are left alone.
func (t *table[R]) match(s *arrow.Schema) ([]int, error) {
	source := make([]int, len(t.columns))
	for i, c := range t.describe() {
		at := s.FieldIndices(c.Name)
		switch {
		case len(at) > 1:
			return nil, fmt.Errorf("has %d columns named %s", len(at), c.Name)
		case len(at) == 0 && !c.Nullable:
			return nil, fmt.Errorf("has no column %s: it is not a table of %s", c.Name, t.name)
		case len(at) == 0 && strings.HasPrefix(c.Name, "p_"):
			return nil, fmt.Errorf("has no column %s, a parameter that %s lists", c.Name, ManifestName)
		case len(at) == 0:
			source[i] = -1
			continue
		}
		if got := s.Field(at[0]).Type; !arrow.TypeEqual(got, arrowType(c.Type)) {
			return nil, fmt.Errorf("has column %s of type %s: it must be %s", c.Name, got, c.Type)
		}
		source[i] = at[0]
	}
	return source, nil
}

// cell reads one value; match has fixed the array's type.
func cell(a arrow.Array, i int) value {
	if a.IsNull(i) {
		return value{null: true}
	}
	switch a := a.(type) {
	case *array.String:
		return value{s: a.Value(i)}
	case *array.Int32:
		return value{i: int64(a.Value(i))}
	case *array.Int64:
		return value{i: a.Value(i)}
	case *array.Float64:
		return value{f: a.Value(i)}
	case *array.Boolean:
		return value{b: a.Value(i)}
	}
	panic(fmt.Sprintf("record: no value from %T", a))
}

// budget is an allocator that panics, which decodeSafely turns into an error,
// when a damaged file asks for more memory than an honest one of its size can.
type budget struct {
	memory.Allocator
	left int
}

// newBudget allows for an uncompressed file: each batch is read once and its
// buffers are copied out of it.
func newBudget(size int) *budget {
	return &budget{memory.NewGoAllocator(), 4*size + 1<<20}
}

// Allocate implements memory.Allocator.
func (b *budget) Allocate(size int) []byte {
	b.spend(size)
	return b.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (b *budget) Reallocate(size int, old []byte) []byte {
	b.spend(size)
	return b.Allocator.Reallocate(size, old)
}

func (b *budget) spend(size int) {
	if size < 0 || size > b.left {
		panic("it asks for more memory than it can fill")
	}
	b.left -= size
}
