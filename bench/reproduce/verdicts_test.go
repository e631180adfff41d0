package reproduce

import (
	"encoding/csv"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestVerdicts: docs/reproduction/verdicts.csv is what WriteVerdicts writes: each verdict
// follows from its count and its interval, each statement stands once, and each published number
// is one of published.csv.
func TestVerdicts(t *testing.T) {
	read := func(path string) [][]string {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	published := map[string][]float64{} // by item
	for _, row := range read("../../docs/reproduction/published.csv")[1:] {
		published[row[6]] = append(published[row[6]], value(row[4]))
	}
	rows := read("../../docs/reproduction/verdicts.csv")
	if !slices.Equal(rows[0], VerdictColumns()) || len(rows) < 200 {
		t.Fatalf("%d rows of %v", len(rows), rows[0])
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		item, scale, draws, kind, statement, theirs, holds, interval, verdict := row[0], row[1], row[3], row[4], row[5], row[6], row[8], row[10], row[11]
		key := strings.Join([]string{item, scale, kind, statement}, ", ")
		if _, err := Find(item); err != nil || seen[key] {
			t.Errorf("%s: %v, or twice", key, err)
		}
		seen[key] = true
		k, n, _ := strings.Cut(holds, " of ")
		low, high, _ := strings.Cut(interval, " to ")
		count, err := strconv.Atoi(k)
		if err != nil || kind == "number" && n != draws {
			t.Errorf("%s: on %q of %s draws: %v", key, holds, draws, err)
		}
		v := judged{holds: count, low: value(low), high: value(high)}
		v.draws, _ = strconv.Atoi(n)
		want := v.verdict()
		if kind == "number" {
			want = v.side()
			if !slices.Contains(published[item], value(theirs)) {
				t.Errorf("%s: %s is not published", key, theirs)
			}
		}
		rounded := v.low == 1 || v.high == 1 // to three digits: either side
		if verdict != want && !rounded {
			t.Errorf("%s: %s on %s, %s; want %s", key, verdict, holds, interval, want)
		}
	}
}
