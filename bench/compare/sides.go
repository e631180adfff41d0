package compare

import (
	"math/big"
	"strconv"
)

// Sides are what is known of a geometric mean of costs over the best possible ones, or of
// the reciprocals where more is better: it is at least AtLeast, as verified schedules show,
// and at most AtMost, by proven bounds. They are equal where every optimum is proven.
type Sides struct {
	AtLeast float64 `json:"at_least"`
	AtMost  float64 `json:"at_most"`
	Optima  bool    `json:"optima"` // all are proven
	Rows    int     `json:"rows"`
}

// least is the least that the row's ratio can be: the ratio itself where the optimum is
// proven, else that to the best schedule known, and 1 where none is or it is no better.
func (r *Row) least() *big.Rat {
	one := big.NewRat(1, 1)
	if r.Optimum != nil {
		return r.ratio()
	}
	if r.Cost == nil || r.Best == nil {
		return one
	}
	known := quotient(r.Cost, r.Best)
	if r.Maximised {
		known = quotient(r.Best, r.Cost)
	}
	if known == nil || known.Cmp(one) < 0 {
		return one
	}
	return known
}

// newSides sums up rows; those without a proven denominator are left out. It is nil if
// there are no others.
func newSides(rows []*Row) *Sides {
	s := &Sides{Optima: true}
	var least, most []*big.Rat
	for _, r := range rows {
		ratio := r.ratio()
		if ratio == nil {
			continue
		}
		least, most = append(least, r.least()), append(most, ratio)
		s.Optima = s.Optima && r.Optimum != nil
	}
	if s.Rows = len(most); s.Rows == 0 {
		return nil
	}
	s.AtLeast, s.AtMost = geoMean(least), geoMean(most)
	return s
}

// String prints what is known as reports do: "1.062–1.075", "≤1.075" where nothing is known
// of the least, and "1.075" where the optima are proven; the least is rounded down, the most up.
func (s *Sides) String() string {
	if s == nil {
		return ""
	}
	most, least := outward(s.AtMost, +1), outward(s.AtLeast, -1)
	switch {
	case s.Optima:
		return most
	case s.AtLeast <= 1 || least == "1.000":
		return "≤" + most
	}
	return least + "–" + most
}

// outward prints three decimals, rounded up or down.
func outward(v float64, direction int64) string {
	text := strconv.FormatFloat(v, 'f', 3, 64)
	printed, ok := new(big.Rat).SetString(text)
	exact := new(big.Rat).SetFloat64(v)
	if shortest, _ := strconv.ParseFloat(text, 64); !ok || exact == nil || shortest == v || exact.Cmp(printed) != int(direction) {
		return text
	}
	return printed.Add(printed, big.NewRat(direction, 1000)).FloatString(3)
}
