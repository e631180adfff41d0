package table

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"yardstick/internal/output"
)

// Kind is what the values of a column are read as.
type Kind uint8

// The kinds of a column.
const (
	Other  Kind = iota // none of the below
	Empty              // declared to hold nothing but NULL
	Text               // UTF-8
	Number             // float64; integer columns are read as numbers too
)

func (k Kind) String() string {
	return [...]string{"neither text nor number", "always NULL", "text", "number"}[k]
}

// Column describes one column of a table.
type Column struct {
	Name     string
	Kind     Kind
	Type     string // the type in the file, for messages
	Nullable bool   // may hold NULL
	Distinct bool   // most values are there only once: a Writer makes no dictionary of them

	unsigned bool // integers without sign
}

// Find returns the index in have of the first of the wanted names that is
// there. Names are compared without regard to case and surrounding space.
//
// Errors: none is there; the error says which column comes nearest.
func Find(have []string, want ...string) (int, error) {
	for _, w := range want {
		i := slices.IndexFunc(have, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), w) })
		if i >= 0 {
			return i, nil
		}
	}
	nearest := ""
	for _, w := range want {
		n := Nearest(w, have)
		if nearest == "" || distance(w, n) < distance(want[0], nearest) {
			nearest = n
		}
	}
	return 0, fmt.Errorf("has no column %s (the nearest is %q; columns are %s)",
		strings.Join(want, " or "), nearest, output.Name(strings.Join(have, ", ")))
}

// Nearest returns the known name that the fewest edits turn name into, the
// first of several; "" if there is none.
func Nearest(name string, known []string) string {
	best, least := "", math.MaxInt
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance: the least number of insertions,
// deletions and substitutions of bytes between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to every b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// CheckQuantity returns an error unless v is a finite number of at least 0, as
// times, durations and demands must be.
func CheckQuantity(v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("is %v: it must be a finite number", v)
	case v < 0:
		return fmt.Errorf("is %v: it must not be negative", v)
	}
	return nil
}
