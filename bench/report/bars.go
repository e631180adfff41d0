package report

import (
	"fmt"
	"html/template"
	"math"

	"yardstick/bench/record"
)

// bracket is what is known of a ratio: from the least to the most that it can be.
type bracket struct {
	least, most float64 // both 0 where nothing is
	open        bool    // nothing is known of the least: the bar begins at 1
}

func newBracket(least, most record.Opt[float64], k Kind) bracket {
	switch {
	case !most.Valid || k == None || math.IsInf(most.V, 0):
		return bracket{}
	case k == Optimum:
		return bracket{least: most.V, most: most.V}
	case !least.Valid || least.V <= 1:
		return bracket{least: 1, most: most.V, open: true}
	}
	return bracket{least: min(least.V, most.V), most: most.V}
}

// drawBrackets draws brackets as bars on one logarithmic axis from 1 to the greatest of
// them, and returns the axis as text. It returns nothing if there is no bracket.
func drawBrackets(list []bracket) (bars []template.HTML, scale string) {
	greatest := 1.0
	known := false
	for _, b := range list {
		greatest, known = max(greatest, b.most), known || b.most > 0
	}
	if !known {
		return nil, ""
	}
	greatest = max(greatest, 1.01) // where all are optimal
	at := func(ratio float64) float64 { return 100 * max(0, math.Log(ratio)/math.Log(greatest)) }
	for _, b := range list {
		if b.most <= 0 {
			bars = append(bars, "")
			continue
		}
		const mark = 2 // least width of what is seen
		from, to := at(b.least), at(b.most)
		if to-from < mark {
			from = min(max((from+to-mark)/2, 0), 100-mark)
			to = from + mark
		}
		class := ""
		switch {
		case b.open:
			class = ` class="open"`
		case b.least == b.most:
			class = ` class="exact"`
		}
		bars = append(bars, template.HTML(fmt.Sprintf(`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect%s x="%.1f" y="1" width="%.1f" height="6"/></svg>`, class, from, to-from)))
	}
	return bars, "1 to " + directed(greatest, 2, +1)
}
