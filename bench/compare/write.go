package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"yardstick/internal/output"
)

// Formats are the formats that a comparison is printed in.
func Formats() []string { return []string{"table", "md", "csv", "json"} }

// Write prints the comparison. changes is how many changed pairs the formats
// for people list; 0 for all. CSV has one row per pair that changed and one per
// row of times; JSON has everything.
func (c *Comparison) Write(w io.Writer, format string, changes int) error {
	switch format {
	case "table":
		return c.text(w, changes, plain)
	case "md":
		return c.text(w, changes, markdown)
	case "csv":
		return c.csv(w)
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(c)
	}
	return fmt.Errorf("compare: format %q is unknown: %v are there", format, Formats())
}

// MarshalJSON adds the cost ratio as a number.
func (p Pair) MarshalJSON() ([]byte, error) {
	type bare Pair
	out := struct {
		bare
		Ratio *float64 `json:"cost_ratio,omitempty"`
	}{bare: bare(p)}
	if p.Ratio != nil {
		v, _ := p.Ratio.Float64()
		out.Ratio = &v
	}
	return json.Marshal(out)
}

func (c *Comparison) text(w io.Writer, most int, grid func([][]string) string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "A: %s (%d rows)\nB: %s (%d rows)\n", strings.Join(c.A.Dirs, ", "), c.A.Rows, strings.Join(c.B.Dirs, ", "), c.B.Rows)
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "%s\n", n)
	}
	fmt.Fprintf(&b, "\nCosts, exactly, and bounds. Ratio: mean cost over the best possible one; a–b: at least a, at most b\n\n%s\n", grid(c.groupRows()))
	if n := len(c.Changed); n > 0 {
		shown := c.Changed
		if most > 0 && n > most {
			shown = shown[:most]
		}
		fmt.Fprintf(&b, "Changed rows (%d of %d)\n\n%s\n", len(shown), n, grid(changeRows(shown)))
	}
	if len(c.Times) > 0 {
		fmt.Fprintf(&b, "Times, over the cells of both (p of the signed-rank test, ~ at %g and above)\n\n%s\n", Alpha, grid(c.timeRows()))
	}
	if len(c.Cells) > 0 {
		fmt.Fprintf(&b, "Times per cell, over the runs of each side (p of the U-test)\n\n%s\n", grid(c.cellRows()))
	}
	fmt.Fprintf(&b, "%s\n", Legend)
	_, err := io.WriteString(w, b.String())
	return err
}

// groupRows have one line per group that has changed, and one for the rest.
func (c *Comparison) groupRows() [][]string {
	rows := [][]string{{"", "family", "objective", "method", "pairs", "same", "worse", "better", "fails", "mended", "new", "gone", "other", "cost B/A geo mean", "greatest", "ratio A", "ratio B", "bounds tighter", "weaker"}}
	quiet, same := 0, 0
	for i := range c.Groups {
		g := &c.Groups[i]
		mark := g.mark()
		if mark == Same && g.Tighter+g.Weaker == 0 {
			quiet++
			same += g.Counts[Same]
			continue
		}
		family := g.Family
		if g.Params != "" {
			family += " (" + g.Params + ")"
		}
		row := []string{string(mark), family, g.Objective, g.Method, strconv.Itoa(g.Pairs)}
		for _, m := range []Mark{Same, Worse, Better, Failed, Mended, Added, Vanished, Incomparable} {
			row = append(row, number(g.Counts[m]))
		}
		mean, greatest := "", ""
		if g.Pairs > 0 {
			mean, greatest = ratioText(g.GeoMean), ratioText(g.Greatest)
		}
		rows = append(rows, append(row, mean, greatest, g.A.String(), g.B.String(), number(g.Tighter), number(g.Weaker)))
	}
	if quiet > 0 {
		rows = append(rows, []string{"", fmt.Sprintf("%d groups without a change", quiet), "", "", "", strconv.Itoa(same), "", "", "", "", "", "", "", "", "", "", "", "", ""})
	}
	return rows
}

// mark is the worst that happened to the group.
func (g *Group) mark() Mark {
	for _, m := range []Mark{Failed, Incomparable, Worse, Vanished, Better, Mended, Added} {
		if g.Counts[m] > 0 {
			return m
		}
	}
	return Same
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// ratioText prints a ratio with four decimals, and never as 1 what is not.
func ratioText(v float64) string {
	text := strconv.FormatFloat(v, 'f', 4, 64)
	switch {
	case v == 1 || text != "1.0000":
		return text
	case v > 1:
		return ">1.0000"
	}
	return "<1.0000"
}

func changeRows(list []Pair) [][]string {
	rows := [][]string{{"", "instance", "objective", "method", "A", "B", "B/A", "what"}}
	for i := range list {
		p := &list[i]
		ratio := ""
		if p.Ratio != nil {
			v, _ := p.Ratio.Float64()
			ratio = ratioText(v)
		}
		name := p.Instance
		if p.Params != "" {
			name += " (" + p.Params + ")"
		}
		rows = append(rows, []string{string(p.Mark), name, p.Objective, p.Method, p.A.text(), p.B.text(), ratio, strings.Join(p.Changes, "; ")})
	}
	return rows
}

// text is the row's cost, or why there is none.
func (r *Row) text() string {
	switch {
	case r == nil:
		return "–"
	case r.Cost != nil:
		return decimal(r.Cost)
	}
	return strings.ToLower(strings.ReplaceAll(r.Termination, "_", " "))
}

func (c *Comparison) timeRows() [][]string {
	rows := [][]string{{"", "what", "family", "method", "cells", "A median", "B median", "B/A geo mean", "p"}}
	for _, t := range c.Times {
		if t.Method == Overall && t.Family == "" {
			rows = append(rows, []string{"", t.What, "", Overall, "", "", "", ratioText(t.Ratio), ""})
			continue
		}
		rows = append(rows, []string{t.Mark, t.What, t.Family, t.Method, strconv.Itoa(t.Cells), seconds(t.A), seconds(t.B), ratioText(t.Ratio), fmt.Sprintf("%.3f", t.P)})
	}
	return rows
}

func (c *Comparison) cellRows() [][]string {
	rows := [][]string{{"what", "instance", "method", "A median", "B median", "delta", "p", "n", "note"}}
	for _, t := range c.Cells {
		rows = append(rows, []string{t.What, t.Instance, t.Method, seconds(t.MedA), seconds(t.MedB), t.Delta, fmt.Sprintf("%.3f", t.P),
			fmt.Sprintf("%d+%d", len(t.A), len(t.B)), strings.Join(t.Notes, "; ")})
	}
	return rows
}

// seconds prints a time in a unit that fits it.
func seconds(v float64) string {
	for _, u := range []struct {
		name string
		per  float64
	}{{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}} {
		if x := v / u.per; x < 999.5 {
			return strconv.FormatFloat(x, 'g', 3, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + " s"
}

// csv prints changed pairs and times as one rectangle.
func (c *Comparison) csv(w io.Writer) error {
	out := output.NewCSV(w)
	out.Write([]string{"kind", "mark", "family", "params", "instance", "objective", "method", "what", "a", "b", "ratio", "p", "a_ratio_at_least", "a_ratio", "b_ratio_at_least", "b_ratio"})
	exact := func(r *Row) string {
		if r == nil || r.Cost == nil {
			return ""
		}
		return r.Cost.RatString()
	}
	for i := range c.Changed {
		p := &c.Changed[i]
		ratio := ""
		if p.Ratio != nil {
			ratio = float(p.Ratio)
		}
		var sides [4]string
		for i, r := range []*Row{p.A, p.B} {
			if r != nil && r.ratio() != nil {
				sides[2*i], sides[2*i+1] = float(r.least()), float(r.ratio())
			}
		}
		out.Write([]string{"cost", strings.TrimSpace(string(p.Mark)), p.Family, p.Params, p.Instance, p.Objective, p.Method, strings.Join(p.Changes, "; "), exact(p.A), exact(p.B), ratio, "", sides[0], sides[1], sides[2], sides[3]})
	}
	full := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, t := range c.Times {
		out.Write([]string{"time", t.Mark, t.Family, "", "", "", t.Method, t.What, full(t.A), full(t.B), full(t.Ratio), full(t.P), "", "", "", ""})
	}
	for _, t := range c.Cells {
		out.Write([]string{"cell time", t.Delta, t.Family, t.Params, t.Instance, "", t.Method, t.What, full(t.MedA), full(t.MedB), full(t.MedB / t.MedA), full(t.P), "", "", "", ""})
	}
	out.Flush()
	return out.Error()
}

func float(r *big.Rat) string {
	v, _ := r.Float64()
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// plain aligns columns and leaves out those without content.
func plain(rows [][]string) string {
	rows = printable(withoutEmpty(rows))
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-len([]rune(cell))+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func markdown(rows [][]string) string {
	rows = printable(withoutEmpty(rows))
	var b strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cell, "|", "\\|") + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

// printable returns the rows as people see them.
func printable(rows [][]string) [][]string {
	for _, row := range rows {
		for i := range row {
			row[i] = output.Name(row[i])
		}
	}
	return rows
}

// withoutEmpty drops the columns that are empty below their header.
func withoutEmpty(rows [][]string) [][]string {
	var out [][]string
	keep := func(i int) bool {
		return len(rows) == 1 || slices.ContainsFunc(rows[1:], func(row []string) bool { return strings.TrimSpace(row[i]) != "" })
	}
	for _, row := range rows {
		var kept []string
		for i, cell := range row {
			if keep(i) {
				kept = append(kept, cell)
			}
		}
		out = append(out, kept)
	}
	return out
}
