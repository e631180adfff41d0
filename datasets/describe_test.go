package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// descriptionRows draws rows with every field that a description shows, over
// nine days.
func descriptionRows(n int) []Row {
	rng := rand.New(rand.NewPCG(11, 0))
	demands := []float64{0.5, 1, 1, 1, 2, 4, 8, 16}
	status := []string{"Pass", "Pass", "Killed", "Failed"}
	var rows []Row
	for i := range n {
		r := jobRow(fmt.Sprint(i), 9*86400*float64(i)/float64(n), demands[rng.IntN(len(demands))], math.Round(math.Exp(6+2*rng.NormFloat64())))
		r.User, r.Group = Some(fmt.Sprint(rng.IntN(12))), Some(fmt.Sprint(rng.IntN(n)))
		r.VC, r.Status = Some(fmt.Sprint(rng.IntN(3))), Some(status[rng.IntN(len(status))])
		if i%4 == 0 {
			r.DeadlineS = Some(1e7)
		}
		rows = append(rows, r)
	}
	return rows
}

func TestDescriptionIsGolden(t *testing.T) {
	s, err := Describe(All(descriptionRows(2000)))
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/describe.golden"
	if *update {
		if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s); got != string(want) {
		t.Errorf("the description is\n%s\nwant\n%s\n(go test ./datasets -run Description -update writes it)", got, want)
	}
}

// Whatever the rows, lines are at most 80 wide, nothing is printed that is not a
// number, and what no row has is not mentioned.
func TestDescriptionOfAnyRows(t *testing.T) {
	huge := jobRow("huge", 1e17, 3e8, 1e17)
	huge.Status = Some(strings.Repeat("long ", 40))
	tiny := jobRow("tiny", 0, 0, 1e-9)
	cases := map[string][]Row{"empty": nil, "one": {jobRow("1", 5, 1, 60)}, "huge": {huge, tiny}, "tiny": {tiny},
		"nothing": {{Trace: "t", JobID: "1"}}, "random": randomRows(1, 300), "many": descriptionRows(300)}
	for name, rows := range cases {
		s, err := Describe(All(rows))
		if err != nil {
			t.Fatal(err)
		}
		text := s.String()
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 || strings.TrimRight(line, " \n")+"\n" != line {
				t.Errorf("%s: line too wide or with blanks at its end: %q", name, line)
			}
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") {
			t.Errorf("%s:\n%s", name, text)
		}
		if name == "empty" && text != "jobs            0\n" || name == "nothing" && text != "jobs            1\n" {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// Histograms agree with counting row by row.
func TestHistogramsCountRows(t *testing.T) {
	rows := descriptionRows(3000)
	s, err := Describe(All(rows))
	if err != nil {
		t.Fatal(err)
	}
	durations, hours, days := map[string]int{}, map[string]int{}, map[string]int{}
	for _, r := range rows {
		label := "under 1 s"
		for _, e := range durationEdges() {
			if r.DurationS.V >= e {
				label = "from " + span(e)
			}
		}
		durations[label]++
		hours[fmt.Sprintf("hour %02d", int(r.SubmitS.V)/3600%24)]++
		days[fmt.Sprintf("day %d", int(r.SubmitS.V)/86400%7)]++
	}
	compare := func(h Histogram, want map[string]int) {
		sum := 0
		for _, b := range h {
			if sum += b.Rows; b.Rows != want[b.Label] {
				t.Errorf("bin %q has %d rows, want %d", b.Label, b.Rows, want[b.Label])
			}
		}
		if sum != len(rows) {
			t.Errorf("%d rows in %v", sum, h)
		}
	}
	compare(s.DurationHistogram, durations)
	compare(s.HourHistogram, hours)
	compare(s.DayHistogram, days)
	demand := map[string]float64{"under 1": s.GPUs.Fraction, "1": s.GPUs.One, "up to 2": s.GPUs.Two, "up to 4": s.GPUs.Four, "up to 8": s.GPUs.Eight, "up to 16": s.GPUs.MoreThanEight}
	for _, b := range s.DemandHistogram {
		if got := float64(b.Rows) / 3000; math.Abs(got-demand[b.Label]) > 1e-12 {
			t.Errorf("bin %q has the share %v, want %v", b.Label, got, demand[b.Label])
		}
	}
	short, err := Describe(All(rows[:200]))
	if err != nil || short.HourHistogram != nil || short.DayHistogram != nil {
		t.Errorf("histograms of %v s by hour %v and day %v, %v", short.SpanS.V, short.HourHistogram, short.DayHistogram, err)
	}
}

func TestSpan(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0 s", 0.0123: "0.0123 s", 1: "1 s", 59.94: "59.9 s", 90: "1.5 min", 3600: "1 h",
		131_640: "1.52 d", 86400 * 1234.4: "1234 d"} {
		if got := span(seconds); got != want {
			t.Errorf("%v s is %q, want %q", seconds, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is %q", n, got)
		}
	}
}
