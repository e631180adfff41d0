package datasets

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"yardstick/internal/output"
)

// Histogram counts values in named bins.
type Histogram []Bin

// Bin is one bar of a histogram.
type Bin struct {
	Label string
	Rows  int
}

// durationEdges are the least values of the bins of durations above the first,
// in seconds: a third to a half of an order of magnitude apart, at round times.
func durationEdges() []float64 {
	return []float64{1, 3, 10, 30, 60, 180, 600, 1800, 3600, 3 * 3600, 10 * 3600, 86400, 3 * 86400, 10 * 86400, 30 * 86400, 100 * 86400}
}

// durationHistogram counts durations, in ascending order.
func durationHistogram(sorted []float64) Histogram {
	low, label := math.Inf(-1), "under 1 s"
	var h Histogram
	for _, high := range append(durationEdges(), math.Inf(1)) {
		from, _ := slices.BinarySearch(sorted, low)
		to, _ := slices.BinarySearch(sorted, high)
		h = append(h, Bin{label, to - from})
		low, label = high, "from "+span(high)
	}
	return h
}

// demandHistogram counts GPU demands by value, given the rows of each; a bin
// reaches up to its label from that of the one before.
func demandHistogram(counts map[float64]int) Histogram {
	bins := []struct {
		label string
		most  float64
	}{{"0", 0}, {"under 1", math.Nextafter(1, 0)}, {"1", 1}, {"up to 2", 2}, {"up to 4", 4}, {"up to 8", 8},
		{"up to 16", 16}, {"up to 32", 32}, {"up to 64", 64}, {"up to 128", 128}, {"over 128", math.Inf(1)}}
	h := make(Histogram, len(bins))
	for i, b := range bins {
		h[i].Label = b.label
	}
	for g, n := range counts {
		for i, b := range bins {
			if g <= b.most {
				h[i].Rows += n
				break
			}
		}
	}
	return h
}

// cycleHistogram counts rows by hour or day of a cycle.
func cycleHistogram(label string, counts []int) Histogram {
	var h Histogram
	for i, n := range counts {
		h = append(h, Bin{fmt.Sprintf(label, i), n})
	}
	return h
}

// trim drops empty bins from both ends.
func (h Histogram) trim() Histogram {
	empty := func(b Bin) bool { return b.Rows == 0 }
	for len(h) > 0 && empty(h[0]) {
		h = h[1:]
	}
	for len(h) > 0 && empty(h[len(h)-1]) {
		h = h[:len(h)-1]
	}
	return h
}

const (
	labelWidth = 16
	barWidth   = 44 // of the longest bar; a line is at most 80 wide
)

// write writes a line for each bin: label, share, rows, bar.
func (h Histogram) write(b *strings.Builder, title string) {
	h = h.trim()
	if len(h) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	most, total := 0, 0
	for _, bin := range h {
		most, total = max(most, bin.Rows), total+bin.Rows
	}
	for _, bin := range h {
		bar := strings.Repeat("#", int(math.Round(barWidth*float64(bin.Rows)/float64(most))))
		if bar == "" && bin.Rows > 0 {
			bar = "." // some, but less than half of a mark
		}
		line := fmt.Sprintf("  %-*s %6s  %9s  %s", labelWidth-4, bin.Label, percent(float64(bin.Rows)/float64(total)), thousands(bin.Rows), bar)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// String describes the trace on labelled lines at most 80 characters wide, with
// histograms. What no row has is left out.
func (s Statistics) String() string {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-*s%s\n", labelWidth, label, fmt.Sprintf(format, args...))
	}
	line("jobs", "%s", thousands(s.Jobs))
	if s.SpanS.OK {
		line("span", "%s  (first to last submission)", span(s.SpanS.V))
	}
	if s.InterArrivalS.OK {
		line("inter-arrival", "%s  (mean)", span(s.InterArrivalS.V))
	}
	if g := s.GPUs; g != nil {
		line("GPUs", "mean %s  largest %s", number(g.Mean), number(g.Max))
		line("", "1: %s  2: %s  4: %s  8: %s  more: %s", percent(g.One), percent(g.Two), percent(g.Four), percent(g.Eight), percent(g.MoreThanEight))
		if g.Fraction > 0 {
			line("", "below 1: %s  at most 1: %s", percent(g.Fraction), percent(g.AtMostOne))
		}
	}
	if d := s.Durations; d != nil {
		line("duration", "mean %s  longest %s", span(d.Mean), span(d.Max))
		line("", "p10 %s  p25 %s  p50 %s", span(d.P10), span(d.P25), span(d.P50))
		line("", "p75 %s  p90 %s  p99 %s", span(d.P75), span(d.P90), span(d.P99))
	}
	if s.GPUHours > 0 {
		line("GPU-hours", "%s", thousands(int(math.Round(s.GPUHours))))
	}
	recurring := func(label string, n int, often Opt[float64]) {
		if often.OK {
			line(label, "%s  (those with five jobs or more have %s of the jobs)", thousands(n), percent(often.V))
		}
	}
	recurring("users", s.Users, s.OfUsersWithFive)
	recurring("groups", s.Groups, s.InGroupsOfFive)
	if s.VCs > 0 {
		line("virtual cluster", "%s", thousands(s.VCs))
	}
	if s.WithDeadline > 0 {
		line("deadline", "%s of the jobs", percent(s.WithDeadline))
	}
	s.writeStatus(line)
	s.DurationHistogram.write(&b, "duration")
	s.DemandHistogram.write(&b, "GPUs")
	s.HourHistogram.write(&b, "submissions by hour of the day, from the start of the trace")
	s.DayHistogram.write(&b, "submissions by day of the week, from the start of the trace")
	return b.String()
}

// writeStatus lists how jobs ended, the most frequent first.
func (s *Statistics) writeStatus(line func(label, format string, args ...any)) {
	names := slices.SortedFunc(maps.Keys(s.Status), func(a, b string) int {
		if n := s.Status[b] - s.Status[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	const most = 6
	label := "status"
	for i, name := range names {
		if i == most && len(names) > most+1 {
			line("", "and %d more", len(names)-most)
			return
		}
		line(label, "%-20.40s %6s", output.Name(name), percent(float64(s.Status[name])/float64(s.Jobs)))
		label = ""
	}
}

// span writes a length of time with three significant digits, in the largest
// unit of which it is at least one.
func span(seconds float64) string {
	switch {
	case seconds < 60:
		return number(seconds) + " s"
	case seconds < 3600:
		return number(seconds/60) + " min"
	case seconds < 86400:
		return number(seconds/3600) + " h"
	}
	return number(seconds/86400) + " d"
}

// number writes v with three significant digits, or whole if it has more before
// the point.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	if decimals > 6 {
		return fmt.Sprintf("%.2e", v)
	}
	text := fmt.Sprintf("%.*f", decimals, v)
	if decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// thousands writes n with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
