package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const gap = 8 * vg.Length(1) // between a plot and what is beside it

var (
	shade = color.NRGBA{0xe6, 0xe6, 0xe6, 0xff}
	ink   = color.NRGBA{0x33, 0x33, 0x33, 0xff}
)

// palette returns the i-th colour of ten that people with any colour vision
// can mostly tell apart; beyond ten they repeat with other dashes and marks.
func palette(i int) color.Color {
	colors := [...]color.NRGBA{
		{0x1f, 0x5f, 0xa8, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x7f, 0x5f, 0xff}, {0xb8, 0x3c, 0x8e, 0xff}, {0x8a, 0x6d, 0x00, 0xff},
		{0x2f, 0xa4, 0xd9, 0xff}, {0x5b, 0x3a, 0x9e, 0xff}, {0x6b, 0x6b, 0x6b, 0xff}, {0xa0, 0x30, 0x30, 0xff}, {0x4c, 0x8c, 0x1c, 0xff},
	}
	return colors[i%len(colors)]
}

// lineStyle returns how the i-th line of a figure is drawn: neighbours differ
// in colour and in dashes.
func lineStyle(i int) draw.LineStyle {
	dashes := [...][]vg.Length{nil, {7, 2}, {2, 2}, {8, 2, 2, 2}}
	return draw.LineStyle{Color: palette(i), Width: 1.5, Dashes: dashes[(i+i/len(dashes))%len(dashes)]}
}

// newPlot returns an empty plot in the house style.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.BackgroundColor = color.White
	p.Title.Padding = gap
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		s.Font, s.Color = sans(10), ink
	}
	p.Title.TextStyle.Font = sans(12)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Color, a.Tick.LineStyle.Color = ink, ink
	}
	return p
}

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = color.NRGBA{0xdd, 0xdd, 0xdd, 0xff}, color.NRGBA{0xdd, 0xdd, 0xdd, 0xff}
	g.Vertical.Width, g.Horizontal.Width = 0.5, 0.5
	return g
}

// marks draws points as small shapes, all of them in one path, so that a file
// with many stays small.
type marks struct {
	plotter.XYs
	shape int
	dodge vg.Length // to the right
	draw.LineStyle
}

func newMarks(points plotter.XYs, i int) *marks {
	return &marks{XYs: points, shape: i % 4, LineStyle: draw.LineStyle{Color: palette(i), Width: 1.2}}
}

// DataRange implements plot.DataRanger.
func (m *marks) DataRange() (xmin, xmax, ymin, ymax float64) { return plotter.XYRange(m.XYs) }

// Plot implements plot.Plotter.
func (m *marks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var path vg.Path
	for _, xy := range m.XYs {
		if at := (vg.Point{X: x(xy.X), Y: y(xy.Y)}); c.Contains(at) {
			at.X += m.dodge
			m.mark(&path, at)
		}
	}
	m.stroke(&c, path)
}

// Thumbnail implements plot.Thumbnailer.
func (m *marks) Thumbnail(c *draw.Canvas) {
	var path vg.Path
	m.mark(&path, c.Center())
	m.stroke(c, path)
}

func (m *marks) stroke(c *draw.Canvas, path vg.Path) {
	if len(path) > 0 {
		c.SetLineStyle(m.LineStyle)
		c.Stroke(path)
	}
}

// mark appends a plus, a cross, a square or a diamond.
func (m *marks) mark(path *vg.Path, at vg.Point) {
	const r = 2.5
	line := func(dx0, dy0, dx1, dy1 vg.Length) {
		path.Move(vg.Point{X: at.X + dx0*r, Y: at.Y + dy0*r})
		path.Line(vg.Point{X: at.X + dx1*r, Y: at.Y + dy1*r})
	}
	switch m.shape {
	case 0:
		line(-1, 0, 1, 0)
		line(0, -1, 0, 1)
	case 1:
		line(-0.8, -0.8, 0.8, 0.8)
		line(-0.8, 0.8, 0.8, -0.8)
	case 2:
		line(-0.8, -0.8, 0.8, -0.8)
		path.Line(vg.Point{X: at.X + 0.8*r, Y: at.Y + 0.8*r})
		path.Line(vg.Point{X: at.X - 0.8*r, Y: at.Y + 0.8*r})
		path.Close()
	case 3:
		line(-1.2, 0, 0, 1.2)
		path.Line(vg.Point{X: at.X + 1.2*r, Y: at.Y})
		path.Line(vg.Point{X: at.X, Y: at.Y - 1.2*r})
		path.Close()
	}
}

// pale is a colour of the palette, mixed with white.
func pale(i int) color.Color {
	r, g, b, _ := palette(i).RGBA()
	mixed := func(v uint32) uint8 { return uint8((v>>8 + 2*0xff) / 3) }
	return color.NRGBA{mixed(r), mixed(g), mixed(b), 0xff}
}
