package chart

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// scaleAxis gives an axis its scale and ticks, once its range is known. A range
// of one value is widened.
func scaleAxis(a *plot.Axis, log bool) error {
	if a.Min > a.Max { // no values at all
		a.Min, a.Max = 0, 1
		if log {
			a.Min, a.Max = 1, 10
		}
	}
	if !log {
		if a.Min == a.Max {
			a.Min, a.Max = a.Min-0.5, a.Max+0.5
		}
		a.Tick.Marker = linearTicks{}
		return nil
	}
	if a.Min <= 0 {
		return fmt.Errorf("%v on a logarithmic axis", a.Min)
	}
	if a.Max < a.Min*1.01 {
		a.Min, a.Max = a.Min/1.005, a.Max*1.005
	}
	a.Scale, a.Tick.Marker = plot.LogScale{}, logTicks{}
	return nil
}

// linearTicks labels about five multiples of 1, 2 or 5 times a power of ten,
// with all digits that they have.
type linearTicks struct{}

// Ticks implements plot.Ticker.
func (linearTicks) Ticks(least, greatest float64) []plot.Tick {
	e := int(math.Floor(math.Log10((greatest - least) / 5)))
	base := math.Pow(10, float64(e))
	times := 1 // the step is times·10^e
	for _, m := range []int{2, 5, 10} {
		if (greatest-least)/(float64(times)*base) > 6.5 {
			times = m
		}
	}
	var ticks []plot.Tick
	step := float64(times) * base
	for k := int64(math.Ceil(least/step - 1e-9)); ; k++ {
		v, err := strconv.ParseFloat(fmt.Sprintf("%de%d", k*int64(times), e), 64) // the number that is printed
		if err != nil || v > greatest+step*1e-9 || len(ticks) > 20 {
			return ticks
		}
		label := strconv.FormatFloat(v, 'f', -1, 64)
		if a := math.Abs(v); a >= 1e8 || a > 0 && a < 1e-4 {
			label = strconv.FormatFloat(v, 'g', -1, 64)
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: label})
	}
}

// logTicks labels powers of ten, and numbers between them as far as the range
// is short.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(least, greatest float64) []plot.Tick {
	decades := math.Log10(greatest / least)
	var steps []float64 // labelled multiples of a power of ten
	switch {
	case decades < 0.3:
		return linearTicks{}.Ticks(least, greatest)
	case decades < 1:
		steps = []float64{1, 1.5, 2, 3, 4, 5, 7}
	case decades < 1.7:
		steps = []float64{1, 2, 3, 5}
	case decades < 3:
		steps = []float64{1, 2, 5}
	default:
		steps = []float64{1}
	}
	every := max(int(math.Ceil(decades/10)), 1) // decades between labels
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(least))); e <= int(math.Ceil(math.Log10(greatest))); e++ {
		for _, s := range steps {
			v, err := strconv.ParseFloat(fmt.Sprintf("%ge%d", s, e), 64) // the number that is printed
			if err != nil || v < least || v > greatest {
				continue
			}
			t := plot.Tick{Value: v}
			if e%every == 0 {
				t.Label = strconv.FormatFloat(v, 'g', -1, 64)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
