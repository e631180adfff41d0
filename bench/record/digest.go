package record

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/maphash"
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
	columns, seed := t.describe(), maphash.MakeSeed()
	rows := *t.rows(run)
	heads := make([][]byte, len(columns)) // the part of its cells that is the same in every row
	for c := range columns {
		heads[c] = appendString(appendString(nil, columns[c].Name), string(columns[c].Type))
	}
	sums := make([][sha256.Size]byte, 0, len(rows))
	keys := make([]keyed, len(rows))
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
		keys[i] = keyed{maphash.Bytes(seed, key), i}
		if !t.omit(&rows[i], limited) {
			sums = append(sums, sha256.Sum256(line))
		}
	}
	if a, b, twice := t.twice(rows, columns, keys); twice {
		return nil, t.rowError(b, &rows[b], fmt.Errorf("has the key of row %d: one row per key", a))
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

// keyed is a row and a short hash of its key, which only says which rows to compare.
type keyed struct {
	hash uint64
	row  int
}

// twice returns two rows with one key, the second of them as early as there is one. It sorts
// the keys.
func (t *table[R]) twice(rows []R, columns []Column, keys []keyed) (first, second int, found bool) {
	slices.SortFunc(keys, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row)) })
	for k := range keys {
		for i := k - 1; i >= 0 && keys[i].hash == keys[k].hash; i-- {
			if b := keys[k].row; t.sameKey(columns, &rows[keys[i].row], &rows[b]) {
				if !found || b < second {
					first, second, found = keys[i].row, b, true
				}
				break
			}
		}
	}
	return first, second, found
}

// sameKey compares the keys of two rows, of which all values could be read.
func (t *table[R]) sameKey(columns []Column, a, b *R) bool {
	for c := range columns {
		if columns[c].Group != Key {
			continue
		}
		x, _ := get(t.columns[c].field(a))
		y, _ := get(t.columns[c].field(b))
		if x != y {
			return false
		}
	}
	return true
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
