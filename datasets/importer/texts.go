package importer

import (
	"strconv"
	"strings"

	"yardstick/datasets"
)

const textBytes = 1 << 16 // of texts in one piece of memory

// Texts makes texts of bytes, many in one piece of memory, for rows that live
// only briefly: a text keeps its whole piece from being freed.
type Texts struct{ piece strings.Builder }

// Text returns the bytes as a text that stays valid.
func (t *Texts) Text(b []byte) string {
	if t.piece.Cap()-t.piece.Len() < len(b) {
		t.piece = strings.Builder{}
		t.piece.Grow(max(textBytes, len(b)))
	}
	at := t.piece.Len()
	t.piece.Write(b)
	return t.piece.String()[at:]
}

// ID returns the identifier of the n-th job where jobs have none: n with at
// least six digits.
func (t *Texts) ID(n int) string {
	digits := strconv.AppendInt(make([]byte, 0, 32), int64(n), 10)
	if missing := 6 - len(digits); missing > 0 {
		digits = append([]byte("000000")[:missing], digits...)
	}
	return t.Text(digits)
}

// Label is Text as a field of a row: NULL if it is empty.
func (t *Texts) Label(b []byte) datasets.Opt[string] {
	return datasets.Opt[string]{V: t.Text(b), OK: len(b) != 0}
}
