package datasets

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the embedded sample trace and the generated parts of docs/datasets.md anew")

func TestSampleIsWhatItsCodeMakes(t *testing.T) {
	want := generateSample()
	if *update {
		if err := WriteFile("philly-like.parquet", All(want)); err != nil {
			t.Fatal(err)
		}
		t.Log("philly-like.parquet was written; run the tests again to embed it")
		return
	}
	s, err := Open("builtin:philly-like")
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(s.Rows())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the embedded trace of %d rows is not the one of %d rows that the code makes; go test ./datasets -run Sample -update", len(got), len(want))
	}
	if info, err := os.Stat("philly-like.parquet"); err != nil || info.Size() > 1<<20 {
		t.Errorf("%v, %d bytes: at most 1 MiB is wanted", err, info.Size())
	}
}

// target is a statistic that the sample is calibrated on.
type target struct {
	what                 string
	got, want, tolerance float64
}

// targets lists the figures of the calibration as docs/datasets.md shows them.
func targets(t *testing.T, rows []Row) []target {
	t.Helper()
	s, err := Describe(All(rows))
	if err != nil {
		t.Fatal(err)
	}
	d, g := s.Durations, s.GPUs
	relative := func(what string, got, want, tolerance float64) target {
		return target{what, got, want, want * tolerance}
	}
	list := []target{
		relative("inter-arrival time, mean (s)", s.InterArrivalS.V, 134.3, 0.01),
		{"inter-arrival time, median (s)", gaps(rows, 0.5), 9, 1},
		{"share of inter-arrival times up to 5 s", shortGaps(rows), 0.387, 0.02},
		{"share of jobs of 1 GPU", g.One, 0.945, 0.001},
		{"share of jobs of 2 GPUs", g.Two, 0.023, 0.001},
		{"share of jobs of 4 GPUs", g.Four, 0.017, 0.001},
		{"share of jobs of 8 GPUs", g.Eight, 0.012, 0.001},
		{"share of jobs of more GPUs", g.MoreThanEight, 0.003, 0.001},
		relative("GPUs, mean", g.Mean, 1.22, 0.02),
		{"GPUs, largest", g.Max, 128, 0},
		relative("duration, quantile 0.10 (s)", d.P10, 59, 0.01),
		relative("duration, quantile 0.25 (s)", d.P25, 81, 0.01),
		relative("duration, quantile 0.50 (s)", d.P50, 1081, 0.01),
		relative("duration, quantile 0.75 (s)", d.P75, 2739, 0.01),
		relative("duration, quantile 0.90 (s)", d.P90, 9031, 0.01),
		relative("duration, quantile 0.99 (s)", d.P99, 189_527, 0.01),
		relative("duration, mean (s)", d.Mean, 10_563, 0.01),
		relative("duration, largest (s)", d.Max, 4_628_226, 0.05),
		relative("GPU-hours per job", s.GPUHours/float64(s.Jobs), 10.33, 0.1),
		{"share of jobs in groups of at least five", s.InGroupsOfFive.V, 0.65, 0.02},
	}
	var vcs [len(sampleVC)]float64
	var hours [24]float64
	var days [7]float64
	for _, r := range rows {
		vc, err := strconv.Atoi(r.VC.V[2:])
		if err != nil {
			t.Fatal(err)
		}
		vcs[vc] += 1 / float64(len(rows))
		hours[int(r.SubmitS.V/3600)%24] += 24 / float64(len(rows))
		days[int(r.SubmitS.V/86400)%7] += 7 / float64(len(rows))
	}
	furthest := func(what string, got, want []float64, tolerance float64) target {
		at := 0
		for i := range got {
			if math.Abs(got[i]-want[i]) > math.Abs(got[at]-want[at]) {
				at = i
			}
		}
		return target{fmt.Sprintf("%s (the furthest off, %d)", what, at), got[at], want[at], tolerance}
	}
	return append(list,
		furthest("share of a virtual cluster", vcs[:], sampleVC[:], 0.03),
		furthest("rate in an hour of the day, relative", hours[:], sampleHour[:], 0.35),
		furthest("rate on a day of the week, relative", days[:], sampleWeekday[:], 0.2))
}

func TestSampleMeetsItsTargets(t *testing.T) {
	rows := generateSample()
	if len(rows) != sampleJobs {
		t.Errorf("%d jobs", len(rows))
	}
	var doc strings.Builder
	doc.WriteString("| statistic | target | generated | tolerance |\n|---|---|---|---|\n")
	for _, x := range targets(t, rows) {
		if !(math.Abs(x.got-x.want) <= x.tolerance) {
			t.Errorf("%s is %.6g: the target is %.6g, ±%.3g", x.what, x.got, x.want, x.tolerance)
		}
		fmt.Fprintf(&doc, "| %s | %s | %s | ±%s |\n", x.what, digits(x.want), digits(x.got), digits(x.tolerance))
	}
	checkDocument(t, "datasets.md", "calibration", doc.String())
}

// digits prints a number with four significant digits and no exponent.
func digits(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := max(0, 3-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func TestSchemaIsDocumented(t *testing.T) {
	var doc strings.Builder
	doc.WriteString("| column | type | unit | required | NULL | meaning |\n|---|---|---|---|---|---|\n")
	yes := map[bool]string{true: "yes", false: "no"}
	for _, c := range Columns() {
		fmt.Fprintf(&doc, "| `%s` | %s | %s | %s | %s | %s |\n", c.Name, c.Type, c.Unit, yes[c.Required], yes[c.Nullable], c.Description)
	}
	checkDocument(t, "columns.md", "datasets", doc.String())
}

// checkDocument compares a part of a file of docs, between its markers, with
// what the code says; with -update it writes it.
func checkDocument(t *testing.T, file, part, want string) {
	t.Helper()
	path := "../docs/" + file
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "<!-- begin "+part+":")
	marker, rest, ok2 := strings.Cut(rest, "-->\n")
	got, tail, ok3 := strings.Cut(rest, "<!-- end "+part+" -->")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s has no markers around the part %q", path, part)
	}
	if got == want {
		return
	}
	if !*update {
		t.Errorf("%s, part %q, is not what the code says; go test ./datasets -run 'Sample|Schema' -update\n%s", path, part, want)
		return
	}
	text = []byte(head + "<!-- begin " + part + ":" + marker + "-->\n" + want + "<!-- end " + part + " -->" + tail)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// gaps returns the quantile p of the times between submissions.
func gaps(rows []Row, p float64) float64 {
	var list []float64
	for i := range rows[1:] {
		list = append(list, rows[i+1].SubmitS.V-rows[i].SubmitS.V)
	}
	slices.Sort(list)
	return quantile(list, p)
}

func shortGaps(rows []Row) float64 {
	n := 0
	for i := range rows[1:] {
		if rows[i+1].SubmitS.V-rows[i].SubmitS.V <= 5 {
			n++
		}
	}
	return float64(n) / float64(len(rows)-1)
}

// Runs of one program have running times that resemble each other: the
// variance of their logarithm within groups is well below that of all jobs.
func TestSampleGroupsResemble(t *testing.T) {
	type moments struct{ n, sum, squares float64 }
	add := func(m moments, x float64) moments { return moments{m.n + 1, m.sum + x, m.squares + x*x} }
	var all moments
	groups := map[string]moments{}
	for _, r := range generateSample() {
		x := math.Log(r.DurationS.V)
		all = add(all, x)
		groups[r.Group.V] = add(groups[r.Group.V], x)
	}
	within, n := 0.0, 0.0
	for _, m := range groups {
		if m.n >= 5 {
			within += m.squares - m.sum*m.sum/m.n
			n += m.n - 1
		}
	}
	ratio := (within / n) / (all.squares/all.n - all.sum*all.sum/all.n/all.n)
	t.Logf("variance of log duration within groups / overall: %.2f", ratio)
	if ratio > 0.6 {
		t.Errorf("running times within groups vary %.2f times as much as all: at most 0.6 is wanted", ratio)
	}
}
