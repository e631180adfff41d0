package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/record"
)

const missing = "–"

// ratioText prints a ratio with three decimals, rounded up, so that 1.000 is
// exactly 1 and "≤ 1.234" is true.
func ratioText(v record.Opt[float64], k Kind) string {
	if !v.Valid {
		return missing
	}
	s := directed(v.V, 3, +1)
	if k == Bound {
		s = "≤" + s
	}
	return s
}

// rangeText prints what is known of a ratio: from the least that it can be, rounded
// down, to the most, rounded up. Where the least says nothing the most stands alone.
func rangeText(least, most record.Opt[float64], k Kind) string {
	if k != Bound || !most.Valid || !least.Valid {
		return ratioText(most, k)
	}
	if low := directed(least.V, 3, -1); least.V > 1 && low != "1.000" {
		return low + "–" + directed(most.V, 3, +1)
	}
	return ratioText(most, k)
}

// directed prints v with the given number of decimals, rounded up, down or
// (direction 0) to nearest.
func directed(v float64, decimals, direction int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	rounded, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic("report: " + err.Error()) // it was just printed
	}
	if direction > 0 && rounded < v || direction < 0 && rounded > v {
		s = strconv.FormatFloat(rounded+float64(direction)*math.Pow(10, -float64(decimals)), 'f', decimals, 64)
	}
	return s
}

// scale is how the costs of one table are printed: all in one unit, with one
// number of decimals.
type scale struct {
	unit     string // "" if the values have none of their own
	per      float64
	decimals int
}

// newScale chooses seconds unless all costs are large, so that the least cost
// shows at least four digits.
func newScale(g *Group) scale {
	var values []float64
	for _, d := range g.Details {
		if d.Cost.Valid && d.Cost.V > 0 {
			values = append(values, d.Cost.V)
		}
		if d.DenominatorValue.Valid && d.DenominatorValue.V > 0 {
			values = append(values, d.DenominatorValue.V)
		}
	}
	s := scale{per: 1}
	least := 0.0
	if len(values) > 0 {
		least = slices.Min(values)
	}
	switch {
	case g.Objective == "scheduled-weight":
		s.unit = "weight"
	case least >= 100*86400:
		s = scale{unit: "d", per: 86400}
	case least >= 100*3600:
		s = scale{unit: "h", per: 3600}
	default:
		s.unit = "s"
	}
	if strings.HasPrefix(g.Objective, "weighted-") {
		s.unit += "·weight"
	}
	if least /= s.per; least > 0 {
		s.decimals = min(max(3-int(math.Floor(math.Log10(least))), 0), 6)
	}
	if !slices.ContainsFunc(values, func(v float64) bool { v /= s.per; return v != math.Trunc(v) }) {
		s.decimals = 0
	}
	return s
}

// text prints a cost in the scale's unit, rounded as directed does, with
// separators between thousands.
func (s scale) text(v record.Opt[float64], direction int) string {
	if !v.Valid {
		return missing
	}
	return thousands(directed(v.V/s.per, s.decimals, direction))
}

func thousands(number string) string {
	digits, fraction, _ := strings.Cut(strings.TrimPrefix(number, "-"), ".")
	var b strings.Builder
	if strings.HasPrefix(number, "-") {
		b.WriteByte('-')
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	if fraction != "" {
		b.WriteString("." + fraction)
	}
	return b.String()
}

// durationText prints a short time in a unit that fits it, with two or three
// digits.
func durationText(v record.Opt[float64]) string {
	if !v.Valid {
		return missing
	}
	for _, u := range []struct {
		name string
		per  float64
	}{{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}} {
		if x := v.V / u.per; x < 999.5 {
			return strconv.FormatFloat(x, 'f', digitsFor(x), 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(v.V, 'f', digitsFor(v.V), 64) + " s"
}

func digitsFor(x float64) int {
	if x < 9.95 {
		return 1
	}
	return 0
}

// wallText prints the length of a run: 0.8 s, 61 s, 12m05s, 3h07m.
func wallText(seconds float64) string {
	s := int(math.Round(seconds))
	two := func(n int) string { return strconv.Itoa(100 + n)[1:] }
	switch {
	case seconds < 9.95:
		return strconv.FormatFloat(seconds, 'f', 1, 64) + " s"
	case s < 120:
		return strconv.Itoa(s) + " s"
	case s < 3600:
		return strconv.Itoa(s/60) + "m" + two(s%60) + "s"
	}
	m := int(math.Round(seconds / 60))
	return strconv.Itoa(m/60) + "h" + two(m%60) + "m"
}

// oneLine joins the lines of a message.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// shorten cuts a message to a number of characters.
func shorten(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}
