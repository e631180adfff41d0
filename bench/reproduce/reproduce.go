// Package reproduce runs the tables and figures of the four papers at the
// papers' own job counts and clusters, lays our numbers beside the published
// ones, and says what differs and why.
package reproduce

import (
	"context"
	"embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/report/chart"
	"yardstick/bench/suite"
	"yardstick/datasets"
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
	Scale float64 // of the paper's size, in (0, 1]
	Parts Parts   // of what Make computes
}

// Output is an item made.
type Output struct {
	Tables    []Table
	Figures   []chart.Figure
	Notes     []string   // what these numbers say beside the published ones
	Orderings []Ordering // of one draw
	Numbers   []Number   // of one draw, beside those of the tables
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
		hint := "it is one of"
		if near := suite.Nearest(name, names); near != "" {
			hint = "the nearest is " + near + " of"
		}
		return Item{}, fmt.Errorf("reproduction %q is unknown: %s %s", name, hint, strings.Join(names, ", "))
	}
	return items[i], nil
}

//go:embed all:suites
var suites embed.FS

// maxJobs is more than a paper has: the suites here take the memory that they need.
const maxJobs = 10_000_000

// PlanFile returns the named suite at a scale, in (0, 1], drawn by a seed. Where its
// traces say at which rate jobs come, the scale is of the jobs, the servers and
// the rate alike, so that the load is the same over the same time. Elsewhere it
// is of the number of jobs of every slice alone.
func PlanFile(name string, scale float64, seed uint64) (*bench.PlanFile, error) {
	data, err := suites.ReadFile("suites/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	f := &bench.PlanFile{Suite: name + ".yaml", Text: string(data), MaxJobs: maxJobs}
	switch {
	case scale == 1:
	case strings.Contains(f.Text, rateKnob):
		s, err := f.Parse()
		if err != nil {
			return nil, err
		}
		f.Settings = thinned(s, scale)
	default:
		f.Settings = []string{fmt.Sprintf("scale=%v", scale)}
	}
	if seed != 1 { // that of the files
		f.Settings = append(f.Settings, fmt.Sprint("draw=", seed))
	}
	return f, nil
}

// rateKnob is the knob of generated traces that says at which rate jobs come.
const rateKnob = "interArrival="

// thinned are the settings that make of a suite one of a part of its jobs, past ones
// too, on that part of its servers in the same time. A cluster of one server stays,
// with its jobs, and learns from a shorter past. All sources are of one trace, and
// differ in no number that is scaled; so does a suite of samples.
func thinned(s *suite.Suite, scale float64) []string {
	src := &s.Instances[0]
	of := func(n int) int { return max(int(math.Round(float64(n)*scale)), 1) }
	name, query, _ := strings.Cut(src.Trace, "?")
	knobs := strings.Split(query, "&")
	whole := src.Cluster.Servers == 1 || src.Slice.At.Rule == datasets.AtSample
	for i, knob := range knobs {
		if jobs, ok := strings.CutPrefix(knob, "jobs="); ok {
			n, _ := strconv.Atoi(jobs)
			knobs[i] = fmt.Sprint("jobs=", of(n))
		}
		if every, ok := strings.CutPrefix(knob, rateKnob); ok && !whole {
			seconds, _ := strconv.ParseFloat(strings.TrimSuffix(every, "s"), 64)
			knobs[i] = fmt.Sprintf("%s%vs", rateKnob, seconds/scale)
		}
	}
	settings := []string{"trace=" + name + "?" + strings.Join(knobs, "&")}
	if src.History != nil && *src.History > 0 {
		settings = append(settings, fmt.Sprint("history=", of(*src.History)))
	}
	if src.Slice.At.Rule == datasets.AtIndex {
		settings = append(settings, fmt.Sprint("slice.at=", of(src.Slice.At.Index)))
	}
	if whole {
		return settings
	}
	if src.Slice.Jobs == 0 { // all that there are
		return append(settings, fmt.Sprint("cluster.servers=", of(src.Cluster.Servers)))
	}
	jobs := fmt.Sprint(of(src.Slice.Jobs))
	if s.Matrix != nil {
		for _, axis := range s.Matrix.Axes {
			if axis.Key != "slice.jobs" {
				continue
			}
			var list []string
			for _, v := range axis.Values {
				n, _ := v.(uint64)
				list = append(list, fmt.Sprint(of(int(n))))
			}
			jobs = strings.Join(list, ",")
		}
	}
	return append(settings, "slice.jobs="+jobs, fmt.Sprint("cluster.servers=", of(src.Cluster.Servers)))
}

// Thinned reports whether the item at a scale has the load of the whole: what it is
// made of is no suite, or such as PlanFile makes smaller in all respects.
func (i *Item) Thinned() (bool, error) {
	for _, name := range i.Suites {
		data, err := suites.ReadFile("suites/" + name + ".yaml")
		if err != nil || !strings.Contains(string(data), rateKnob) {
			return false, err
		}
	}
	return true, nil
}

// Unpublished takes the published numbers out of an output: columns and rows that
// say paper, and notes of what the paper has.
func (o *Output) Unpublished() {
	o.Tables = slices.DeleteFunc(o.Tables, func(t Table) bool { return strings.HasPrefix(t.Title, numbersTitle) })
	for t := range o.Tables {
		table := &o.Tables[t]
		for c := range table.Columns {
			if strings.HasPrefix(table.Columns[c], publishedColumn) {
				for _, row := range table.Rows {
					row[c] = absent
				}
			}
		}
		for _, row := range table.Rows {
			if i := slices.Index(row, publishedColumn); i >= 0 {
				for c := i + 1; c < len(row); c++ {
					row[c] = absent
				}
			}
		}
	}
	o.Notes = slices.DeleteFunc(o.Notes, func(n string) bool { return strings.HasPrefix(n, "Paper:") })
}

// Suite is the suite of PlanFile.
func Suite(name string, scale float64, seed uint64) (*suite.Suite, error) {
	f, err := PlanFile(name, scale, seed)
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
