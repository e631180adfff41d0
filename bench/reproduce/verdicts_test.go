package reproduce

import (
	"encoding/csv"
	"math"
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
	list, err := PublishedNumbers()
	if err != nil {
		t.Fatal(err)
	}
	published := map[string][]float64{} // by item
	for _, p := range list {
		published[p.Item] = append(published[p.Item], value(p.Value))
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
		if interval == absent {
			v.low, v.high = math.Inf(1), math.Inf(-1)
		}
		v.draws, _ = strconv.Atoi(n)
		want := v.verdict()
		if kind == "number" {
			want = v.side()
			if tied(row[7], theirs) {
				want = "no verdict"
			}
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

// tied reports whether a range has a draw that is equal to a published number.
func tied(ours, theirs string) bool {
	return slices.ContainsFunc(numberPattern.FindAllString(ours, -1), func(o string) bool { return value(o) == value(theirs) })
}
