package output

import (
	"encoding/csv"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name returns a name as one line shows it: what a terminal would take for a command,
// line ends and characters that turn the direction of text are escaped as in Go.
func Name(s string) string { return escaped(s, "") }

// Text is Name for a text of several lines.
func Text(s string) string { return escaped(s, "\n\t") }

func escaped(s, keep string) string {
	shown := func(r rune) bool {
		return unicode.IsPrint(r) && r != unicode.ReplacementChar || strings.ContainsRune(keep, r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !shown(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if shown(r) {
			b.WriteString(s[:size])
		} else {
			quoted := strconv.Quote(s[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}

// RawCSV names the environment variable that leaves cells as they are, whatever a
// spreadsheet makes of them.
const RawCSV = "BENCH_RAW_CSV"

// CSV writes records. A text that a spreadsheet would run as a formula gets an
// apostrophe in front, which shows it as what it is.
type CSV struct {
	*csv.Writer
	raw bool
}

// NewCSV returns a writer of records.
func NewCSV(w io.Writer) *CSV { return &CSV{csv.NewWriter(w), os.Getenv(RawCSV) != ""} }

// Write writes a record. The first error is kept until Flush too.
func (c *CSV) Write(record []string) error {
	if c.raw {
		return c.Writer.Write(record)
	}
	safe := make([]string, len(record))
	for i, cell := range record {
		safe[i] = guarded(cell)
	}
	return c.Writer.Write(safe)
}

// WriteAll writes records and flushes.
func (c *CSV) WriteAll(records [][]string) error {
	for _, r := range records {
		if err := c.Write(r); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// guarded returns a cell that begins like a formula with an apostrophe in front. Numbers
// and single signs are none.
func guarded(cell string) string {
	if len(cell) < 2 || strings.IndexByte("=+-@\t\r", cell[0]) < 0 {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	return "'" + cell
}
