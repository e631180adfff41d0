package chart

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Boxes shows distributions side by side: for each a box from the first to the
// third quartile with a line at the median, whiskers to the least and the
// greatest value, and every value as a short stroke. Quartiles are
// nearest-rank.
type Boxes struct {
	Title, X  string
	Log       bool
	Groups    []Distribution // from top to bottom
	MaxPoints int            // strokes of all groups together; 0 for the constant
}

// Distribution is a named set of values.
type Distribution struct {
	Name   string
	Values []float64
}

// SVG draws the figure.
func (b *Boxes) SVG() ([]byte, error) {
	p := newPlot(b.Title, b.X, "")
	p.Add(grid())
	names := make([]string, len(b.Groups))
	most := b.MaxPoints
	if most <= 0 || most > MaxPoints {
		most = MaxPoints
	}
	for i, g := range b.Groups {
		at := len(b.Groups) - 1 - i
		names[at] = g.Name
		p.Add(newBox(g.Values, float64(at), i, max(most/len(b.Groups), 2)))
	}
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	if err := scaleAxis(&p.X, b.Log); err != nil {
		return nil, fmt.Errorf("chart: %q: %w", b.Title, err)
	}
	key := legend()
	return render(p, &key, width*2/3+longest(names, p.TextHandler), vg.Length(len(names))*26+70)
}

// box is one distribution of the plot.
type box struct {
	values                   []float64 // ascending, thinned
	least, q1, median, q3, m float64   // m is the greatest
	at                       float64   // on the y axis
	color                    int
}

func newBox(values []float64, at float64, color, most int) *box {
	sorted := slices.Sorted(slices.Values(values))
	b := &box{values: Thin(sorted, most), at: at, color: color}
	if n := len(sorted); n > 0 {
		rank := func(quarters int) float64 { return sorted[max((quarters*n+3)/4, 1)-1] }
		b.least, b.q1, b.median, b.q3, b.m = sorted[0], rank(1), rank(2), rank(3), sorted[n-1]
	}
	return b
}

// DataRange implements plot.DataRanger.
func (b *box) DataRange() (xmin, xmax, ymin, ymax float64) {
	if len(b.values) == 0 {
		return math.Inf(1), math.Inf(-1), b.at, b.at
	}
	return b.least, b.m, b.at, b.at
}

// Plot implements plot.Plotter.
func (b *box) Plot(c draw.Canvas, p *plot.Plot) {
	if len(b.values) == 0 {
		return
	}
	x, y := p.Transforms(&c)
	middle := y(b.at)
	const half, strip = 6, -9 // the strokes stand below the box
	line := func(style draw.LineStyle, points ...float64) {
		var path vg.Path
		for i := 0; i < len(points); i += 4 {
			path.Move(vg.Point{X: x(points[i]), Y: middle + vg.Length(points[i+1])})
			path.Line(vg.Point{X: x(points[i+2]), Y: middle + vg.Length(points[i+3])})
		}
		c.SetLineStyle(style)
		c.Stroke(path)
	}
	thin := draw.LineStyle{Color: palette(b.color), Width: 1}
	line(thin, b.least, 0, b.q1, 0, b.q3, 0, b.m, 0, b.least, -3, b.least, 3, b.m, -3, b.m, 3)
	c.FillPolygon(shade, []vg.Point{{X: x(b.q1), Y: middle - half}, {X: x(b.q3), Y: middle - half}, {X: x(b.q3), Y: middle + half}, {X: x(b.q1), Y: middle + half}})
	line(thin, b.q1, -half, b.q1, half, b.q3, -half, b.q3, half, b.q1, half, b.q3, half, b.q1, -half, b.q3, -half)
	line(draw.LineStyle{Color: palette(b.color), Width: 2.5}, b.median, -half, b.median, half)
	var strokes []float64
	for _, v := range b.values {
		strokes = append(strokes, v, strip-2, v, strip+2)
	}
	line(draw.LineStyle{Color: palette(b.color), Width: 0.7}, strokes...)
}
