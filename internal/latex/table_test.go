package latex

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/internal/latex/latextest"
)

// randomTable draws a table of names, sentences and numbers, with every sign.
func randomTable(rng *rand.Rand, n int) *Table {
	words := []string{"sjf", "lazer", "primal_dual & co", "mean-busy-time;", "100%", "≤1.112", "srpt-ranked,", "f=observed", "a|b", "~x^2", "{y}", "<3>", "\"q\"", "αλµ", "日本", "#7$", "certified", "back\\slash", "[x]", "*"}
	text := func(most int) string {
		var list []string
		for range rng.IntN(most) + 1 {
			list = append(list, words[rng.IntN(len(words))])
		}
		return strings.Join(list, []string{" ", "-", ","}[rng.IntN(3)])
	}
	t := &Table{Caption: "Drawn, " + text(12), Label: fmt.Sprint("drawn-", n), Notes: []string{text(30)}}
	if rng.IntN(2) == 0 {
		t.Fixed = 1 + rng.IntN(2)
	}
	columns := max(rng.IntN(14)+1, t.Fixed+1)
	for i := range columns {
		t.Columns = append(t.Columns, Column{Name: text(3), Left: i == 0 || rng.IntN(3) == 0, Drop: rng.IntN(3), Names: i == 0, Head: rng.IntN(4) == 0})
	}
	for range rng.IntN(60) {
		row := make([]string, columns)
		for i := range row {
			switch {
			case t.Columns[i].Left:
				row[i] = text(5)
			case rng.IntN(4) > 0:
				row[i] = fmt.Sprintf("%.*f", rng.IntN(5), rng.Float64()*1e5)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// TestFitsThePage: TeX finds no box too wide, and no page too long, in any table, at any
// width that a paper has.
func TestFitsThePage(t *testing.T) {
	for seed, most := range map[uint64]float64{1: Width, 2: 240, 3: 500} {
		rng := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for n := range 12 {
			b.WriteString(randomTable(rng, n).Write(most) + "\\clearpage\n")
		}
		if found := latextest.Complaints(t, b.String(), most, nil); found != nil {
			t.Errorf("seed %d, %g pt: %d complaints, the first: %s", seed, most, len(found), found[0])
		}
	}
	wide := &Table{Columns: []Column{{Name: "x"}}, Rows: [][]string{{strings.Repeat("0", 200)}}}
	if found := latextest.Complaints(t, wide.Write(Width), Width, nil); len(found) == 0 || !strings.HasPrefix(found[0], "Overfull") {
		t.Errorf("the test does not see what is too wide: %v", found)
	}
}

// TestNothingIsLost: every cell of a column that stays is in some part, once per row, and
// what is left out is said.
func TestNothingIsLost(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	dropped, split := 0, 0
	for n := range 300 {
		table := randomTable(rng, n)
		for k, row := range table.Rows {
			for i := range row {
				row[i] = fmt.Sprintf("r%dc%d", k, i)
			}
		}
		for i := range table.Columns {
			table.Columns[i].Name = fmt.Sprintf("column%dx", i)
			if i < max(table.Fixed, 1) {
				table.Columns[i].Drop = 0 // another would be repeated in its place
			}
		}
		text := table.Write(90 + 300*rng.Float64())
		if strings.Contains(text, "-2}") {
			split++
		}
		gone, _, _ := strings.Cut(text, "\n")
		for i, c := range table.Columns {
			out := strings.HasPrefix(gone, "% left out") && strings.Contains(gone, c.Name)
			if out {
				dropped++
			}
			if out && c.Drop == 0 {
				t.Errorf("table %d: column %d is to stay", n, i)
			}
			for k := range table.Rows {
				if got := cellCount(text, fmt.Sprintf("r%dc%d", k, i)); (got == 0) != out || got > 1 && i >= max(table.Fixed, 1) {
					t.Fatalf("table %d: the cell of row %d, column %d is there %d times; left out: %v", n, k, i, got, out)
				}
			}
		}
	}
	if dropped < 50 || split < 50 {
		t.Errorf("%d columns left out and %d tables split: the draws are too wide", dropped, split)
	}
}

func cellCount(text, cell string) (n int) {
	for _, word := range strings.Fields(text) {
		if word == cell {
			n++
		}
	}
	return n
}

func TestShorten(t *testing.T) {
	names := []string{"fifo", "sjf(a=1)", "fifo(b=2)", "fifo(b=3)", "fifo-2", "las", "fifo(b=2)"}
	short := Shorten(names)
	want := map[string]string{"sjf(a=1)": "sjf", "fifo(b=2)": "fifo-1", "fifo(b=3)": "fifo-3"}
	if len(short) != len(want) {
		t.Errorf("%v", short)
	}
	for name, s := range want {
		if short[name] != s {
			t.Errorf("%s: %q, want %q", name, short[name], s)
		}
	}
	table := &Table{Columns: []Column{{Name: "method", Names: true}, {Name: "sjf(a=1)", Head: true}}, Rows: [][]string{{"fifo(b=2)", "sjf(a=1)"}, {"las", ""}}}
	table.Shorten(short)
	if table.Columns[1].Name != "sjf" || table.Rows[0][0] != "fifo-1" || table.Rows[0][1] != "sjf(a=1)" || !slices.Equal(table.Notes, []string{"sjf: sjf(a=1)", "fifo-1: fifo(b=2)"}) {
		t.Errorf("%+v", table)
	}
}

func TestParseWidth(t *testing.T) {
	for text, want := range map[string]float64{"345pt": 345, "5in": 361.35, "10cm": 284.53, "100mm": 284.53, "3.5 in": 252.945} {
		if got, err := ParseWidth(text); err != nil || got < want-0.01 || got > want+0.01 {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "pt", "345", "-345pt", "NaNpt", "+Infpt", "1pt", "345px", "1e9in"} {
		if _, err := ParseWidth(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestWidths: no character is wider than it is taken to be, by TeX itself.
func TestWidths(t *testing.T) {
	var b strings.Builder
	b.WriteString("\\fontsize{8}{9.5}\\selectfont\\frenchspacing\n")
	var all []rune
	for r := ' '; r < 127; r++ {
		all = append(all, r)
	}
	for r := range signs {
		all = append(all, r)
	}
	for _, r := range append(all, []rune(accented)...) {
		text := "x" + string(r) + "x"
		fmt.Fprintf(&b, "\\setbox0\\hbox{%s}\\ifdim\\wd0>%.3fpt\\errmessage{%d is \\the\\wd0}\\fi\n", Escape(text), width(text)+0.002*size, r)
	}
	if found := latextest.Complaints(t, b.String()+"x", Width, nil); found != nil {
		t.Errorf("wider than %v", found)
	}
}
