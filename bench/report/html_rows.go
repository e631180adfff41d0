package report

import (
	"fmt"
	"html/template"
	"strings"

	"yardstick/bench/report/chart"
)

// plan is a figure that is still to be drawn: how many points it would like
// and how it is drawn with fewer.
type plan struct {
	caption, alt, note string
	file               string
	columns            []heading
	rows               [][]string                   // behind the figure, all of them
	points             int                          // it would like
	picture            func(most int) chart.Drawing // with so many points at most; nil if there is nothing to draw
	wide               bool                         // half of the page's width, at its widest, and not a third
	tables             []block                      // below it
}

// share returns how many points a figure may have at most, so that all
// together have at most budget: the largest give first.
func share(all [][]plan, budget int) int {
	least, most := 50, chart.MaxPoints
	for least < most {
		middle := (least + most + 1) / 2
		sum := 0
		for _, plans := range all {
			for i := range plans {
				sum += min(plans[i].points, middle)
			}
		}
		if sum <= budget {
			least = middle
		} else {
			most = middle - 1
		}
	}
	return least
}

// draw makes the figure with at most most points and as many rows behind it.
func (p *plan) draw(most int) (*figure, error) {
	svg, err := p.picture(most).Draw(chart.SVG)
	if err != nil {
		return nil, fmt.Errorf("report: %s: %w", p.caption, err)
	}
	f := &figure{Caption: p.caption, Note: p.note, SVG: inline(svg, p.alt), File: p.file}
	rows := chart.Thin(p.rows, most)
	f.CSV = csvURL(p.columns, rows)
	f.Rows = htmlTable{Caption: "Rows behind: " + p.caption, Columns: p.columns}
	for _, row := range rows[:min(len(rows), mostFigureRows)] {
		f.Rows.Rows = append(f.Rows.Rows, plainCells(row))
	}
	var notes []string
	if len(rows) < len(p.rows) {
		notes = append(notes, fmt.Sprintf("%s of %s rows, evenly spaced, are in the file; the Arrow files hold all", count(len(rows)), count(len(p.rows))))
	}
	if len(rows) > mostFigureRows {
		notes = append(notes, fmt.Sprintf("the first %d are shown", mostFigureRows))
	}
	f.Rows.Note = strings.Join(notes, "; ")
	return f, nil
}

func count(n int) string { return thousands(fmt.Sprint(n)) }

func plainCells(row []string) []cell {
	cells := make([]cell, len(row))
	for i, text := range row {
		cells[i] = cell{Text: text}
	}
	return cells
}

// inline makes an SVG document part of a page: an image with a text
// alternative.
func inline(svg []byte, alt string) template.HTML {
	text := string(svg)
	if at := strings.Index(text, "<svg"); at >= 0 {
		text = text[at+len("<svg"):]
	}
	text = strings.Replace(text, "\n\txmlns=\"http://www.w3.org/2000/svg\"\n\txmlns:xlink=\"http://www.w3.org/1999/xlink\"", "", 1)
	return template.HTML(`<svg role="img" aria-label="` + template.HTMLEscapeString(alt) + `"` + text)
}

// csvURL returns rows as a CSV file within an address.
func csvURL(columns []heading, rows [][]string) template.URL {
	var b strings.Builder
	b.WriteString("data:text/csv;charset=utf-8,")
	line := func(cells []string) {
		for i, text := range cells {
			if i > 0 {
				b.WriteByte(',')
			}
			if strings.ContainsAny(text, ",\"\n") {
				text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			}
			escapeURL(&b, text)
		}
		b.WriteString("%0A")
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	line(names)
	for _, row := range rows {
		line(row)
	}
	return template.URL(b.String())
}

// escapeURL writes text as part of a data address.
func escapeURL(b *strings.Builder, text string) {
	const plain = "-_.~()/:;=*!, "
	for i := range len(text) {
		c := text[i]
		switch {
		case c == ' ':
			b.WriteString("%20")
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(b, "%%%02X", c)
		}
	}
}

// table turns a sheet into an HTML table.
func (s sheet) table() *htmlTable {
	t := &htmlTable{Caption: s.title, Columns: s.columns, Note: s.note}
	for _, row := range s.rows {
		cells := make([]cell, len(row))
		for i, text := range row {
			cells[i] = cell{Text: oneLine(text)}
			if strings.Contains(text, "=") { // a method with its parameters
				cells[i].Text = spaced(cells[i].Text)
			}
			if strings.Contains(text, "VIOLATED") {
				cells[i].Class = "bad"
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// list makes a block of lines, cut where there are too many.
func list(lines []string) block {
	if n := len(lines); n > mostListed {
		lines = append(lines[:mostListed:mostListed], fmt.Sprintf("and %d more", n-mostListed))
	}
	return block{List: lines}
}
