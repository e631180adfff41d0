package reproduce

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
)

// numbersTitle is what the heading of the table of published numbers begins with.
const numbersTitle = "Published numbers"

// numberTable lays ours beside every published number of the tables, and says on how
// many draws it is above it. Only what all draws and a paired bootstrap interval say is
// a verdict. No tables of which a draw lacks rows.
func numberTable(draws []*Output) Table {
	t := Table{Title: fmt.Sprintf("%s beside ours on %d draws; the ratio of ours to theirs, its median and a paired bootstrap interval of 95 %%", numbersTitle, len(draws)),
		Columns: []string{"number", "theirs", "ours", "above on", "ratio", "interval", "verdict"}}
	for k, first := range draws[0].Tables {
		for _, p := range publishedCells(&first) {
			var ratios []float64
			var ours []string
			for _, o := range draws {
				if k >= len(o.Tables) || !sameShape(o.Tables[k], first) {
					break
				}
				cell := numberPattern.FindString(o.Tables[k].Rows[p.row][p.column])
				if cell != "" && value(cell) > 0 {
					ratios, ours = append(ratios, value(cell)/value(p.theirs)), append(ours, cell)
				}
			}
			if len(ratios) < len(draws) {
				continue
			}
			v := judge(ratios)
			t.Rows = append(t.Rows, []string{p.name, p.theirs, spread(ours), fmt.Sprintf("%d of %d", v.holds, v.draws),
				number(v.median, 3), number(v.low, 3) + " to " + number(v.high, 3), v.side()})
		}
	}
	return t
}

// publishedCell is a published number, and where ours of the same thing is.
type publishedCell struct {
	name, theirs string
	row, column  int // of ours
}

// publishedCells finds the published numbers of a table: those of columns that say paper,
// of which ours are in the column before, and those of rows that do, of which ours are in the
// rows that say the same before that cell.
func publishedCells(t *Table) []publishedCell {
	var list []publishedCell
	add := func(text, name string, row, column int) {
		if theirs := numberPattern.FindString(text); theirs != "" && value(theirs) > 0 {
			list = append(list, publishedCell{strings.Join([]string{t.Title, name, t.Columns[column]}, ": "), theirs, row, column})
		}
	}
	for r, row := range t.Rows {
		for c := 1; c < len(row) && c < len(t.Columns); c++ {
			if strings.HasPrefix(t.Columns[c], publishedColumn) {
				add(row[c], row[0], r, c-1)
			}
		}
		i := slices.Index(row, publishedColumn)
		for o, ours := range t.Rows {
			if i < 1 || o == r || !slices.Equal(ours[:i], row[:i]) {
				continue
			}
			for c := i + 1; c < len(row); c++ {
				add(row[c], strings.Join(ours[:i+1], ", "), o, c)
			}
		}
	}
	return list
}

// VerdictColumns are the columns of WriteVerdicts.
func VerdictColumns() []string {
	return []string{"item", "scale", "seed", "draws", "kind", "statement", "theirs", "ours", "holds_on", "ratio", "interval", "verdict"}
}

// WriteVerdicts writes the published numbers and the orderings of an output of draws from
// a seed on as rows of comma-separated values: ours is a median with its range, holds_on on
// how many draws ours is above theirs, or the ordering holds.
func (i *Item) WriteVerdicts(w io.Writer, o *Output, scale float64, seed uint64, draws int) error {
	c := csv.NewWriter(w)
	rows := [][]string{VerdictColumns()}
	for _, t := range o.Tables {
		for _, row := range t.Rows {
			head := []string{i.Name, fmt.Sprint(scale), fmt.Sprint(seed), fmt.Sprint(draws)}
			switch {
			case strings.HasPrefix(t.Title, numbersTitle):
				rows = append(rows, append(append(head, "number"), row...))
			case strings.HasPrefix(t.Title, orderingsTitle):
				rows = append(rows, append(append(head, "ordering", row[0], "", ""), row[1:]...))
			}
		}
	}
	return c.WriteAll(rows)
}

// side says on which side of a published number ours is.
func (v judged) side() string {
	switch v.verdict() {
	case "holds":
		return "above"
	case "reversed":
		return "below"
	}
	return v.verdict()
}
