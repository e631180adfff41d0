package chart

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"yardstick/internal/latex/latextest"
)

// awkward is a name with every sign that TeX gives a meaning, and some that it lacks.
const awkward = `a_b(c=1,d=50%) & #1 {y} ~z^2 \w <≤·µ…> "q" 字`

// drawings are one of each kind, with names that are awkward.
func drawings() map[string]Drawing {
	bars := []Bar{{Lanes: []int{0, 1}, Start: 0, End: 3, Job: 1}, {Lanes: []int{1}, Start: 3, End: 9, Job: 2, Dim: true}}
	all := map[string]Drawing{
		"boxes":     &Boxes{X: awkward, Log: true, Groups: []Distribution{{Name: awkward, Values: []float64{1, 1.2, 1.3, 4}}, {Name: "empty"}}},
		"schedules": &Gantt{X: awkward, Panels: []Panel{{Name: awkward, Lanes: []string{awkward, "b"}, End: 9, Bars: bars}}},
	}
	for _, style := range []Style{Connected, Steps, Points, Dashed} {
		a, b := line(40, style), line(9, style)
		a.Name = awkward
		all[fmt.Sprint("lines ", style)] = &Figure{Title: awkward, X: awkward, Y: awkward, LogX: true, Lines: []Line{a, b}, Bands: []Band{{X: []float64{1, 2}, Low: []float64{1, 1}, High: []float64{2, 3}}}}
	}
	return all
}

// TestFormats: a figure has the same bytes each time, in every format, and TeX takes PGF and
// PDF into a column of an article without a complaint.
func TestFormats(t *testing.T) {
	files := map[string][]byte{}
	var text strings.Builder
	for name, d := range drawings() {
		for _, format := range Formats() {
			first, err := d.Draw(format)
			if err != nil {
				t.Fatalf("%s as %s: %v", name, format, err)
			}
			second, err := d.Draw(format)
			if err != nil || !bytes.Equal(first, second) {
				t.Errorf("%s as %s: two are of %d and %d bytes and differ, %v", name, format, len(first), len(second), err)
			}
			file := fmt.Sprintf("%s.%s", strings.ReplaceAll(name, " ", "-"), format)
			files[file] = first
			switch format {
			case PDF:
				fmt.Fprintf(&text, "\\noindent\\includegraphics[width=\\linewidth]{%s}\n\n", file)
			case PGF:
				fmt.Fprintf(&text, "\\noindent\\input{%s}\n\n", file)
			}
		}
		if _, err := d.Draw("png"); err == nil {
			t.Errorf("%s is drawn as what there is not", name)
		}
	}
	for _, complaint := range latextest.Complaints(t, text.String(), 345, files) {
		t.Errorf("TeX: %s", complaint)
	}
	// TeX complains of what does not fit, and of a text that is not escaped.
	if len(latextest.Complaints(t, `\noindent\input{boxes.pgf}`, 300, files)) == 0 {
		t.Error("TeX takes a figure into a column that is narrower")
	}
	broken := map[string][]byte{"a.pgf": bytes.Replace(files["boxes.pgf"], []byte(`50\%`), []byte(`50%`), 1)}
	if len(latextest.Complaints(t, `\input{a.pgf}`, 345, broken)) == 0 {
		t.Error("TeX takes a text as it stands")
	}
}

// TestWindows1252: every sign of our texts is one that a PDF shows.
func TestWindows1252(t *testing.T) {
	for text, want := range map[string]string{"": "", "a b~": "a b~", "n=10 · 5 µs ± é": "n=10 \xb7 5 \xb5s \xb1 \xe9", "ratio ≤ 1.5–2…": "ratio <= 1.5\x962\x85", "字\u0085": "??"} {
		if got := windows1252(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
