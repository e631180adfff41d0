package external

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"yardstick/solvers/milp"
)

var versionNumber = regexp.MustCompile(`[0-9]+\.[0-9]+(\.[0-9]+)?`)

// columns returns the number of columns of the MPS file: the model's, and one
// for its constant.
func columns(m *milp.Model) int {
	if m.Constant != 0 {
		return len(m.Vars) + 1
	}
	return len(m.Vars)
}

// lastNumber returns what the pattern's group matches last in the text, and
// whether that is a finite number.
func lastNumber(text string, pattern *regexp.Regexp) (float64, bool) {
	all := pattern.FindAllStringSubmatch(text, -1)
	if all == nil {
		return 0, false
	}
	v, err := number(all[len(all)-1][1])
	return v, err == nil
}

// lastCount is lastNumber for counts; 0 if there is none.
func lastCount(text string, pattern *regexp.Regexp) int {
	v, ok := lastNumber(text, pattern)
	if !ok || v < 0 || v > math.MaxInt32 {
		return 0
	}
	return int(v)
}

// number reads a finite number.
func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) >= milp.Infinity {
		return 0, fmt.Errorf("%q is not a finite number", text)
	}
	return v, nil
}

// printedBound returns a bound that was printed with rounding to the given
// step, moved down by that step so that it does not exceed what was meant.
func printedBound(text string, pattern *regexp.Regexp, step func(v float64) float64) float64 {
	v, ok := lastNumber(text, pattern)
	if !ok {
		return math.Inf(-1)
	}
	return v - step(v)
}

// significant returns the step of numbers printed with so many digits.
func significant(digits int) func(float64) float64 {
	return func(v float64) float64 { return math.Abs(v) * math.Pow10(1-digits) }
}
