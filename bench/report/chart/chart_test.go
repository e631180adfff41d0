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
				if _, err := fmt.Sscan(k.Label, &v); err != nil || v != k.Value {
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
	b := Boxes{Title: "t", X: "ratio", Log: true, Groups: []Distribution{{"one", []float64{1, 2, 3, 4}}, {"none", nil}, {"same", []float64{2, 2}}}}
	svg, err := b.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if texts := wellFormed(t, svg); !slices.Contains(texts, "none") {
		t.Errorf("%q", texts)
	}
	x := newBox([]float64{4, 1, 3, 2, 5, 6, 8, 7}, 0, 0, 100)
	if x.least != 1 || x.q1 != 2 || x.median != 4 || x.q3 != 6 || x.m != 8 {
		t.Errorf("%+v", x)
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
