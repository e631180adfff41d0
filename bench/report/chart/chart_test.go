package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// wellFormed wants an SVG document, and returns its texts.
func wellFormed(t *testing.T, svg []byte) []string {
	t.Helper()
	var texts []string
	d := xml.NewDecoder(bytes.NewReader(svg))
	within := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			within = token.Name.Local == "text"
		case xml.CharData:
			if within {
				texts = append(texts, string(token))
			}
		case xml.EndElement:
			within = false
		}
	}
}

func line(n int, style Style) Line {
	l := Line{Name: "a <line>", Style: style}
	for i := range n {
		l.X, l.Y = append(l.X, float64(i+1)), append(l.Y, math.Sqrt(float64(i+1)))
	}
	return l
}

func TestFigure(t *testing.T) {
	for _, log := range []bool{false, true} {
		for _, style := range []Style{Connected, Steps, Points, Dashed} {
			f := Figure{Title: "title", X: "x (s)", Y: "y", LogX: log, LogY: log, Lines: []Line{line(30, style), {Name: "empty"}, line(1, style)},
				Bands: []Band{{X: []float64{1, 2}, Low: []float64{1, 1}, High: []float64{2, 3}}}}
			first, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			texts := wellFormed(t, first)
			for _, must := range []string{"title", "x (s)", "a <line>"} {
				if !slices.Contains(texts, must) {
					t.Errorf("style %d: %q is missing in %q", style, must, texts)
				}
			}
			if again, _ := f.SVG(); !bytes.Equal(first, again) {
				t.Errorf("style %d: other bytes for the same numbers", style)
			}
			if strings.Contains(string(first), "NaN") || strings.Contains(string(first), "Inf") {
				t.Errorf("style %d: %s", style, first)
			}
		}
	}
}

// What a figure cannot draw is an error, and what has no extent is drawn.
func TestEdges(t *testing.T) {
	for name, f := range map[string]Figure{
		"lengths":         {Lines: []Line{{X: []float64{1}}}},
		"zero on log":     {LogX: true, Lines: []Line{{X: []float64{0, 1}, Y: []float64{1, 2}}}},
		"negative on log": {LogY: true, Lines: []Line{{X: []float64{1}, Y: []float64{-1}}}},
		"infinity":        {Lines: []Line{{X: []float64{math.Inf(1)}, Y: []float64{1}}}},
		"band":            {Bands: []Band{{X: []float64{1, 2}, Low: []float64{1}}}},
	} {
		if _, err := f.SVG(); err == nil {
			t.Errorf("%s was drawn", name)
		}
	}
	for _, log := range []bool{false, true} {
		for _, f := range []Figure{{LogX: log, LogY: log}, {LogX: log, LogY: log, Lines: []Line{{X: []float64{5, 5}, Y: []float64{5, 5}}}}} {
			svg, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, svg)
		}
	}
}

// A figure of many points has at most MaxPoints, and stays small.
func TestThinned(t *testing.T) {
	f := Figure{Lines: []Line{line(100_000, Steps), line(100_000, Steps)}}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(svg), "L"); len(svg) > 120_000 || n > 2*MaxPoints+200 {
		t.Errorf("%d bytes, %d vertices", len(svg), n)
	}
	f.MaxPoints = 100
	few, _ := f.SVG()
	if len(few) > len(svg)/4 {
		t.Errorf("%d bytes with 100 points, %d with %d", len(few), len(svg), MaxPoints)
	}
}

func TestThin(t *testing.T) {
	for n := range 50 {
		values := make([]int, n)
		for i := range values {
			values[i] = i
		}
		for most := 2; most < 60; most++ {
			got := Thin(values, most)
			if len(got) != min(n, most) || n > 0 && (got[0] != 0 || got[len(got)-1] != n-1) || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Errorf("%d to %d: %v", n, most, got)
			}
		}
	}
}

// Ticks lie within the range, ascend, and their labels are their values.
func TestTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		least := math.Exp(20*rng.Float64() - 10)
		greatest := least * (1.01 + math.Exp(12*rng.Float64()-4))
		for kind, ticks := range map[string][]plot.Tick{"log": logTicks{}.Ticks(least, greatest), "linear": linearTicks{}.Ticks(least-greatest/2, greatest)} {
			labelled, last := 0, math.Inf(-1)
			for _, k := range ticks {
				if k.Value <= last || k.Value > greatest*(1+1e-9) {
					t.Errorf("%s from %v to %v: tick %v after %v", kind, least, greatest, k.Value, last)
				}
				last = k.Value
				if k.Label == "" {
					continue
				}
				labelled++
				var v float64
				if _, err := fmt.Sscan(strings.ReplaceAll(k.Label, ",", ""), &v); err != nil || v != k.Value {
					t.Errorf("%s: label %q at %v", kind, k.Label, k.Value)
				}
			}
			if labelled < 2 || labelled > 21 {
				t.Errorf("%s from %v to %v: %d labels", kind, least, greatest, labelled)
			}
		}
	}
}

func TestBoxes(t *testing.T) {
	b := Boxes{Title: "t", X: "ratio", Log: true, Groups: []Distribution{{Name: "one", Values: []float64{1, 2, 3, 4}}, {Name: "none"}, {Name: "same", Values: []float64{2, 2}}, {Name: "bracket", Values: []float64{3}, Least: []float64{1.5}}}}
	svg, err := b.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if texts := wellFormed(t, svg); !slices.Contains(texts, "none") {
		t.Errorf("%q", texts)
	}
	x := newBox(&Distribution{Values: []float64{4, 1, 3, 2, 5, 6, 8, 7}}, 0, 0, 100)
	if x.least != 1 || x.q1 != 2 || x.median != 4 || x.q3 != 6 || x.m != 8 {
		t.Errorf("%+v", x)
	}
}

// A bracket keeps its sides together, and the axis reaches down to the lower one.
func TestBoxBrackets(t *testing.T) {
	x := newBox(&Distribution{Values: []float64{4, 2, 3}, Least: []float64{1.5, 1.25, 5}}, 0, 0, 100)
	if !slices.Equal(x.values, []float64{2, 3, 4}) || !slices.Equal(x.lows, []float64{1.25, 3, 1.5}) || x.from != 1.25 {
		t.Errorf("%+v", x)
	}
	if _, err := (&Boxes{Groups: []Distribution{{Values: []float64{1, 2}, Least: []float64{1}}}}).SVG(); err == nil {
		t.Error("a value without its least was drawn")
	}
}

var sizes = regexp.MustCompile(`font-size:([0-9.]+)px`)

// Texts are large enough to be read where the page shows a figure at its smallest, 15
// sixteenths of its size, and figures are as wide as is said.
func TestTextSizes(t *testing.T) {
	gantt := Gantt{Panels: []Panel{{Name: "a", Lanes: []string{"server 0"}, End: 1e5, Bars: []Bar{{Lanes: []int{0}, End: 1e5, Job: 7}}}}}
	boxes := Boxes{X: "ratio", Groups: []Distribution{{Name: "one", Values: []float64{1, 2}}}}
	figure := Figure{Title: "t", X: "x", Y: "y", Lines: []Line{line(5, Points)}}
	for width, draw := range map[string]func() ([]byte, error){"560pt": gantt.SVG, "340pt": boxes.SVG, " width=\"340pt": figure.SVG} {
		svg, err := draw()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(svg), width) {
			t.Errorf("not %s wide: %.200s", width, svg)
		}
		for _, m := range sizes.FindAllSubmatch(svg, -1) {
			if size, err := strconv.ParseFloat(string(m[1]), 64); err != nil || size*15/16 < 9 {
				t.Errorf("%s: a text of %s", width, m[1])
			}
		}
	}
}

// Times are labelled in units, of which all labels of a linear axis share one.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    string
	}{{1, "s"}, {179, "s"}, {180, "min"}, {3 * 3600, "h"}, {86400, "h"}, {3 * 86400, "d"}} {
		if u := timeUnit(c.seconds); u.name != c.want {
			t.Errorf("%v s: %s", c.seconds, u.name)
		}
	}
	of := map[string]float64{"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}
	for _, span := range [][2]float64{{0.001, 1e8}, {2, 7}, {30, 1e6}, {100, 3000}, {100, 120}} {
		labelled := 0
		for _, k := range (timeTicks{}).Ticks(span[0], span[1]) {
			number, name, _ := strings.Cut(strings.ReplaceAll(k.Label, ",", ""), " ")
			v, err := strconv.ParseFloat(number, 64)
			if k.Label == "" {
				continue
			}
			labelled++
			if err != nil || math.Abs(v*of[name]-k.Value) > 1e-9*k.Value || k.Value < span[0] || k.Value > span[1]*(1+1e-9) {
				t.Errorf("%v: %q at %v", span, k.Label, k.Value)
			}
		}
		if labelled < 2 || labelled > 8 {
			t.Errorf("%v: %d labels", span, labelled)
		}
	}
	for _, k := range scaledTicks(3600).Ticks(0, 36000) {
		if v, err := strconv.ParseFloat(k.Label, 64); err != nil || v*3600 != k.Value {
			t.Errorf("%q at %v", k.Label, k.Value)
		}
	}
	for v, want := range map[float64]string{1234567: "1,234,567", -1000: "-1,000", 999: "999", 0.25: "0.25", 12345.5: "12,345.5", 1e12: "1e+12"} {
		if got := label(v); got != want {
			t.Errorf("%v: %s", v, got)
		}
	}
}

// Names stand below a figure in as many columns as fit, and are cut where not one does.
func TestLegend(t *testing.T) {
	l := newLegend(newPlot("", "", ""))
	if l.height(width) != 0 {
		t.Error("an empty legend has a height")
	}
	l.add("a")
	l.add("b")
	if l.columns(width) != 2 || l.height(width) != rowHeight+gap {
		t.Errorf("%d columns", l.columns(width))
	}
	l.add(strings.Repeat("long ", 30))
	if l.columns(width) != 1 {
		t.Errorf("%d columns", l.columns(width))
	}
	if got := fitted(strings.Repeat("long ", 30), l.style, 100); l.style.Width(got) > 100 || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
	if got := broken("some words of a title", l.style, 60); strings.Count(got, "\n") == 0 || strings.Join(strings.Fields(got), " ") != "some words of a title" {
		t.Errorf("%q", got)
	}
}

func TestGantt(t *testing.T) {
	g := Gantt{X: "time (s)", Panels: []Panel{
		{Name: "a & b", Lanes: []string{"server 0", ""}, End: 10, Bars: []Bar{{Lanes: []int{0, 1}, Start: 0, End: 5, Job: 7}, {Lanes: []int{1}, Start: 5, End: 10, Job: 88, Dim: true}}},
		{Name: "best", Lanes: []string{"server 0", ""}, End: 5, Bars: []Bar{{Lanes: []int{0}, Start: 0, End: 5, Job: 7, Part: 1, Of: 2}}},
	}}
	svg, err := g.SVG()
	if err != nil {
		t.Fatal(err)
	}
	texts := wellFormed(t, svg)
	if !slices.Contains(texts, "a & b") || !slices.Contains(texts, "7") || slices.Contains(texts, "88") {
		t.Errorf("%q", texts)
	}
	if _, err := (&Gantt{}).SVG(); err == nil {
		t.Error("nothing was drawn")
	}
}

// Every text keeps the width it was laid out with.
func TestTextWidths(t *testing.T) {
	f := Figure{Title: "a wider title", X: "x", Y: "y", Lines: []Line{line(5, Steps)}}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`<text `).FindAll(svg, -1)
	fixed := regexp.MustCompile(`<text [^>]*textLength="[1-9][0-9.]*"`).FindAll(svg, -1)
	if len(all) == 0 || len(all) != len(fixed) {
		t.Errorf("%d of %d texts have a width", len(fixed), len(all))
	}
}
