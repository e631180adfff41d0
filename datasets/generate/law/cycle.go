package law

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Cycle draws times of submission over the length of a trace, with rates that
// repeat by hour and by day.
type Cycle struct {
	cumulative []float64 // cumulative[h] is the share of submissions before hour h
	last       float64   // how much of the last hour belongs to the trace, in hours
}

// NewCycle returns the cycle of a trace of the given length in seconds, which
// is positive. The rate in hour h, from 0, is proportional to
// hours[h mod len(hours)]·days[⌊h/24⌋ mod len(days)].
func NewCycle(hours, days []float64, seconds float64) *Cycle {
	whole := int(math.Ceil(seconds / 3600))
	c := &Cycle{cumulative: []float64{0}, last: seconds/3600 - float64(whole-1)}
	total := 0.0
	for h := range whole {
		rate := hours[h%len(hours)] * days[h/24%len(days)]
		if h == whole-1 {
			rate *= c.last
		}
		total += rate
		c.cumulative = append(c.cumulative, total)
	}
	for h := range c.cumulative {
		c.cumulative[h] /= total
	}
	return c
}

// At returns the second by which the share u of all submissions was made.
func (c *Cycle) At(u float64) float64 {
	h := sort.Search(len(c.cumulative)-2, func(h int) bool { return c.cumulative[h+1] > u })
	within := (u - c.cumulative[h]) / (c.cumulative[h+1] - c.cumulative[h])
	if h == len(c.cumulative)-2 {
		within *= c.last
	}
	return 3600 * (float64(h) + within)
}

// Sittings says how the runs of one program are spread over a trace: in bursts,
// each of runs submitted at one sitting.
type Sittings struct {
	Batch  float64 // mean number of runs at one sitting, if the program has as many
	Gap    float64 // s, mean time between them
	Window float64 // share of the trace over which a program recurs
}

// Submissions appends to times those of n runs of one program, in whole
// seconds: sittings spread over the window from a random point (past the end of
// the trace they go on at its start), with a few runs each.
func (c *Cycle) Submissions(rng *rand.Rand, times []float64, n int, s Sittings) []float64 {
	start := rng.Float64()
	end := len(times) + n
	for sitting := 0; len(times) < end; sitting++ {
		u := start
		if sitting > 0 {
			_, u = math.Modf(start + s.Window*rng.Float64())
		}
		t := c.At(u)
		for k := 0; len(times) < end && (k == 0 || rng.Float64() > 1/s.Batch); k++ {
			times = append(times, math.Floor(t))
			t += s.Gap * rng.ExpFloat64()
		}
	}
	return times
}
