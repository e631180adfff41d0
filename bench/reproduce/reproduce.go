// Package reproduce runs the tables and figures of the four papers at the
// papers' own job counts and clusters, lays our numbers beside the published
// ones, and says what differs and why.
package reproduce

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/report/chart"
	"yardstick/bench/suite"
)

// Item is one table or figure of a paper.
type Item struct {
	Name    string // asrpt-fig6
	Paper   string // short citation: authors, title, venue, year
	Caption string // what the paper shows there
	// Suites are the files under suites, without .yaml, whose results the item
	// is made of, in the order in which Make gets them.
	Suites []string
	// Make lays out the results. It reads nothing but records, or computes
	// what no suite holds, in parts. After ctx has ended it returns its error.
	Make func(context.Context, Input) (*Output, error)
	// Differs lists what differs from the paper's setting, and why.
	Differs []string
}

// Input is what an item is made of.
type Input struct {
	Runs  []*record.Run // one per suite of the item
	Seed  uint64
	Scale float64 // of the number of jobs, in (0, 1]
	Parts Parts   // of what Make computes
}

// Output is an item made.
type Output struct {
	Tables  []Table
	Figures []chart.Figure
	Notes   []string // what these numbers say beside the published ones
}

// Table is a rectangle of text.
type Table struct {
	Title   string
	Columns []string
	Rows    [][]string
}

// Items returns every item, by paper and number.
func Items() []Item {
	return slices.Concat(asrpt(), primalDual(), lazer(), sharing())
}

// Find returns the item of that name.
func Find(name string) (Item, error) {
	items := Items()
	i := slices.IndexFunc(items, func(i Item) bool { return i.Name == name })
	if i < 0 {
		names := make([]string, len(items))
		for k := range items {
			names[k] = items[k].Name
		}
		return Item{}, fmt.Errorf("reproduction %q is unknown: %s", name, strings.Join(names, ", "))
	}
	return items[i], nil
}

//go:embed all:suites
var suites embed.FS

// maxJobs is more than a paper has: the suites here take the memory that they need.
const maxJobs = 10_000_000

// PlanFile returns the named suite with the number of jobs of every slice
// multiplied by scale, at least one.
func PlanFile(name string, scale float64) (*bench.PlanFile, error) {
	data, err := suites.ReadFile("suites/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	f := &bench.PlanFile{Suite: name + ".yaml", Text: string(data), MaxJobs: maxJobs}
	if scale != 1 {
		f.Settings = []string{fmt.Sprintf("scale=%v", scale)}
	}
	return f, nil
}

// Suite is the suite of PlanFile.
func Suite(name string, scale float64) (*suite.Suite, error) {
	f, err := PlanFile(name, scale)
	if err != nil {
		return nil, err
	}
	return f.Parse()
}

// Write prints the item with its tables, notes and differences as text.
func (i *Item) Write(w io.Writer, o *Output) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s\n", i.Name, i.Caption, i.Paper)
	for _, t := range o.Tables {
		b.WriteString("\n" + t.text())
	}
	writeList(&b, "What it says", o.Notes)
	writeList(&b, "What differs from the paper", i.Differs)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeList(b *strings.Builder, title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, s := range items {
		fmt.Fprintf(b, "  - %s\n", s)
	}
}

// text aligns the columns, the first to the left, the others to the right.
func (t *Table) text() string {
	widths := make([]int, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for c, cell := range row {
			widths[c] = max(widths[c], len([]rune(cell)))
		}
	}
	var b strings.Builder
	b.WriteString(t.Title + "\n")
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for c, cell := range row {
			gap := strings.Repeat(" ", widths[c]-len([]rune(cell)))
			if c == 0 {
				b.WriteString(cell + gap)
			} else {
				b.WriteString("  " + gap + cell)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
