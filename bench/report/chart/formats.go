package chart

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
	"gonum.org/v1/plot/vg/vgtex"

	"yardstick/internal/latex"
)

// Format is what a figure is drawn as: the same picture in each.
type Format string

// The formats.
const (
	SVG Format = "svg" // for pages
	PDF Format = "pdf" // with its fonts, for \includegraphics
	PGF Format = "pgf" // for \input in a document with the package pgf, in its fonts
)

// Formats lists every format.
func Formats() []Format { return []Format{SVG, PDF, PGF} }

// Drawing is what has figures: of lines, of distributions, of schedules.
type Drawing interface {
	Draw(Format) ([]byte, error)
}

// SVG draws the figure for a page.
func (f *Figure) SVG() ([]byte, error) { return f.Draw(SVG) }

// SVG draws the distributions for a page.
func (b *Boxes) SVG() ([]byte, error) { return b.Draw(SVG) }

// SVG draws the schedules for a page.
func (g *Gantt) SVG() ([]byte, error) { return g.Draw(SVG) }

// render draws a plot above its legend, which makes the picture higher.
func render(format Format, p *plot.Plot, key *legend, w, h vg.Length) ([]byte, error) {
	below := key.height(w)
	p.Title.Text = broken(p.Title.Text, p.Title.TextStyle, w)
	var canvas vg.CanvasWriterTo
	switch format {
	case SVG:
		canvas = vgsvg.New(w, h+below)
	case PDF:
		canvas = pdfCanvas{vgpdf.New(w, h+below)}
	case PGF:
		canvas = texCanvas{vgtex.New(w, h+below)}
	default:
		return nil, fmt.Errorf("chart: there is no format %q", format)
	}
	all := draw.New(canvas)
	p.Draw(draw.Crop(all, gap/2, -gap, below, -gap/2)) // half of the last labels stands beyond the axes
	key.draw(draw.Crop(all, 0, 0, 0, -h))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("chart: %q: %w", p.Title.Text, err)
	}
	switch format {
	case SVG:
		return anyFont(out.Bytes(), p.TextHandler), nil
	case PDF:
		return madeOf.ReplaceAll(out.Bytes(), []byte("(D:20000101000000")), nil
	}
	return picture(out.String(), w, h+below), nil
}

// madeOf are the dates in a PDF file: by them, two of the same figure would differ. What
// replaces them has their length, as the file counts its bytes.
var madeOf = regexp.MustCompile(`\(D:[0-9]{14}`)

// column is the width of a column of text of the class article in big points, which vg
// counts in.
const column = 345 / 1.00375

// picture frames a picture in exactly its size; one that is wider than a column is made
// as wide as the column that it stands in.
func picture(pgf string, w, h vg.Length) []byte {
	from := strings.Index(pgf, `\begin{pgfpicture}`) // after comments
	frame := `\begin{pgfpicture}` + fmt.Sprintf("\n\\pgfpathrectangle{\\pgfpointorigin}{\\pgfpoint{%.2fbp}{%.2fbp}}\\pgfusepath{use as bounding box}\n\\sffamily", w.Points(), h.Points())
	pgf = strings.Replace(pgf[from:], `\begin{pgfpicture}`, frame, 1)
	if w > column {
		pgf = "\\resizebox{\\linewidth}{!}{%\n" + strings.TrimSpace(pgf) + "}"
	}
	return []byte(strings.TrimSpace(pgf) + "%\n") // the end of the line is no space
}

// pdfCanvas writes texts in the encoding that the fonts of the PDF library have, Windows-1252.
type pdfCanvas struct{ *vgpdf.Canvas }

// FillString implements vg.Canvas.
func (c pdfCanvas) FillString(f font.Face, at vg.Point, text string) {
	c.Canvas.FillString(f, at, windows1252(text))
}

// windows1252 encodes a text. Signs that the encoding lacks are written otherwise, or as a
// question mark.
func windows1252(text string) string {
	var b strings.Builder
	for _, r := range text {
		other, known := map[rune]string{'…': "\x85", '–': "\x96", '—': "\x97", '‘': "\x91", '’': "\x92", '“': "\x93", '”': "\x94", '−': "-",
			'≤': "<=", '≥': ">=", '→': "->", 'μ': "\xb5", 'λ': "lambda", 'α': "alpha", 'ε': "epsilon", 'ξ': "xi", '∞': "infinite"}[r]
		switch {
		case known:
			b.WriteString(other)
		case r < 0x80, r >= 0xa0 && r <= 0xff:
			b.WriteByte(byte(r))
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// texCanvas writes for TeX what gonum writes for people: texts with signs that TeX gives a
// meaning, and paths that are closed.
type texCanvas struct{ *vgtex.Canvas }

// FillString implements vg.Canvas. A text is centred where it would be in our font.
func (c texCanvas) FillString(f font.Face, at vg.Point, text string) {
	tex := latex.Escape(text)
	at.X += (f.Width(text) - f.Width(tex)) / 2
	c.Canvas.FillString(f, at, tex)
}

// Stroke implements vg.Canvas.
func (c texCanvas) Stroke(p vg.Path) { c.Canvas.Stroke(closed(p)) }

// Fill implements vg.Canvas.
func (c texCanvas) Fill(p vg.Path) { c.Canvas.Fill(closed(p)) }

// closed returns a path with lines to where it began in place of its closings.
func closed(p vg.Path) vg.Path {
	p = slices.Clone(p)
	var start vg.Point
	for i := range p {
		switch p[i].Type {
		case vg.MoveComp:
			start = p[i].Pos
		case vg.CloseComp:
			p[i] = vg.PathComp{Type: vg.LineComp, Pos: start}
		}
	}
	return p
}
