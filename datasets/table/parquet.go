package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"yardstick/internal/input"
)

// File is an open Parquet file whose columns are neither nested nor repeated.
// It may be scanned any number of times, also concurrently.
type File struct {
	name    string
	file    *parquet.File
	reader  io.ReaderAt
	size    int64
	closer  io.Closer
	columns []Column
	digests digests // nil if the file carries none, or none that apply
	edited  string  // see Edited
}

// Open opens a Parquet file. The caller closes it.
//
// Errors: the file is missing, not a Parquet file, damaged, or has nested
// columns.
func Open(path string) (*File, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	t, err := New(path, f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	t.closer = f
	return t, nil
}

// reason strips the operation and path from an error of package os, because
// every message of this package begins with the path.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// New reads the footer of a Parquet file of the given size. The name appears
// in errors.
func New(name string, r io.ReaderAt, size int64) (*File, error) {
	t := &File{name: name, reader: r, size: size}
	err := protect(func() (err error) {
		if size < 12 {
			return fmt.Errorf("has %d bytes: not a Parquet file", size)
		}
		if err := checkFooter(r, size); err != nil {
			return err
		}
		// Page indexes and Bloom filters only speed up searches; not reading
		// them leaves less that damage can reach.
		t.file, err = parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return fmt.Errorf("not a readable Parquet file: %w", err)
		}
		return t.describe()
	})
	if err == nil && t.digests != nil && copiesDigests(t.file.Metadata().CreatedBy) {
		err = t.compare()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// protect turns a panic of the Parquet library, whose decoders answer damaged
// input with one, into an error. Faulty addresses are made to panic too.
func protect(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			first, _, _ := strings.Cut(fmt.Sprint(p), "\n")
			err = fmt.Errorf("damaged: %s", first)
		}
	}()
	return f()
}

// describe fills in the columns and checks what the footer says against
// itself.
func (t *File) describe() error {
	seen := map[string]bool{}
	elements := t.file.Metadata().Schema[1:] // without the root; one per column if the table is flat
	for i, c := range t.file.Root().Columns() {
		if !c.Leaf() || c.Repeated() {
			return fmt.Errorf("column %q is nested or repeated: only flat tables can be read", c.Name())
		}
		if seen[c.Name()] {
			return fmt.Errorf("column %q is there twice", c.Name())
		}
		seen[c.Name()] = true
		if !elements[i].Type.Valid || elements[i].Name != c.Name() {
			return fmt.Errorf("damaged: column %q has no type", c.Name())
		}
		t.columns = append(t.columns, newColumn(c.Name(), c.Type(), c.Optional()))
	}
	if len(t.columns) == 0 {
		return errors.New("has no columns")
	}
	md := t.file.Metadata()
	total := int64(0)
	for g := range md.RowGroups {
		group := &md.RowGroups[g]
		total += group.NumRows
		if group.NumRows < 0 || len(group.Columns) != len(t.columns) {
			return fmt.Errorf("damaged: row group %d has %d rows and %d of %d columns", g, group.NumRows, len(group.Columns), len(t.columns))
		}
		for i := range group.Columns {
			m := &group.Columns[i].MetaData
			if len(m.PathInSchema) != 1 || m.PathInSchema[0] != t.columns[i].Name || m.NumValues != group.NumRows {
				return fmt.Errorf("damaged: row group %d of %d rows has %d values of %s in place of column %s",
					g, group.NumRows, m.NumValues, strings.Join(m.PathInSchema, "."), t.columns[i].Name)
			}
		}
	}
	if total != md.NumRows {
		return fmt.Errorf("damaged: the footer announces %d rows, its row groups hold %d", md.NumRows, total)
	}
	if err := input.Rows.Check(total, t.size); err != nil {
		return err
	}
	return t.readDigests()
}

func (t *File) readDigests() (err error) {
	text, ok := t.file.Lookup(digestKey)
	if !ok {
		if t.file.Metadata().CreatedBy == createdBy {
			return errors.New("damaged: the checksums of the columns are missing")
		}
		return nil
	}
	if t.digests, err = parseDigests(text); err != nil {
		return err
	}
	if copiesDigests(t.file.Metadata().CreatedBy) {
		return nil // the columns may be others
	}
	for _, c := range t.columns {
		if _, ok := t.digests[c.Name]; !ok || c.Kind != Text && c.Kind != Number || len(t.digests) != len(t.columns) {
			return fmt.Errorf("damaged: column %q of type %s does not match the list of checksums", c.Name, c.Type)
		}
	}
	return nil
}

// copiesDigests reports whether a program of that name and version copies the metadata
// of what it has read into what it writes, so that checksums may be those of other
// values: pyarrow does, alone or under pandas. No damage turns our own name into its.
func copiesDigests(createdBy string) bool {
	return strings.HasPrefix(createdBy, "parquet-cpp-arrow version ")
}

// compare reads a file that another program wrote with checksums of ours. Where they
// are those of its columns, they stay; otherwise the file was edited.
func (t *File) compare() error {
	var all []int
	for i, c := range t.columns {
		if c.Kind == Text || c.Kind == Number {
			all = append(all, i)
		}
	}
	differs := len(all) < len(t.columns)
	for _, err := range t.Scan(all) {
		if errors.Is(err, errDigest) {
			differs = true
		} else if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), t.name+": "))
		}
	}
	if differs {
		t.edited, t.digests = t.file.Metadata().CreatedBy, nil
	}
	return nil
}

// newColumn says what a column's values are read as. Dates, times, decimals and
// the like are stored as integers but are no numbers.
func newColumn(name string, t parquet.Type, nullable bool) Column {
	c := Column{Name: name, Type: t.String(), Nullable: nullable}
	var logical any
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	integer, isInteger := logical.(*format.IntType)
	_, isText := logical.(*format.StringType)
	_, isNull := logical.(*format.NullType)
	switch k := t.Kind(); {
	case isNull:
		c.Kind = Empty
	case k == parquet.ByteArray && (isText || logical == nil):
		c.Kind = Text
	case logical == nil && (k == parquet.Double || k == parquet.Float || k == parquet.Int32 || k == parquet.Int64):
		c.Kind = Number
	case isInteger:
		c.Kind, c.unsigned = Number, !integer.IsSigned
	}
	return c
}

// Name returns the name the file was opened by.
func (t *File) Name() string { return t.name }

// Columns lists the columns in the order of the file.
func (t *File) Columns() []Column { return t.columns }

// Rows returns the number of rows that the footer announces.
func (t *File) Rows() int64 { return t.file.NumRows() }

// Edited names the program that wrote the file anew, with other values than those that
// the checksums in it are of. They are not applied then: nothing tells whether the file
// is damaged. It is empty where the checksums hold, and where there never were any.
func (t *File) Edited() string { return t.edited }

// Close closes the file if Open opened it.
func (t *File) Close() error {
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

// IsParquet reports whether head, the first bytes of a file, are those of a
// Parquet file.
func IsParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }
