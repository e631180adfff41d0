// Package latex prints tables for papers. A table fits the width of a column of text,
// measured with the metrics of Computer Modern, the widest of the usual fonts.
package latex

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Preamble says what a document needs that includes such tables.
const Preamble = "% needs \\usepackage{booktabs,array}\n"

// Width is that of a column of the class article at 10 points.
const Width = 345.0

// Column is a column of a table.
type Column struct {
	Name string
	Left bool // aligned to the left; numbers are not
	Drop int  // columns with a greater drop are left out first where there is no room; 0 stays
	// Names and Head say that the cells, or the heading, are names of methods, which
	// Shorten shortens.
	Names, Head bool
}

// Table is a table with plain texts, which Write escapes.
type Table struct {
	Caption, Label string
	Columns        []Column
	Rows           [][]string
	Fixed          int // leading columns to repeat where the others do not fit beside each other; 0 for none
	Notes          []string
}

const (
	separation = 3.0  // half of the space between two columns, in points
	comfort    = 60.0 // width down to which text is broken before columns are left out
	mostLines  = 44   // of a table's body: what a page has room for beside a caption
)

// ParseWidth reads a width such as 345pt, 12cm, 3.4in or 120mm, in points of TeX.
func ParseWidth(text string) (float64, error) {
	units := map[string]float64{"pt": 1, "cm": 72.27 / 2.54, "mm": 72.27 / 25.4, "in": 72.27}
	if len(text) > 2 {
		per, known := units[text[len(text)-2:]]
		v, err := strconv.ParseFloat(strings.TrimSpace(text[:len(text)-2]), 64)
		if w := v * per; known && err == nil && w >= 100 && w <= 5000 {
			return w, nil
		}
	}
	return 0, fmt.Errorf("width %q: it must be 100pt to 5000pt, in pt, mm, cm or in, such as 345pt", text)
}

// Write returns the table as one or more floats no wider than so many points. Text
// columns are broken into lines first, then columns that may be missed are left out, which
// a comment says; then the columns beside the fixed ones are spread over several tables.
// Rows beyond a page are in further tables.
func (t *Table) Write(most float64) string {
	parts, dropped := t.fit(most)
	var b strings.Builder
	if dropped != nil {
		fmt.Fprintf(&b, "%% left out for lack of width: %s\n", Escape(strings.Join(dropped, ", ")))
	}
	n := 0
	for k := range parts {
		p := &parts[k]
		for from := 0; from == 0 || from < len(p.Rows); n++ {
			to := p.page(from)
			p.float(&b, from, to, n, most, k == len(parts)-1 && to == len(p.Rows))
			from = max(to, 1)
		}
	}
	return b.String()
}

// laid is a table with the widths of its columns.
type laid struct {
	Table
	widths []float64
	broken []bool // columns whose cells have several lines
}

// fit returns the parts of a table and the columns that were left out.
func (t *Table) fit(most float64) (parts []laid, dropped []string) {
	c := *t
	for {
		if l, ok := c.lay(most, comfort); ok {
			return []laid{l}, dropped
		}
		i := c.mostDroppable()
		if i < 0 {
			break
		}
		dropped = append(dropped, c.Columns[i].Name)
		c = c.without(i)
	}
	if l, ok := c.lay(most, 0); ok {
		return []laid{l}, dropped
	}
	fixed := max(c.Fixed, 1)
	for from := fixed; from < len(c.Columns); {
		part, to := c.between(fixed, from, from+1), from+1
		l, _ := part.lay(most, 0)
		for to < len(c.Columns) {
			wider := c.between(fixed, from, to+1)
			w, ok := wider.lay(most, comfort)
			if !ok {
				break
			}
			l, to = w, to+1
		}
		parts, from = append(parts, l), to
	}
	if parts == nil {
		l, _ := c.lay(most, 0)
		parts = append(parts, l)
	}
	return parts, dropped
}

// lay gives every column its width: that of its longest text, or where all do not fit
// less, down to the longest word, or least if that is more. It reports whether that fits.
func (t *Table) lay(most, least float64) (laid, bool) {
	n := len(t.Columns)
	l := laid{*t, make([]float64, n), make([]bool, n)}
	words, sum, room := make([]float64, n), 0.0, most-2*separation*float64(n-1)
	for i, c := range t.Columns {
		natural := 0.0
		words[i] = longest(c.Name)
		for _, row := range t.Rows {
			natural, words[i] = max(natural, width(row[i])), max(words[i], longest(row[i]))
		}
		natural = max(natural, words[i]) + 0.5 // rounding
		words[i] = min(max(words[i]+0.5, least), natural)
		if !c.Left && least > 0 {
			words[i] = natural // numbers are broken last
		}
		l.widths[i] = natural
		sum += natural
	}
	for sum > room { // the widest gives first, down to the next
		widest := -1
		for i := range words {
			if l.widths[i] > words[i]+0.01 && (widest < 0 || l.widths[i] > l.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return l, false
		}
		less := math.Min(math.Min(5, sum-room), l.widths[widest]-words[widest])
		l.widths[widest] -= less
		l.broken[widest] = true
		sum -= less
	}
	return l, true
}

func (t *Table) mostDroppable() int {
	best, at := 0, -1
	for i, c := range t.Columns {
		if c.Drop > best {
			best, at = c.Drop, i
		}
	}
	return at
}

func (t *Table) without(i int) Table {
	out := *t
	out.Columns = slices.Delete(slices.Clone(t.Columns), i, i+1)
	out.Rows = make([][]string, len(t.Rows))
	for k, row := range t.Rows {
		out.Rows[k] = slices.Delete(slices.Clone(row), i, i+1)
	}
	if i < out.Fixed {
		out.Fixed--
	}
	return out
}

// between is the table with the fixed columns and some of the others.
func (t *Table) between(fixed, from, to int) Table {
	out := *t
	out.Columns = slices.Concat(t.Columns[:fixed], t.Columns[from:to])
	out.Rows = make([][]string, len(t.Rows))
	for k, row := range t.Rows {
		out.Rows[k] = slices.Concat(row[:fixed], row[from:to])
	}
	return out
}

// lines returns how many lines a row takes, counted so that it is never more.
func (l *laid) lines(row []string) int {
	most := 1
	for i, cell := range row {
		if !l.broken[i] {
			continue
		}
		lines, at := 1, 0.0
		for _, word := range strings.Fields(cell) {
			for k, part := range parts(word) {
				w := width(part)
				if k == 0 {
					w += width(" ")
				}
				if at > 0 && at+w > l.widths[i] {
					lines, at = lines+1, 0
				}
				at += w
			}
		}
		most = max(most, lines)
	}
	return most
}

// page returns the end of the rows from one on that a page has room for.
func (l *laid) page(from int) int {
	lines, to := 0, from
	for to < len(l.Rows) {
		lines += l.lines(l.Rows[to])
		if lines > mostLines && to > from {
			break
		}
		to++
	}
	return to
}

// float prints the rows between two as the n-th float of the table, the last with the notes.
func (l *laid) float(b *strings.Builder, from, to, n int, most float64, last bool) {
	caption, label := breakable(l.Caption), l.Label
	if n > 0 {
		caption, label = caption+" (continued)", label+"-"+strconv.Itoa(n+1)
	}
	b.WriteString("\n\\begin{table}[htbp]\n\\centering\n\\begingroup\\sloppy\n")
	fmt.Fprintf(b, "\\caption{%s}\n", caption)
	if l.Label != "" {
		fmt.Fprintf(b, "\\label{tab:%s}\n", label)
	}
	fmt.Fprintf(b, "\\endgroup\n\\fontsize{%g}{%g}\\selectfont\\frenchspacing\n\\setlength{\\tabcolsep}{%gpt}\n\\begin{tabular}{@{}", size, leading, separation)
	header := make([]string, len(l.Columns))
	for i, c := range l.Columns {
		side, ragged := "r", `\raggedleft`
		if c.Left {
			side, ragged = "l", `\raggedright`
		}
		if l.broken[i] {
			fmt.Fprintf(b, `>{%s\arraybackslash}p{%.1fpt}`, ragged, l.widths[i])
		} else {
			b.WriteString(side)
		}
		if i == 0 { // no space before the first column and behind the last, here too
			side = "@{}" + side
		}
		if i == len(l.Columns)-1 {
			side += "@{}"
		}
		header[i] = heading(c.Name, side, l.widths[i])
	}
	b.WriteString("@{}}\n\\toprule\n" + strings.Join(header, " & ") + " \\\\\n\\midrule\n")
	for _, row := range l.Rows[from:to] {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = Escape(cell); l.broken[i] {
				cells[i] = breakable(cell)
			}
		}
		b.WriteString(strings.Join(cells, " & ") + " \\\\\n")
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	if last && len(l.Notes) > 0 {
		notes := make([]string, len(l.Notes))
		for i, note := range l.Notes {
			notes[i] = breakable(note)
		}
		fmt.Fprintf(b, "\n\\smallskip\n\\parbox{%.1fpt}{\\sloppy\\raggedright %s}\n", most, strings.Join(notes, "\\\\\n"))
	}
	b.WriteString("\\end{table}\n")
}

// heading breaks a column's title into lines of its width.
func heading(name, side string, most float64) string {
	var lines []string
	for _, word := range strings.Fields(name) {
		for i, part := range parts(word) {
			space := ""
			if i == 0 {
				space = " "
			}
			if k := len(lines) - 1; k >= 0 && width(lines[k]+space+part) <= most {
				lines[k] += space + part
			} else {
				lines = append(lines, part)
			}
		}
	}
	for i, line := range lines {
		lines[i] = Escape(line)
	}
	switch {
	case len(lines) == 0:
		return ""
	case len(lines) == 1:
		return `\multicolumn{1}{` + side + `}{` + lines[0] + `}`
	}
	return `\multicolumn{1}{` + side + `}{\shortstack[` + strings.ReplaceAll(side, "@{}", "") + `]{` + strings.Join(lines, `\\`) + `}}`
}

// parameters are what stands in brackets behind a method's name.
var parameters = regexp.MustCompile(`^([^(]+)\((.+)\)$`)

// Shorten returns short names for those names that have parameters: the name alone where
// no other has it, and the name with a number otherwise.
func Shorten(names []string) map[string]string {
	taken, count := map[string]bool{}, map[string]int{}
	var order []string
	for _, name := range names {
		if taken[name] {
			continue
		}
		taken[name] = true
		order = append(order, name)
		count[base(name)]++
	}
	short := map[string]string{}
	for _, name := range order {
		b := base(name)
		if b == name {
			continue
		}
		text := b
		for i := 1; count[b] > 1 && (text == b || taken[text]); i++ {
			text = b + "-" + strconv.Itoa(i)
		}
		short[name], taken[text] = text, true
	}
	return short
}

func base(name string) string {
	if m := parameters.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// Shorten replaces names of methods by short ones, and says in a note which are which.
func (t *Table) Shorten(short map[string]string) {
	said := map[string]bool{}
	use := func(name string) string {
		s, ok := short[name]
		if !ok {
			return name
		}
		if !said[name] {
			said[name] = true
			t.Notes = append(t.Notes, s+": "+name)
		}
		return s
	}
	t.Columns, t.Rows = slices.Clone(t.Columns), slices.Clone(t.Rows)
	for i := range t.Columns {
		if t.Columns[i].Head {
			t.Columns[i].Name = use(t.Columns[i].Name)
		}
	}
	for k, row := range t.Rows {
		t.Rows[k] = slices.Clone(row)
		for i, c := range t.Columns {
			if c.Names {
				t.Rows[k][i] = use(row[i])
			}
		}
	}
}

// Label returns words as a label has them: small letters, digits and hyphens.
func Label(words ...string) string {
	text := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, strings.Join(words, "-"))
	for strings.Contains(text, "--") {
		text = strings.ReplaceAll(text, "--", "-")
	}
	return strings.Trim(text, "-")
}
