package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"yardstick/internal/output"
)

const gap = "  " // between columns

// table prints the report for a terminal.
func (r *Report) table(o Options) string {
	var b strings.Builder
	bold, red := paint(o.Color, "1"), paint(o.Color, "31;1")
	for _, s := range r.sheets(o) {
		for i, part := range s.fit(o.Width) {
			title := part.title
			if i > 0 {
				title += " (continued)"
			}
			b.WriteString(bold(wrap(output.Text(title), o.Width)) + "\n" + part.text())
			if part.note != "" {
				b.WriteString(wrap(part.note, o.Width) + "\n")
			}
			b.WriteString("\n")
		}
	}
	if len(r.Groups)+len(r.Placements) == 0 {
		b.WriteString("no results\n\n")
	}
	list := func(title string, problems []Problem) {
		if len(problems) > 0 {
			b.WriteString(red(title) + "\n")
			for _, line := range problemLines(problems) {
				b.WriteString(wrap("- "+output.Name(line), o.Width) + "\n")
			}
			b.WriteString("\n")
		}
	}
	list(contradictionTitle, r.Contradictions)
	list(unsolvedTitle, r.Unsolved)
	list(unplacedTitle, r.Unplaced)
	if legend := r.legend(); legend != "" {
		b.WriteString(wrap(legend, o.Width) + "\n")
	}
	if line := r.Summary.line(); line != "" {
		b.WriteString(bold(wrap(line, o.Width)) + "\n")
	}
	return b.String()
}

func paint(on bool, code string) func(string) string {
	return func(s string) string {
		if !on {
			return s
		}
		return "\x1b[" + code + "m" + s + "\x1b[0m"
	}
}

func wrap(s string, width int) string {
	if width <= 0 || text.StringWidth(s) <= width {
		return s
	}
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// littleLoss is the drop of a column from which on leaving it out comes before
// breaking text into short lines.
const littleLoss = 3

// fit returns the sheet as one or more that a terminal of the given width has
// room for. Where it is too wide, text columns are broken into lines, then
// columns that may be missed are left out and named in the note; a sheet with
// many methods side by side is cut into several. What is too wide even then
// stays so.
func (s sheet) fit(width int) []sheet {
	if width <= 0 || s.width() <= width {
		return []sheet{s}
	}
	if s.fixed > 0 {
		return s.split(width)
	}
	var dropped []string
	drop := func(s sheet, least int) sheet {
		for s.width() > width {
			i := s.mostDroppable()
			if i < 0 || s.columns[i].drop < least {
				break
			}
			dropped = append(dropped, s.columns[i].name)
			s = s.without(i)
		}
		return s
	}
	s = drop(s.wrapped(func(h heading) int { return h.wrap }), littleLoss)
	if s.width() > width {
		s = drop(s.wrapped(func(h heading) int { return h.hard }), 1)
	}
	if dropped != nil {
		s.note = "(not shown for lack of width: " + strings.Join(dropped, ", ") + ")"
	}
	return []sheet{s}
}

// split cuts a detail sheet between methods and repeats the leading columns.
func (s sheet) split(width int) []sheet {
	var parts []sheet
	for from := s.fixed; from < len(s.columns); {
		part := s.columnsOf(from, from+1)
		to := from + 1
		for to < len(s.columns) {
			wider := s.columnsOf(from, to+1)
			if wider.width() > width {
				break
			}
			part = wider
			to++
		}
		parts = append(parts, part)
		from = to
	}
	return parts
}

func (s sheet) columnsOf(from, to int) sheet {
	part := sheet{title: s.title, columns: append(s.columns[:s.fixed:s.fixed], s.columns[from:to]...), fixed: s.fixed}
	for _, row := range s.rows {
		part.rows = append(part.rows, append(row[:s.fixed:s.fixed], row[from:to]...))
	}
	return part
}

// wrapped breaks the text of each column at the width that at gives, if any.
func (s sheet) wrapped(at func(heading) int) sheet {
	out := sheet{title: s.title, columns: s.columns}
	for _, row := range s.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = cell
			if w := at(s.columns[i]); w > 0 {
				cells[i] = wrap(spaced(oneLine(cell)), w)
			}
		}
		out.rows = append(out.rows, cells)
	}
	return out
}

// spaced puts a blank after each bare comma, for lines to break at: the
// parameters of a method's name are joined without.
func spaced(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, ", ", ","), ",", ", ") }

func (s sheet) mostDroppable() int {
	best, at := 0, -1
	for i, c := range s.columns {
		if c.drop > best {
			best, at = c.drop, i
		}
	}
	return at
}

func (s sheet) without(i int) sheet {
	out := sheet{title: s.title, columns: append(s.columns[:i:i], s.columns[i+1:]...)}
	for _, row := range s.rows {
		out.rows = append(out.rows, append(row[:i:i], row[i+1:]...))
	}
	return out
}

// width returns the width of the sheet as text prints it.
func (s sheet) width() int {
	total := -len(gap)
	for i, c := range s.columns {
		w := text.LongestLineLen(headerText(c.name))
		for _, row := range s.rows {
			w = max(w, text.LongestLineLen(row[i]))
		}
		total += w + len(gap)
	}
	return total
}

// headerText breaks a method's parameters into lines of their own.
func headerText(name string) string {
	if !strings.Contains(name, "=") {
		return name
	}
	name = strings.ReplaceAll(name, "(", "\n(")
	return strings.ReplaceAll(name, ",", ",\n")
}

// text renders the sheet without lines or borders.
func (s sheet) text() string {
	t := s.writer(func(cell string) string { return cell })
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format = table.FormatOptions{}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", gap
	t.SetStyle(style)
	var b strings.Builder
	for line := range strings.Lines(t.Render()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// writer returns a table with the sheet's content, each cell as edit changes
// it.
func (s sheet) writer(edit func(string) string) table.Writer {
	t := table.NewWriter()
	var header table.Row
	var configs []table.ColumnConfig
	for i, c := range s.columns {
		header = append(header, edit(headerText(c.name)))
		align := text.AlignRight
		if c.left {
			align = text.AlignLeft
		}
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align, VAlignHeader: text.VAlignBottom})
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(header)
	for _, row := range s.rows {
		var cells table.Row
		for _, cell := range row {
			cells = append(cells, edit(output.Text(cell)))
		}
		t.AppendRow(cells)
	}
	return t
}
