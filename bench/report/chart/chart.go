// Package chart draws the figures of reports and reproductions as SVG, with
// the same bytes for the same numbers.
package chart

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a set of lines on common axes.
type Figure struct {
	Title, X, Y string // of the figure and of its axes, with units
	LogX, LogY  bool   // all values on a logarithmic axis must be positive
	Lines       []Line
}

// Line is a named sequence of points, len(X) = len(Y).
type Line struct {
	Name  string
	X, Y  []float64
	Style Style
}

// Style says how a line's points are drawn.
type Style uint8

// The styles.
const (
	Connected Style = iota // straight lines between marked points
	Steps                  // constant until the next point, unmarked
	Points                 // marks alone
	Dashed                 // straight dashed lines, unmarked
)

// Width and height of a figure.
const (
	width  = 7 * vg.Inch
	height = 4 * vg.Inch
)

// SVG draws the figure.
func (f *Figure) SVG() ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	p.BackgroundColor = color.White
	p.Legend.Top = true
	if f.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if f.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	p.Add(plotter.NewGrid())
	for i, l := range f.Lines {
		if err := add(p, i, l); err != nil {
			return nil, fmt.Errorf("chart: %q, line %q: %w", f.Title, l.Name, err)
		}
	}
	canvas := vgsvg.New(width, height)
	p.Draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("chart: %q: %w", f.Title, err)
	}
	return out.Bytes(), nil
}

func add(p *plot.Plot, i int, l Line) error {
	if len(l.X) != len(l.Y) {
		return fmt.Errorf("%d values of x for %d of y", len(l.X), len(l.Y))
	}
	if len(l.X) == 0 {
		return nil
	}
	points := make(plotter.XYs, len(l.X))
	for k := range points {
		points[k] = plotter.XY{X: l.X[k], Y: l.Y[k]}
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, marks.Color = plotutil.Color(i), plotutil.Color(i)
	marks.Shape = plotutil.Shape(i)
	switch l.Style {
	case Connected:
		p.Add(line, marks)
		p.Legend.Add(l.Name, line, marks)
	case Points:
		p.Add(marks)
		p.Legend.Add(l.Name, marks)
	case Steps:
		line.StepStyle = plotter.PostStep
		p.Add(line)
		p.Legend.Add(l.Name, line)
	case Dashed:
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(line)
		p.Legend.Add(l.Name, line)
	}
	return nil
}
