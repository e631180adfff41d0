package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend names the lines of a figure, below it: in two columns where the names
// are short enough. A name too long for the figure is cut.
type legend struct {
	entries []entry
	style   text.Style
}

// entry is a name with what its line looks like.
type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

const (
	thumbWidth = 22 // of the piece of line before a name
	rowHeight  = 14
)

func newLegend(p *plot.Plot) *legend {
	return &legend{style: text.Style{Font: sans(10), Color: ink, Handler: p.TextHandler, YAlign: draw.YCenter}}
}

func (l *legend) add(name string, thumbs ...plot.Thumbnailer) {
	l.entries = append(l.entries, entry{name, thumbs})
}

// columns is how many columns the names fit in.
func (l *legend) columns(w vg.Length) int {
	for _, e := range l.entries {
		if l.style.Width(e.name)+thumbWidth+3*gap/2 > w/2 {
			return 1
		}
	}
	return min(len(l.entries), 2)
}

// height is that of the legend in a figure of width w; 0 of an empty one.
func (l *legend) height(w vg.Length) vg.Length {
	if len(l.entries) == 0 {
		return 0
	}
	n := l.columns(w)
	return vg.Length((len(l.entries)+n-1)/n)*rowHeight + gap
}

// draw fills a canvas of the legend's height, column by column.
func (l *legend) draw(c draw.Canvas) {
	if len(l.entries) == 0 {
		return
	}
	n := l.columns(c.Size().X)
	rows, column := (len(l.entries)+n-1)/n, c.Size().X/vg.Length(n)
	for i, e := range l.entries {
		x := c.Min.X + vg.Length(i/rows)*column + gap/2
		y := c.Max.Y - rowHeight*(vg.Length(i%rows)+0.5)
		thumb := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y - rowHeight/2}, Max: vg.Point{X: x + thumbWidth, Y: y + rowHeight/2}}}
		for _, t := range e.thumbs {
			t.Thumbnail(&thumb)
		}
		c.FillText(l.style, vg.Point{X: x + thumbWidth + gap/2, Y: y}, fitted(e.name, l.style, column-thumbWidth-3*gap/2))
	}
}

// fitted cuts a text to a width.
func fitted(name string, style text.Style, w vg.Length) string {
	runes := []rune(name)
	for style.Width(name) > w && len(runes) > 1 {
		runes = runes[:len(runes)-1]
		name = string(runes) + "…"
	}
	return name
}
