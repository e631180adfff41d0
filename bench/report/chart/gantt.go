package chart

import (
	"fmt"
	"image/color"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Gantt shows schedules above each other on one time axis, in seconds. Lanes are
// GPUs; what no bar covers until the schedule's end is idle, and shaded.
type Gantt struct {
	Title, X string
	Panels   []Panel
}

// Panel is one schedule.
type Panel struct {
	Name  string
	Lanes []string // names, from top to bottom
	End   float64  // of the schedule
	Bars  []Bar
}

// Bar is a stretch of time in which a job holds lanes. Bars of one lane that
// overlap in time share its height.
type Bar struct {
	Lanes      []int // indices
	Start, End float64
	Job        int
	Dim        bool // it holds them without progress: loading or saving
	Part, Of   int  // which share of the lane's height, counted from 0, and of how many; Of 0 is all of it
}

const laneHeight = 13

// Draw draws the schedules.
func (g *Gantt) Draw(format Format) ([]byte, error) {
	end, lanes, parts := 0.0, 0, 1
	for _, p := range g.Panels {
		end = max(end, p.End)
		lanes += len(p.Lanes)
		for i := range p.Bars {
			parts = max(parts, p.Bars[i].Of)
		}
	}
	if lanes == 0 || end <= 0 {
		return nil, fmt.Errorf("chart: %q: no schedule to show", g.Title)
	}
	p := newPlot(g.Title, g.X, "")
	p.X.Min, p.X.Max = 0, end
	top := float64(lanes) + 1.2*float64(len(g.Panels)) // each panel has a line for its name
	p.Y.Min, p.Y.Max = 0, top
	var ticks plot.ConstantTicks
	y := top
	for i := range g.Panels {
		panel := &g.Panels[i]
		y -= 1.2
		p.Add(&schedule{panel, y})
		for k, name := range panel.Lanes {
			ticks = append(ticks, plot.Tick{Value: y - float64(k) - 0.5, Label: name})
		}
		y -= float64(len(panel.Lanes))
	}
	timeAxis(&p.X, false)
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.LineStyle.Width = ticks, 0, 0
	p.Y.Tick.Label.Font = sans(10)
	return render(format, p, newLegend(p), wide, vg.Length(top)*laneHeight*vg.Length(parts)+50)
}

// schedule draws one panel whose first lane ends at top.
type schedule struct {
	*Panel
	top float64
}

// Plot implements plot.Plotter.
func (s *schedule) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	rectangle := func(x0, x1, y0, y1 float64) []vg.Point {
		return []vg.Point{{X: x(x0), Y: y(y0)}, {X: x(x1), Y: y(y0)}, {X: x(x1), Y: y(y1)}, {X: x(x0), Y: y(y1)}}
	}
	title := draw.TextStyle{Color: ink, Font: sans(10), Handler: p.TextHandler}
	c.FillText(title, vg.Point{X: x(0), Y: y(s.top + 0.25)}, s.Name)
	for k := range s.Lanes {
		c.FillPolygon(shade, rectangle(0, s.End, s.top-float64(k)-0.95, s.top-float64(k)-0.05))
	}
	label := draw.TextStyle{Color: color.White, Font: sans(10), Handler: p.TextHandler, XAlign: draw.XCenter, YAlign: draw.YCenter}
	for i := range s.Bars {
		b := &s.Bars[i]
		fill, part, of := jobColor(b.Job, b.Dim), 0, 1
		if b.Of > 1 {
			part, of = b.Part, b.Of
		}
		for n, lane := range b.Lanes {
			high := s.top - float64(lane) - 0.05 - 0.9*float64(part)/float64(of)
			low := high - 0.9/float64(of)
			c.FillPolygon(fill, rectangle(b.Start, b.End, low, high))
			name := strconv.Itoa(b.Job)
			if n == 0 && !b.Dim && x(b.End)-x(b.Start) > label.Width(name)+3 {
				c.FillText(label, vg.Point{X: (x(b.Start) + x(b.End)) / 2, Y: y((low + high) / 2)}, name)
			}
		}
	}
}

// jobColor returns a colour for a job: hues far apart for neighbours, dark
// enough for white text; dim is paler.
func jobColor(job int, dim bool) color.Color {
	hue := float64((job*137)%360) / 60 // the golden angle
	light := 0.36
	if dim {
		light = 0.72
	}
	chroma := 0.55 * min(light, 1-light) * 2
	component := func(n float64) uint8 { // of a hue, saturation and lightness
		k := n + hue*2
		for k >= 12 {
			k -= 12
		}
		return uint8(255*(light-chroma/2*max(-1, min(k-3, 9-k, 1))) + 0.5)
	}
	return color.NRGBA{component(0), component(8), component(4), 0xff}
}
