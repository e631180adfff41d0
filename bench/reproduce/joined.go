package reproduce

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:embed published.csv
var publishedFile string

// Published is a number that a paper's text or a table of it has.
type Published struct {
	Paper, Place, Of, Quantity, Value, Unit string
	Item                                    string // that has ours; "" if none
	Quote                                   string // the paper's words around it
	Ours                                    string // the statement of Item's verdicts that has ours
	Why                                     string // there is none: begins with setting or cannot be tested
}

// PublishedNumbers returns the published numbers, by paper.
func PublishedNumbers() ([]Published, error) {
	rows, err := csv.NewReader(strings.NewReader(publishedFile)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reproduce: published.csv: %w", err)
	}
	var list []Published
	for _, r := range rows[1:] {
		list = append(list, Published{r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9]})
	}
	return list, nil
}

// WriteJoined writes every published number with ours and a verdict as rows of comma-separated
// values. Each reader has rows of WriteVerdicts; of several on one statement that of the most
// draws counts, and of these that of the largest scale.
func WriteJoined(w io.Writer, verdicts ...io.Reader) error {
	best := map[[2]string][]string{} // by item and statement
	for _, r := range verdicts {
		rows, err := csv.NewReader(r).ReadAll()
		if err != nil {
			return err
		}
		if len(rows) == 0 || !slices.Equal(rows[0], VerdictColumns()) {
			return errors.New("not a file of verdicts: its first line must be " + strings.Join(VerdictColumns(), ","))
		}
		for _, row := range rows[1:] {
			key := [2]string{row[0], row[5]}
			if old := best[key]; old == nil || weightier(row, old) {
				best[key] = row
			}
		}
	}
	list, err := PublishedNumbers()
	if err != nil {
		return err
	}
	c := csv.NewWriter(w)
	rows := [][]string{{"paper", "place", "of", "quantity", "value", "unit", "item", "quote", "statement", "scale", "draws", "ours", "above_or_holds_on", "ratio", "interval", "verdict"}}
	for _, p := range list {
		row := []string{p.Paper, p.Place, p.Of, p.Quantity, p.Value, p.Unit, p.Item, p.Quote, p.Ours}
		if v := best[[2]string{p.Item, p.Ours}]; p.Why == "" && v != nil {
			row = append(row, v[1], v[3], v[7], v[8], v[9], v[10], joinedVerdict(v)+elsewhere(p.Item, v[1]))
		} else {
			row = append(row, "", "", "", "", "", "", unjoined(p, best))
		}
		rows = append(rows, row)
	}
	return c.WriteAll(rows)
}

// weightier reports whether a row of verdicts is of more draws than another, or of as many at a
// larger scale.
func weightier(a, b []string) bool {
	if a[3] != b[3] {
		return value(a[3]) > value(b[3])
	}
	return value(a[1]) > value(b[1])
}

// joinedVerdict is what a row of verdicts says of a published number: claims hold or do not, and
// numbers differ where all draws are on one side of them. What differs on no side is no
// agreement.
func joinedVerdict(row []string) string {
	switch verdict := row[11]; verdict {
	case "above", "below":
		return "differs: ours is " + verdict
	case "reversed":
		return "differs: reversed"
	default:
		return verdict
	}
}

// elsewhere says that the load of an item at a scale is not the paper's; "" where it is.
func elsewhere(name, scale string) string {
	if item, err := Find(name); err == nil && value(scale) < 1 {
		if thinned, _ := item.Thinned(); !thinned {
			return fmt.Sprintf("; at scale %s, whose load is not the paper's", scale)
		}
	}
	return ""
}

// unjoined says why there is no number of ours: there cannot be, the item has none on some
// draw, or it did not run.
func unjoined(p Published, best map[[2]string][]string) string {
	if p.Why != "" {
		return p.Why
	}
	of := "" // the largest scale of what the item has
	for key, row := range best {
		if key[0] == p.Item && (of == "" || value(row[1]) > value(of)) {
			of = row[1]
		}
	}
	if of == "" {
		return "not run on five draws: bench reproduce " + p.Item
	}
	if other := elsewhere(p.Item, of); other != "" {
		return "no verdict" + other
	}
	return "cannot be tested: ours is divided by nothing on some draw"
}
