package reproduce

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// numbersTitle is what the heading of the table of published numbers begins with.
const numbersTitle = "Published numbers"

// Number is ours beside a published number that stands in no table, on one draw.
type Number struct {
	Statement string // equal on all draws
	Theirs    string // as published
	Ours      float64
}

// numberTable lays ours beside every published number of the tables and of Numbers, and says on
// how many draws it is above it. Only what all draws and a paired bootstrap interval say is
// a verdict. No tables of which a draw lacks rows.
func numberTable(draws []*Output) Table {
	t := Table{Title: fmt.Sprintf("%s beside ours on %d draws; the ratio of ours to theirs, its median and a paired bootstrap interval of 95 %%", numbersTitle, len(draws)),
		Columns: []string{"number", "theirs", "ours", "above on", "ratio", "interval", "verdict"}}
	for k, first := range draws[0].Tables {
		for _, p := range publishedCells(&first) {
			var ours []string
			for _, o := range draws {
				if k >= len(o.Tables) || !sameShape(o.Tables[k], first) {
					break
				}
				if cell := numberPattern.FindString(o.Tables[k].Rows[p.row][p.column]); cell != "" {
					ours = append(ours, cell)
				}
			}
			if len(ours) == len(draws) {
				t.Rows = append(t.Rows, beside(p.name, p.theirs, ours))
			}
		}
	}
	for _, n := range draws[0].Numbers {
		var ours []string
		for _, o := range draws {
			for _, m := range o.Numbers {
				if m.Statement == n.Statement && !math.IsNaN(m.Ours) && !math.IsInf(m.Ours, 0) {
					ours = append(ours, strconv.FormatFloat(m.Ours, 'f', 2, 64))
				}
			}
		}
		if len(ours) == len(draws) {
			t.Rows = append(t.Rows, beside(n.Statement, n.Theirs, ours))
		}
	}
	return t
}

// beside is a row of the table of published numbers. Where one of ours or theirs is not above
// zero there is no ratio.
func beside(statement, theirs string, ours []string) []string {
	var ratios []float64
	above := 0
	for _, o := range ours {
		if value(o) > value(theirs) {
			above++
		}
		if value(o) > 0 && value(theirs) > 0 {
			ratios = append(ratios, value(o)/value(theirs))
		}
	}
	row := []string{statement, theirs, spread(ours), fmt.Sprintf("%d of %d", above, len(ours)), absent, absent}
	v := judged{draws: len(ours), holds: above, low: math.Inf(1), high: math.Inf(-1)}
	if len(ratios) == len(ours) {
		v = judge(ratios)
		row[4], row[5] = number(v.median, 3), number(v.low, 3)+" to "+number(v.high, 3)
	}
	if slices.ContainsFunc(ours, func(o string) bool { return value(o) == value(theirs) }) {
		v.draws, v.holds = 0, 0 // neither above nor below on all
	}
	return append(row, v.side())
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
		if theirs := numberPattern.FindString(text); theirs != "" {
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
