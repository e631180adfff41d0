package reproduce

import (
	"encoding/csv"
	"os"
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
// own words where each stands, and names items that there are.
func TestPublished(t *testing.T) {
	f, err := os.Open("../../docs/reproduction/published.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	papers := map[string]int{}
	for _, row := range rows[1:] {
		paper, place, of, quantity, number, item, quote := row[0], row[1], row[2], row[3], row[4], row[6], row[7]
		key := strings.Join([]string{paper, place, of, quantity}, ", ")
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
		papers[paper]++
		if v := value(number); !(v >= 0) || !strings.Contains(strings.ReplaceAll(quote, ",", ""), number) {
			t.Errorf("%s: %q is not in %q", key, number, quote)
		}
		if _, err := Find(item); item != "" && err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	for paper, least := range map[string]int{"a-srpt": 30, "primal-dual": 25, "lazer": 180, "sjf-bsbf": 90} {
		if papers[paper] < least {
			t.Errorf("%s: %d numbers", paper, papers[paper])
		}
	}
}
