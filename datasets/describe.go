package datasets

import (
	"iter"
	"math"
	"slices"
)

// Statistics describe a trace. Every share and mean is over the rows that have
// the field in question.
type Statistics struct {
	Jobs int // rows

	// SpanS is the time from the first submission to the last, InterArrivalS
	// that divided by the number of submissions less one. Seconds.
	SpanS, InterArrivalS Opt[float64]

	GPUs      *DemandStatistics   // nil if no row has a GPU demand
	Durations *DurationStatistics // nil if no row has a duration

	// GPUHours is Σ gpus·duration/3600 over the rows that have both.
	GPUHours float64

	Users, VCs, Groups int // distinct values

	// Recurrence: the share of rows with a group (user) whose group (user) has
	// at least five rows.
	InGroupsOfFive, OfUsersWithFive Opt[float64]

	WithDeadline float64        // share of rows that have a deadline
	Status       map[string]int // rows by status; NULLs left out

	// Histograms; the bins cover all values, so that their sums are the rows
	// that have the field. Hours and days count from the start of the trace:
	// hour 0 is the first hour of the day only if the trace starts at midnight.
	// There is no histogram by hour unless the trace spans a day, nor by day
	// unless it spans a week.
	DurationHistogram, DemandHistogram, HourHistogram, DayHistogram Histogram
}

// DemandStatistics describe the GPU demand.
type DemandStatistics struct {
	Mean, Max float64
	// Shares of the rows whose demand is strictly between 0 and 1, at most 1
	// (0 included), exactly 1, 2, 4 and 8, and more than 8.
	Fraction, AtMostOne, One, Two, Four, Eight, MoreThanEight float64
}

// DurationStatistics describe the durations, in seconds. Quantile p of n values
// interpolates linearly between the two closest ranks: with the values in
// ascending order from index 0, it is the value at index p(n−1).
type DurationStatistics struct {
	Mean, P10, P25, P50, P75, P90, P99, Max float64
}

// Describe computes the statistics of a sequence of rows.
//
// Memory: one number per row, and the distinct users, VCs, groups and demands.
// Errors: those of the sequence.
func Describe(rows iter.Seq2[Row, error]) (Statistics, error) {
	s := Statistics{Status: map[string]int{}}
	var durations []float64
	gpus := demand{counts: map[float64]int{}}
	var hours [24]int
	var days [7]int
	first, last, submissions, deadlines := math.Inf(1), math.Inf(-1), 0, 0
	users, vcs, groups := map[string]int{}, map[string]int{}, map[string]int{}
	for r, err := range rows {
		if err != nil {
			return Statistics{}, err
		}
		s.Jobs++
		if r.SubmitS.OK {
			first, last = min(first, r.SubmitS.V), max(last, r.SubmitS.V)
			submissions++
			hour := math.Floor(r.SubmitS.V / 3600)
			hours[int(math.Mod(hour, 24))]++
			days[int(math.Mod(math.Floor(hour/24), 7))]++
		}
		if r.DurationS.OK {
			durations = append(durations, r.DurationS.V)
		}
		if r.GPUs.OK {
			gpus.add(r.GPUs.V)
		}
		if r.GPUs.OK && r.DurationS.OK {
			s.GPUHours += r.GPUs.V * r.DurationS.V / 3600
		}
		if r.DeadlineS.OK {
			deadlines++
		}
		count(users, r.User)
		count(vcs, r.VC)
		count(groups, r.Group)
		count(s.Status, r.Status)
	}
	if submissions > 0 {
		s.SpanS = Some(last - first)
	}
	if submissions > 1 {
		s.InterArrivalS = Some((last - first) / float64(submissions-1))
	}
	if s.Jobs > 0 {
		s.WithDeadline = float64(deadlines) / float64(s.Jobs)
	}
	s.GPUs = gpus.statistics()
	s.Durations = describeDurations(durations)
	if len(durations) > 0 {
		s.DurationHistogram = durationHistogram(durations) // sorted by now
	}
	if s.GPUs != nil {
		s.DemandHistogram = demandHistogram(gpus.counts)
	}
	if s.SpanS.V >= 86400 {
		s.HourHistogram = cycleHistogram("hour %02d", hours[:])
	}
	if s.SpanS.V >= 7*86400 {
		s.DayHistogram = cycleHistogram("day %d", days[:])
	}
	s.Users, s.VCs, s.Groups = len(users), len(vcs), len(groups)
	s.OfUsersWithFive, s.InGroupsOfFive = recurrent(users), recurrent(groups)
	return s, nil
}

func count(m map[string]int, v Opt[string]) {
	if v.OK {
		m[v.V]++
	}
}

// recurrent returns the share of all rows counted that belong to a key with at
// least five.
func recurrent(counts map[string]int) Opt[float64] {
	total, often := 0, 0
	for _, n := range counts {
		total += n
		if n >= 5 {
			often += n
		}
	}
	if total == 0 {
		return Opt[float64]{}
	}
	return Some(float64(often) / float64(total))
}

// demand counts rows by GPU demand.
type demand struct {
	rows, fraction, atMostOne, one, two, four, eight, more int
	sum, max                                               float64
	counts                                                 map[float64]int // by demand
}

func (d *demand) add(g float64) {
	d.rows++
	d.sum += g
	d.max = max(d.max, g)
	d.counts[g]++
	if g <= 1 {
		d.atMostOne++
	}
	switch {
	case g > 0 && g < 1:
		d.fraction++
	case g == 1:
		d.one++
	case g == 2:
		d.two++
	case g == 4:
		d.four++
	case g == 8:
		d.eight++
	case g > 8:
		d.more++
	}
}

func (d *demand) statistics() *DemandStatistics {
	if d.rows == 0 {
		return nil
	}
	share := func(n int) float64 { return float64(n) / float64(d.rows) }
	return &DemandStatistics{Mean: d.sum / float64(d.rows), Max: d.max,
		Fraction: share(d.fraction), AtMostOne: share(d.atMostOne), One: share(d.one), Two: share(d.two),
		Four: share(d.four), Eight: share(d.eight), MoreThanEight: share(d.more)}
}

// describeDurations sorts v.
func describeDurations(v []float64) *DurationStatistics {
	if len(v) == 0 {
		return nil
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	slices.Sort(v)
	return &DurationStatistics{Mean: sum / float64(len(v)), P10: quantile(v, 0.10), P25: quantile(v, 0.25),
		P50: quantile(v, 0.50), P75: quantile(v, 0.75), P90: quantile(v, 0.90), P99: quantile(v, 0.99), Max: v[len(v)-1]}
}

// quantile returns the p-quantile of values in ascending order, by linear
// interpolation between closest ranks (type 7 of Hyndman and Fan, 1996).
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
