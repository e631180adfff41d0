package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
)

// Digest returns a hash of the run's values: of every column but the groups
// timing and machine, and of every row that no limit in wall-clock time or
// memory shaped. It does not depend on the order of rows. Missing values and
// empty tables leave no trace in it, so that appending columns or tables
// changes no digest.
//
// Errors: a value that may not be stored, or two rows with one key.
func (r *Run) Digest() (string, error) {
	limited := map[string]bool{}
	for i := range r.Ratios {
		if r.Ratios[i].WallLimited {
			limited[r.Ratios[i].CellID] = true
		}
	}
	h := sha256.New()
	h.Write([]byte("result digest 1\n"))
	for _, f := range tables(r.Manifest.Params) {
		sum, err := f.digest(r, limited)
		if err != nil {
			return "", fmt.Errorf("record: %s: %w", f.table().Name, err)
		}
		h.Write(sum)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// digest hashes each row, sorts the hashes and hashes their sequence.
func (t *table[R]) digest(run *Run, limited map[string]bool) ([]byte, error) {
	columns := t.describe()
	rows := *t.rows(run)
	heads := make([][]byte, len(columns)) // the part of its cells that is the same in every row
	for c := range columns {
		heads[c] = appendString(appendString(nil, columns[c].Name), string(columns[c].Type))
	}
	sums := make([][sha256.Size]byte, 0, len(rows))
	first := make(map[[sha256.Size]byte]int, len(rows)) // row by hash of its key
	var key, line []byte
	for i := range rows {
		key, line = key[:0], line[:0]
		for c := range columns {
			v, err := get(t.columns[c].field(&rows[i]))
			if err != nil {
				return nil, t.rowError(i, &rows[i], fmt.Errorf("column %s %w", columns[c].Name, err))
			}
			group := columns[c].Group
			if group != Key && group != Value {
				continue
			}
			start := len(line)
			line = appendCell(line, heads[c], columns[c].Type, v)
			if group == Key {
				key = append(key, line[start:]...)
			}
		}
		k := sha256.Sum256(key)
		if other, taken := first[k]; taken {
			return nil, t.rowError(i, &rows[i], fmt.Errorf("has the key of row %d: one row per key", other))
		}
		first[k] = i
		if !t.omit(&rows[i], limited) {
			sums = append(sums, sha256.Sum256(line))
		}
	}
	if len(sums) == 0 {
		return nil, nil
	}
	slices.SortFunc(sums, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	fmt.Fprintf(h, "%s %d\n", t.name, len(sums))
	for i := range sums {
		h.Write(sums[i][:])
	}
	return h.Sum(nil), nil
}

// appendCell appends a value after the name and the type of its column, so that no two
// rows that differ make the same bytes.
func appendCell(b, head []byte, t Type, v value) []byte {
	if v.null {
		return b
	}
	b = append(b, head...)
	switch t {
	case UTF8:
		return appendString(b, v.s)
	case Int32, Int64:
		return binary.LittleEndian.AppendUint64(b, uint64(v.i))
	case Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.f))
	case Bool:
		if v.b {
			return append(b, 1)
		}
		return append(b, 0)
	}
	panic("record: no digest of type " + string(t))
}

func appendString(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
	return append(b, s...)
}

// rowError names a row by index and key.
func (t *table[R]) rowError(i int, r *R, err error) error {
	var name []byte
	for c := range t.columns {
		if t.columns[c].group != Key {
			continue
		}
		if v, bad := get(t.columns[c].field(r)); bad == nil {
			name = fmt.Appendf(name, " %s", v.format(t.columns[c].describe().Type))
		}
	}
	return fmt.Errorf("row %d (%s): %w", i, bytes.TrimSpace(name), err)
}

// format prints a value for messages.
func (v value) format(t Type) string {
	switch {
	case v.null:
		return "null"
	case t == UTF8:
		return v.s
	case t == Float64:
		return fmt.Sprint(v.f)
	case t == Bool:
		return fmt.Sprint(v.b)
	}
	return fmt.Sprint(v.i)
}
