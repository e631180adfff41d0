package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"yardstick/internal/output"
)

// listing is a table of texts that a command prints in a format of the user's
// choice.
type listing struct {
	columns []string // as csv and json name them: with _ for a space
	rows    [][]string
	right   map[string]bool // columns aligned to the right
	hidden  map[string]bool // columns that only csv and json have
	paper   *paper          // nil where the listing is no table for papers
}

// listingFormats are the formats of a listing.
const listingFormats = "table, md, csv or json"

// paperFormats are those of a listing that papers show too.
const paperFormats = "table, md, csv, json or latex"

// write prints the listing.
func (l *listing) write(w io.Writer, format string) error {
	switch format {
	case "table":
		return l.table(w)
	case "md":
		return l.markdown(w)
	case "csv":
		c := output.NewCSV(w)
		return c.WriteAll(append([][]string{l.columns}, l.rows...))
	case "json":
		objects := make([]map[string]string, len(l.rows))
		for i, row := range l.rows {
			objects[i] = map[string]string{}
			for k, v := range row {
				objects[i][l.columns[k]] = v
			}
		}
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(objects)
	case "latex":
		if l.paper != nil {
			return l.latex(w)
		}
	}
	return usageError("--format %q: it must be %s", format, listingFormats)
}

// shown returns the indices of the columns that people see.
func (l *listing) shown() (list []int) {
	for k, name := range l.columns {
		if !l.hidden[name] {
			list = append(list, k)
		}
	}
	return list
}

// shownRows are the rows as people see them.
func (l *listing) shownRows() [][]string {
	rows := make([][]string, len(l.rows))
	for i, row := range l.rows {
		for _, cell := range row {
			rows[i] = append(rows[i], output.Name(cell))
		}
	}
	return rows
}

func (l *listing) table(w io.Writer) error {
	shown, rows := l.shown(), l.shownRows()
	width := make([]int, len(l.columns))
	for _, row := range append([][]string{l.columns}, rows...) {
		for k, v := range row {
			width[k] = max(width[k], utf8.RuneCountInString(v))
		}
	}
	var b strings.Builder
	for i, row := range append([][]string{l.columns}, rows...) {
		line := ""
		for n, k := range shown {
			text := row[k]
			if i == 0 {
				text = strings.ReplaceAll(text, "_", " ")
			}
			pad := strings.Repeat(" ", max(0, width[k]-utf8.RuneCountInString(text)))
			if n > 0 {
				line += "  "
			}
			if l.right[l.columns[k]] {
				line += pad + text
			} else {
				line += text + pad
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (l *listing) markdown(w io.Writer) error {
	var b strings.Builder
	line := func(cell func(k int) string) {
		b.WriteString("|")
		for _, k := range l.shown() {
			fmt.Fprintf(&b, " %s |", strings.ReplaceAll(cell(k), "|", "\\|"))
		}
		b.WriteString("\n")
	}
	line(func(k int) string { return strings.ReplaceAll(l.columns[k], "_", " ") })
	b.WriteString("|")
	for _, k := range l.shown() {
		if l.right[l.columns[k]] {
			b.WriteString("---:|")
		} else {
			b.WriteString("---|")
		}
	}
	b.WriteString("\n")
	for _, row := range l.shownRows() {
		line(func(k int) string { return row[k] })
	}
	_, err := io.WriteString(w, b.String())
	return err
}
