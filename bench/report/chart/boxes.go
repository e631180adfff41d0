package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Boxes shows distributions above each other: for each its name, a box from the
// first to the third quartile with a line at the median, whiskers to the least and
// the greatest value, and every value as a small circle. Quartiles are
// nearest-rank.
type Boxes struct {
	Title, X  string
	Log       bool
	Groups    []Distribution // from top to bottom
	MaxPoints int            // circles of all groups together; 0 for the constant
}

// Distribution is a named set of values.
type Distribution struct {
	Name   string
	Values []float64
	Least  []float64 // what each value is at the least, a pale line from there; none where they are exact
}

const boxRow = 38 // height of a name with its box and circles

// Draw draws the figure.
func (b *Boxes) Draw(format Format) ([]byte, error) {
	p := newPlot(b.Title, b.X, "")
	lines := grid()
	lines.Horizontal.Width = 0
	p.Add(lines)
	most := b.MaxPoints
	if most <= 0 || most > MaxPoints {
		most = MaxPoints
	}
	for i, g := range b.Groups {
		if g.Least != nil && len(g.Least) != len(g.Values) {
			return nil, fmt.Errorf("chart: %q: %d least of %d values", b.Title, len(g.Least), len(g.Values))
		}
		p.Add(newBox(&g, float64(len(b.Groups)-1-i), i, max(most/len(b.Groups), 2)))
	}
	p.Y.Min, p.Y.Max = -0.5, float64(len(b.Groups))-0.5
	p.HideY()
	widen(&p.X, b.Log)
	if err := scaleAxis(&p.X, b.Log); err != nil {
		return nil, fmt.Errorf("chart: %q: %w", b.Title, err)
	}
	return render(format, p, newLegend(p), width, vg.Length(len(b.Groups))*boxRow+45)
}

// box is one distribution of the plot.
type box struct {
	name                     string
	values, lows             []float64 // ascending by value, thinned
	least, q1, median, q3, m float64   // m is the greatest
	from                     float64   // the least of all, lows among them
	at                       float64   // on the y axis
	color                    int
}

func newBox(d *Distribution, at float64, color, most int) *box {
	type pair struct{ value, low float64 }
	pairs := make([]pair, len(d.Values))
	for i, v := range d.Values {
		pairs[i] = pair{v, v}
		if d.Least != nil {
			pairs[i].low = min(v, d.Least[i])
		}
	}
	slices.SortFunc(pairs, func(x, y pair) int { return cmp.Or(cmp.Compare(x.value, y.value), cmp.Compare(x.low, y.low)) })
	b := &box{name: d.Name, at: at, color: color, from: math.Inf(1)}
	for _, p := range Thin(pairs, most) {
		b.values, b.lows = append(b.values, p.value), append(b.lows, p.low)
		b.from = min(b.from, p.low)
	}
	if n := len(pairs); n > 0 {
		rank := func(quarters int) float64 { return pairs[max((quarters*n+3)/4, 1)-1].value }
		b.least, b.q1, b.median, b.q3, b.m = pairs[0].value, rank(1), rank(2), rank(3), pairs[n-1].value
	}
	return b
}

// DataRange implements plot.DataRanger.
func (b *box) DataRange() (xmin, xmax, ymin, ymax float64) {
	if len(b.values) == 0 {
		return math.Inf(1), math.Inf(-1), b.at, b.at
	}
	return b.from, b.m, b.at, b.at
}

// Plot implements plot.Plotter.
func (b *box) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	middle := y(b.at) - 3
	style := draw.TextStyle{Color: ink, Font: sans(10), Handler: p.TextHandler, YAlign: draw.YCenter}
	c.FillText(style, vg.Point{X: c.Min.X + 2, Y: middle + 14}, fitted(b.name, style, c.Size().X))
	if len(b.values) == 0 {
		return
	}
	const half, strip = 5, -11 // the circles stand below the box
	line := func(style draw.LineStyle, points ...float64) {
		var path vg.Path
		for i := 0; i < len(points); i += 4 {
			path.Move(vg.Point{X: x(points[i]), Y: middle + vg.Length(points[i+1])})
			path.Line(vg.Point{X: x(points[i+2]), Y: middle + vg.Length(points[i+3])})
		}
		c.SetLineStyle(style)
		c.Stroke(path)
	}
	var ranges []float64
	var circles vg.Path
	for i, v := range b.values {
		up := vg.Length(i*5%8)/2 - 2 // values alike stand beside each other
		if b.lows[i] < v {
			ranges = append(ranges, b.lows[i], float64(strip+up), v, float64(strip+up))
		}
		at := vg.Point{X: x(v), Y: middle + strip + up}
		circles.Move(vg.Point{X: at.X + 1.5, Y: at.Y})
		circles.Arc(at, 1.5, 0, 2*math.Pi)
	}
	thin := draw.LineStyle{Color: palette(b.color), Width: 1}
	if len(b.values) > 1 {
		line(thin, b.least, 0, b.q1, 0, b.q3, 0, b.m, 0, b.least, -3, b.least, 3, b.m, -3, b.m, 3)
		c.FillPolygon(shade, []vg.Point{{X: x(b.q1), Y: middle - half}, {X: x(b.q3), Y: middle - half}, {X: x(b.q3), Y: middle + half}, {X: x(b.q1), Y: middle + half}})
		line(thin, b.q1, -half, b.q1, half, b.q3, -half, b.q3, half, b.q1, half, b.q3, half, b.q1, -half, b.q3, -half)
		line(draw.LineStyle{Color: palette(b.color), Width: 2.5}, b.median, -half, b.median, half)
	} else if len(ranges) > 0 { // a bracket alone, with an end on either side
		low, high := b.lows[0], b.values[0]
		line(draw.LineStyle{Color: palette(b.color), Width: 5}, low, 0, high, 0)
		line(thin, low, -half, low, half, high, -half, high, half)
		return
	}
	if len(ranges) > 0 {
		line(draw.LineStyle{Color: pale(b.color), Width: 2}, ranges...)
	}
	c.SetLineStyle(draw.LineStyle{Color: palette(b.color), Width: 0.8})
	c.Stroke(circles)
}
