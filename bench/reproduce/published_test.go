package reproduce

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNumberTable: five draws beside a published 10: two above it, all above, all below,
// and one that is missing once.
func TestNumberTable(t *testing.T) {
	draw := func(a, b, c, d string) *Output {
		return &Output{Tables: []Table{{Title: "JCT", Columns: []string{"method", "mean, h", "paper, h"}, Rows: [][]string{
			{"both", a, "10"}, {"over", b, "10"}, {"under", c, "10"}, {"lost", d, "10"}, {"unpublished", "7", absent}}}},
			Orderings: []Ordering{{"a below b", 1, 2}}}
	}
	draws := []*Output{draw("8", "11", "1", "3"), draw("9", "12", "2", "3"), draw("9.5", "13", "2", absent), draw("11", "14", "3", "3"), draw("12", "15", "4", "3")}
	table := numberTable(draws)
	want := [][]string{
		{"JCT: both: mean, h", "10", "9.5 (8 to 12)", "2 of 5", "0.950", "no verdict"},
		{"JCT: over: mean, h", "10", "13 (11 to 15)", "5 of 5", "1.300", "above"},
		{"JCT: under: mean, h", "10", "2 (1 to 4)", "0 of 5", "0.200", "below"},
	}
	if len(table.Rows) != len(want) {
		t.Fatalf("%d rows: %v", len(table.Rows), table.Rows)
	}
	for i, row := range table.Rows {
		got := append(append([]string{}, row[:5]...), row[6])
		if strings.Join(got, "|") != strings.Join(want[i], "|") {
			t.Errorf("%v, want %v", got, want[i])
		}
	}
	if one := numberTable(draws[:1]); one.Rows[0][6] != "no verdict" {
		t.Errorf("one draw has the verdict %s", one.Rows[0][6])
	}
	out := Combine(draws)
	if !strings.HasPrefix(out.Tables[1].Title, numbersTitle) {
		t.Errorf("tables %v", out.Tables)
	}
	var text strings.Builder
	if err := (&Item{Name: "item"}).WriteVerdicts(&text, out, 0.5, 3, len(draws)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil || len(rows) != 1+len(want)+1 {
		t.Fatalf("%v: %v", err, rows)
	}
	if got := strings.Join(rows[1][:9], "|"); got != "item|0.5|3|5|number|JCT: both: mean, h|10|9.5 (8 to 12)|2 of 5" {
		t.Error(got)
	}
	if got := strings.Join(rows[4][4:], "|"); got != "ordering|a below b|||5 of 5|2.000|2.000 to 2.000|holds" {
		t.Error(got)
	}
	out.Unpublished()
	for _, x := range out.Tables {
		if strings.HasPrefix(x.Title, numbersTitle) {
			t.Error("published numbers of another load are kept")
		}
	}
}

// TestPublishedRows: a row that says paper is beside the rows that say the same before it, and
// rows of two metrics order nothing.
func TestPublishedRows(t *testing.T) {
	draw := func(factor float64) *Output {
		cell := func(v float64) string { return number(v*factor, 1) }
		return &Output{Tables: []Table{
			{Title: "T", Columns: []string{"metric", "trace", "startup", "SJF", "Lazer"}, Rows: [][]string{
				{"JCT", "Earth", "3s", cell(4), cell(6)}, {"JCT", "Earth", "100s", cell(8), absent}, {"JCT", "Earth", "paper", "5", "10.5"}, {"JCT", "Saturn", "3s", "1", "1"}}},
			{Title: "U", Columns: []string{"metric, policy", "hours", "paper"}, Rows: [][]string{
				{"JCT, FIFO", cell(5), "6"}, {"queueing, SJF", cell(2), "2"}, {"JCT, SJF", cell(3), "1"}, {"queueing, FIFO", cell(1), "4"}}},
		}}
	}
	out := Combine([]*Output{draw(1), draw(1.1), draw(1.05), draw(1.15), draw(1.2)})
	want := []string{
		"T: JCT, Earth, 3s: SJF|5|4.4 (4.0 to 4.8)|0 of 5|0.880|0.843 to 0.937|below",
		"T: JCT, Earth, 3s: Lazer|10.5|6.6 (6.0 to 7.2)|0 of 5|0.629|0.602 to 0.669|below",
		"T: JCT, Earth, 100s: SJF|5|8.8 (8.0 to 9.6)|5 of 5|1.760|1.686 to 1.873|above",
	}
	for i, w := range want {
		got := out.Tables[2].Rows[i]
		if line := strings.Join(slices.Delete(slices.Clone(got), 5, 6), "|"); line != strings.Join(slices.Delete(strings.Split(w, "|"), 5, 6), "|") {
			t.Errorf("%s, want %s", line, w)
		}
	}
	var orderings []string
	for _, row := range out.Tables[3].Rows {
		orderings = append(orderings, row[0]+"|"+row[1])
	}
	if got := strings.Join(orderings, "\n"); got != "U, hours: JCT, SJF below JCT, FIFO|5 of 5\nU, hours: queueing, SJF below queueing, FIFO|0 of 5" {
		t.Error(got)
	}
}

// TestPublished: the file of published numbers has no number twice, says in the paper's
// own words where each stands, names items that there are, and says of each where ours is or why
// there is none.
func TestPublished(t *testing.T) {
	list, err := PublishedNumbers()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	papers := map[string]int{}
	for _, p := range list {
		key := strings.Join([]string{p.Paper, p.Place, p.Of, p.Quantity}, ", ")
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
		papers[p.Paper]++
		quote := strings.ReplaceAll(strings.ReplaceAll(p.Quote, ",", ""), "zero", "0")
		if v := value(p.Value); !(v >= 0) || !strings.Contains(quote, p.Value) {
			t.Errorf("%s: %q is not in %q", key, p.Value, p.Quote)
		}
		if _, err := Find(p.Item); p.Item != "" && err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if (p.Ours == "") == (p.Why == "") || p.Ours != "" && p.Item == "" {
			t.Errorf("%s: ours is %q of %q, or there is none because %q", key, p.Ours, p.Item, p.Why)
		}
		if p.Why != "" && !strings.HasPrefix(p.Why, "setting: ") && !strings.HasPrefix(p.Why, "cannot be tested: ") {
			t.Errorf("%s: %s", key, p.Why)
		}
	}
	for paper, least := range map[string]int{"a-srpt": 30, "primal-dual": 25, "lazer": 180, "sjf-bsbf": 90} {
		if papers[paper] < least {
			t.Errorf("%s: %d numbers", paper, papers[paper])
		}
	}
}

// TestNumbers: of numbers outside of tables, and of zeros, the sign test alone says on which side
// ours are; ties, and what is no number on some draw, are no verdict.
func TestNumbers(t *testing.T) {
	draw := func(gain, zero, lost float64) *Output {
		return &Output{Numbers: []Number{{"gain, %", "7", gain}, {"zero", "0", zero}, {"lost", "3", lost}}}
	}
	table := numberTable([]*Output{draw(-5, 0, 1), draw(-6, 0.5, 1), draw(6, 1, math.NaN()), draw(-1, 1, 1), draw(0, 1, 1)})
	var got []string
	for _, row := range table.Rows {
		got = append(got, strings.Join(row, "|"))
	}
	want := []string{"gain, %|7|-1.00 (-6.00 to 6.00)|0 of 5|–|–|below", "zero|0|1.00 (0.00 to 1.00)|4 of 5|–|–|no verdict"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestJoined: of several rows on a statement that of the most draws, and of these the largest
// scale, stands beside the published number; the others say why there is none.
func TestJoined(t *testing.T) {
	var files []io.Reader
	head := strings.Join(VerdictColumns(), ",") + "\n"
	for _, rows := range []string{
		`asrpt-fig5,0.1,1,5,number,"A-SRPT below a baseline, at most, %",44,30.00 (20.00 to 40.00),0 of 5,–,–,below` + "\n",
		`asrpt-fig5,1,1,3,number,"A-SRPT below a baseline, at most, %",44,50.00,3 of 3,–,–,no verdict` + "\n" + `asrpt-fig5,0.05,1,5,number,"A-SRPT below a baseline, at most, %",44,1.00,0 of 5,–,–,below` + "\n",
		`primal-dual-fig2,0.1,1,5,ordering,"A_online below every other by 30 %, everywhere",,,0 of 5,0.5,0.4 to 0.6,reversed` + "\n",
		`sjf-bsbf-table4,0.5,1,5,ordering,whatever,,,0 of 5,0.5,0.4 to 0.6,reversed` + "\n",
	} {
		files = append(files, strings.NewReader(head+rows))
	}
	var out strings.Builder
	if err := WriteJoined(&out, files...); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	list, err := PublishedNumbers()
	if err != nil || len(rows) != 1+len(list) {
		t.Fatalf("%d rows of %d numbers: %v", len(rows), len(list), err)
	}
	find := func(paper, place, quantity string) string {
		for _, row := range rows {
			if row[0] == paper && row[1] == place && row[3] == quantity {
				return strings.Join(row[9:], "|")
			}
		}
		return "none"
	}
	for _, c := range []struct{ paper, place, quantity, want string }{
		{"a-srpt", "Figure 5", "most that it is below a baseline", "0.1|5|30.00 (20.00 to 40.00)|0 of 5|–|–|differs: ours is below"},
		{"a-srpt", "Figure 5", "total job completion time above A-SRPT-Perfect", "||||||cannot be tested: ours is divided by nothing on some draw"},
		{"a-srpt", "Figure 6", "least reduction against a baseline", "||||||not run on five draws: bench reproduce asrpt-fig6"},
		{"primal-dual", "Figure 2", "least reduction against the other algorithms", "0.1|5||0 of 5|0.5|0.4 to 0.6|differs: reversed; at scale 0.1, whose load is not the paper's"},
		{"sjf-bsbf", "Table IV", "mean JCT of Pollux over its", "||||||no verdict; at scale 0.5, whose load is not the paper's"},
		{"sjf-bsbf", "Section VI-C", "error, at most", "||||||cannot be tested: it compares their simulator with their cluster"},
	} {
		if got := find(c.paper, c.place, c.quantity); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.place, c.quantity, got, c.want)
		}
	}
	if err := WriteJoined(&out, strings.NewReader("a,b\n")); err == nil || !strings.Contains(err.Error(), "not a file of verdicts") {
		t.Errorf("another file: %v", err)
	}
}

// TestJoinedFile: docs/reproduction/published.csv is what WriteJoined makes of verdicts.csv beside it.
func TestJoinedFile(t *testing.T) {
	verdicts, err := os.ReadFile("../../docs/reproduction/verdicts.csv")
	if err != nil {
		t.Fatal(err)
	}
	joined, err := os.ReadFile("../../docs/reproduction/published.csv")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := WriteJoined(&out, bytes.NewReader(verdicts)); err != nil {
		t.Fatal(err)
	}
	if out.String() != string(joined) {
		t.Error("write it again: bench reproduce --published docs/reproduction/verdicts.csv > docs/reproduction/published.csv")
	}
}

// TestPagesQuote: every number that a page quotes in a paper's words is one of the file, or stands
// in the words of one.
func TestPagesQuote(t *testing.T) {
	list, err := PublishedNumbers()
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`"[^"\n]*"`)
	for page, paper := range map[string]string{"asrpt": "a-srpt", "primal-dual": "primal-dual", "lazer": "lazer", "sharing": "sjf-bsbf"} {
		known := map[float64]bool{}
		for _, p := range list {
			if p.Paper == paper {
				for _, n := range numberPattern.FindAllString(p.Value+" "+p.Quote, -1) {
					known[value(n)] = true
				}
			}
		}
		text, err := os.ReadFile("../../docs/reproduction/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, quote := range quoted.FindAllString(string(text), -1) {
			for _, n := range numberPattern.FindAllString(quote, -1) {
				found++
				if !known[value(n)] {
					t.Errorf("%s.md: %s has %s, which published.csv lacks", page, quote, n)
				}
			}
		}
		if found < 2 {
			t.Errorf("%s.md quotes %d numbers", page, found)
		}
	}
}
