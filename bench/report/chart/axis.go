package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"

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

// widen lets the marks at the ends of an axis stand off its ends.
func widen(a *plot.Axis, log bool) {
	if log && a.Min > 0 {
		by := math.Pow(a.Max/a.Min, 0.04)
		a.Min, a.Max = a.Min/by, a.Max*by
	} else if !log {
		by := (a.Max - a.Min) * 0.04
		a.Min, a.Max = a.Min-by, a.Max+by
	}
}

// timeAxis labels seconds in units that people read, and names the unit where all
// labels share one.
func timeAxis(a *plot.Axis, log bool) {
	if log {
		a.Tick.Marker = timeTicks{}
		return
	}
	u := timeUnit(max(math.Abs(a.Min), math.Abs(a.Max)))
	a.Tick.Marker = scaledTicks(u.seconds)
	a.Label.Text += " (" + u.name + ")"
}

// unit is one of time.
type unit struct {
	name    string
	seconds float64
}

// timeUnit is the largest unit of which a time has three or more.
func timeUnit(seconds float64) unit {
	for _, u := range []unit{{"d", 86400}, {"h", 3600}, {"min", 60}} {
		if seconds >= 3*u.seconds {
			return u
		}
	}
	return unit{"s", 1}
}

// scaledTicks are linear ones in a unit of so much.
type scaledTicks float64

// Ticks implements plot.Ticker.
func (s scaledTicks) Ticks(least, greatest float64) []plot.Tick {
	ticks := linearTicks{}.Ticks(least/float64(s), greatest/float64(s))
	for i := range ticks {
		ticks[i].Value *= float64(s)
	}
	return ticks
}

// timeTicks label seconds on a logarithmic axis at round numbers of units.
type timeTicks struct{}

// Ticks implements plot.Ticker. Labels stand at least a sixth of the axis apart.
func (timeTicks) Ticks(least, greatest float64) []plot.Tick {
	var ticks []plot.Tick
	decades := math.Log10(greatest / least)
	steps := []float64{1, 10}
	if decades < 2 {
		steps = []float64{1, 2, 5, 10, 20, 30}
	}
	last := math.Inf(-1)
	for _, u := range []struct {
		unit
		below float64 // multiples of it, from 1 on
	}{{unit{"ms", 1e-3}, 1000}, {unit{"s", 1}, 60}, {unit{"min", 60}, 60}, {unit{"h", 3600}, 24}, {unit{"d", 86400}, math.Inf(1)}} {
		for power := 1.0; power < min(u.below, 1e6); power *= 100 {
			for _, s := range steps {
				v := s * power
				if t := v * u.seconds; v < u.below && t >= least && t <= greatest {
					tick := plot.Tick{Value: t}
					if at := math.Log10(t); at-last >= decades/6 {
						tick.Label, last = label(v)+" "+u.name, at
					}
					ticks = append(ticks, tick)
				}
			}
		}
	}
	if len(ticks) < 2 {
		ticks = logTicks{}.Ticks(least, greatest)
		for i := range ticks {
			if ticks[i].Label != "" {
				ticks[i].Label += " s"
			}
		}
	}
	return ticks
}

// label prints the number of a tick, in groups of three digits.
func label(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if a := math.Abs(v); a >= 1e9 || a > 0 && a < 1e-4 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	whole, fraction, there := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if there {
		return whole + "." + fraction
	}
	return whole
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
		ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
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
				t.Label = label(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
