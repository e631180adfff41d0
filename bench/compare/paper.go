package compare

import (
	"io"
	"slices"
	"strings"

	"yardstick/internal/latex"
)

// Paper prints the comparison as floats of a paper of a width in points: a table of costs,
// one of the changed rows, at most as many as changes says (0 for all), and those of times.
// The note ends every caption.
func (c *Comparison) Paper(w io.Writer, changes int, width float64, note string) error {
	sides := "A: " + strings.Join(c.A.Dirs, ", ") + "; B: " + strings.Join(c.B.Dirs, ", ") + ". "
	changed := c.Changed
	if changes > 0 && len(changed) > changes {
		changed = changed[:changes]
	}
	var tables []*latex.Table
	var methods []string
	for _, part := range []struct {
		caption, label string
		rows           [][]string
		legend         string
	}{
		{"Costs of B over those of A, exactly, and bounds. Ratios are of mean costs to the best possible ones: at least a and at most b in a–b. ", "compare-costs", c.groupRows(), Legend},
		{"Rows that changed between A and B. ", "compare-rows", changeRows(changed), Legend},
		{"Times of A and B, over the cells of both, with p of the signed-rank test. ", "compare-times", c.timeRows(), Legend},
		{"Times of each cell, over the runs of each side, with p of the U-test. ", "compare-cells", c.cellRows(), ""},
	} {
		if len(part.rows) < 2 {
			continue
		}
		t := paperTable(withoutEmpty(part.rows))
		t.Caption, t.Label = part.caption+sides+note, part.label
		if part.legend != "" {
			t.Notes = []string{part.legend}
		}
		for i, column := range t.Columns {
			if column.Names {
				for _, row := range t.Rows {
					methods = append(methods, row[i])
				}
			}
		}
		tables = append(tables, t)
	}
	text := latex.Preamble
	short := latex.Shorten(methods)
	for _, t := range tables {
		t.Shorten(short)
		text += t.Write(width)
	}
	_, err := io.WriteString(w, text)
	return err
}

// paperTable is a grid whose first row holds the names of its columns.
func paperTable(rows [][]string) *latex.Table {
	drop := map[string]int{"what": 1, "note": 1, "weaker": 2, "bounds tighter": 2, "ratio A": 1, "ratio B": 1, "other": 3, "gone": 3, "new": 3, "mended": 3, "n": 3}
	text := []string{"", "family", "objective", "method", "instance", "what", "note"}
	t := &latex.Table{Rows: rows[1:]}
	for _, name := range rows[0] {
		t.Columns = append(t.Columns, latex.Column{Name: name, Left: slices.Contains(text, name), Drop: drop[name], Names: name == "method"})
	}
	return t
}
