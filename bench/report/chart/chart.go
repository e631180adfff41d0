// Package chart draws the figures of reports and reproductions as SVG, with
// the same bytes for the same numbers. A figure draws at most [MaxPoints]
// points; what has more is thinned.
package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Figure is a set of lines on common axes.
type Figure struct {
	Title, X, Y string // of the figure and of its axes, with units
	LogX, LogY  bool   // all values on a logarithmic axis must be positive
	TimeX       bool   // x is seconds, shown in units that people read
	Lines       []Line
	Bands       []Band     // behind the lines
	YRange      [2]float64 // of the axis, at the least; both 0 to leave it to the values
	MaxPoints   int        // of all lines together; 0 for the constant
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

// Band is the area between two step lines over the same values of x.
type Band struct {
	X, Low, High []float64
}

// Width of a figure, that of a column of text, and height of its plot, above its
// legend. A wide figure has long rows; texts are of one size in both.
const (
	width  = 340
	height = 225
	wide   = 560
)

// Draw draws the figure.
func (f *Figure) Draw(format Format) ([]byte, error) {
	p := newPlot(f.Title, f.X, f.Y)
	p.Add(grid())
	for _, b := range f.Bands {
		if err := b.add(p); err != nil {
			return nil, fmt.Errorf("chart: %q: %w", f.Title, err)
		}
	}
	key := newLegend(p)
	most := f.share()
	for i, l := range f.Lines {
		dodge := vg.Length(0) // marks of several lines at one place stand beside each other
		if l.Style == Points {
			dodge = min(12/vg.Length(len(f.Lines)), 3) * (vg.Length(i) - vg.Length(len(f.Lines)-1)/2)
		}
		if err := add(p, key, i, l.thinned(most), dodge); err != nil {
			return nil, fmt.Errorf("chart: %q, line %q: %w", f.Title, l.Name, err)
		}
	}
	if f.YRange != [2]float64{} {
		p.Y.Min, p.Y.Max = math.Min(p.Y.Min, f.YRange[0]), math.Max(p.Y.Max, f.YRange[1])
	}
	for _, l := range f.Lines {
		if l.Style == Points && len(l.X) > 0 {
			widen(&p.X, f.LogX)
			widen(&p.Y, f.LogY)
			break
		}
	}
	if err := scaleAxis(&p.X, f.LogX); err != nil {
		return nil, fmt.Errorf("chart: %q, axis x: %w", f.Title, err)
	}
	if f.TimeX {
		timeAxis(&p.X, f.LogX)
	}
	if err := scaleAxis(&p.Y, f.LogY); err != nil {
		return nil, fmt.Errorf("chart: %q, axis y: %w", f.Title, err)
	}
	return render(format, p, key, width, height)
}

// share returns how many points each line may have.
func (f *Figure) share() int {
	most := f.MaxPoints
	if most <= 0 || most > MaxPoints {
		most = MaxPoints
	}
	return max(most/max(len(f.Lines), 1), 2)
}

func (l Line) thinned(most int) Line {
	if len(l.X) != len(l.Y) {
		return l // an error, which add reports
	}
	l.X, l.Y = Thin(l.X, most), Thin(l.Y, most)
	return l
}

func add(p *plot.Plot, key *legend, i int, l Line, dodge vg.Length) error {
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
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.LineStyle = lineStyle(i)
	m := newMarks(points, i)
	m.dodge = dodge
	switch l.Style {
	case Connected:
		line.Dashes = nil // the marks tell the lines apart
		p.Add(line, m)
		key.add(l.Name, line, m)
	case Points:
		p.Add(m)
		key.add(l.Name, m)
	case Steps:
		line.StepStyle = plotter.PostStep
		p.Add(line)
		key.add(l.Name, line)
	case Dashed:
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(line)
		key.add(l.Name, line)
	}
	return nil
}

// add draws the band as one polygon.
func (b Band) add(p *plot.Plot) error {
	if len(b.X) != len(b.Low) || len(b.X) != len(b.High) {
		return fmt.Errorf("band: %d values of x for %d and %d of y", len(b.X), len(b.Low), len(b.High))
	}
	if len(b.X) < 2 {
		return nil
	}
	x, low, high := Thin(b.X, MaxPoints/4), Thin(b.Low, MaxPoints/4), Thin(b.High, MaxPoints/4)
	var outline plotter.XYs
	for i := range x {
		if i > 0 {
			outline = append(outline, plotter.XY{X: x[i], Y: high[i-1]})
		}
		outline = append(outline, plotter.XY{X: x[i], Y: high[i]})
	}
	for i := len(x) - 1; i >= 0; i-- {
		outline = append(outline, plotter.XY{X: x[i], Y: low[i]})
		if i > 0 {
			outline = append(outline, plotter.XY{X: x[i], Y: low[i-1]})
		}
	}
	polygon, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	polygon.Color, polygon.LineStyle.Width = shade, 0
	p.Add(polygon)
	return nil
}
