package datasets

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"
)

// The public traces that some machines have beside the repository.
const (
	sharedJobs  = "../../shared/data/curated/jobs.parquet"
	sharedStats = "../../shared/data/STATS.csv"
)

func openShared(t testing.TB) *Source {
	t.Helper()
	if _, err := os.Stat(sharedJobs); err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	s, err := Open(sharedJobs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Every trace of the shared file has the statistics that were computed from it
// by another program.
func TestStatisticsOfPublicTraces(t *testing.T) {
	s := openShared(t)
	byTrace := map[string][]Row{}
	for r, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		byTrace[r.Trace] = append(byTrace[r.Trace], r)
	}
	f, err := os.Open(sharedStats)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, record := range records[1:] {
		rows, ok := byTrace[record[0]]
		if !ok {
			t.Errorf("%s has statistics but no rows", record[0])
			continue
		}
		got, err := Describe(All(rows))
		if err != nil {
			t.Fatal(err)
		}
		checked++
		for i, want := range record[1:] {
			compareStatistic(t, record[0], records[0][i+1], got, want)
		}
	}
	if checked == 0 || records[1][0] != "philly" {
		t.Errorf("%d traces were compared, the first is %s", checked, records[1][0])
	}
}

// compareStatistic compares one statistic with the text that the other program
// printed, to the digits it printed.
func compareStatistic(t *testing.T, trace, name string, s Statistics, want string) {
	t.Helper()
	var got float64
	there := true
	opt := func(v Opt[float64]) { got, there = v.V, v.OK }
	g, d := s.GPUs, s.Durations
	if there = g != nil; !there {
		g = &DemandStatistics{}
	}
	thereD := d != nil
	if !thereD {
		d = &DurationStatistics{}
	}
	switch name {
	case "jobs":
		got, there = float64(s.Jobs), true
	case "span_days":
		opt(Opt[float64]{s.SpanS.V / 86400, s.SpanS.OK})
	case "interarrival_mean_s":
		opt(s.InterArrivalS)
	case "gpu_mean":
		got = g.Mean
	case "share_1gpu":
		got = g.One
	case "share_frac":
		got = g.Fraction
	case "share_le1":
		got = g.AtMostOne
	case "share_2":
		got = g.Two
	case "share_4":
		got = g.Four
	case "share_8":
		got = g.Eight
	case "share_gt8":
		got = g.MoreThanEight
	case "gpu_max":
		got = g.Max
	case "dur_mean_s":
		got, there = d.Mean, thereD
	case "dur_p10_s":
		got, there = d.P10, thereD
	case "dur_p25_s":
		got, there = d.P25, thereD
	case "dur_p50_s":
		got, there = d.P50, thereD
	case "dur_p75_s":
		got, there = d.P75, thereD
	case "dur_p90_s":
		got, there = d.P90, thereD
	case "dur_p99_s":
		got, there = d.P99, thereD
	case "dur_max_s":
		got, there = d.Max, thereD
	case "gpu_hours":
		got, there = s.GPUHours, there && thereD
	case "users":
		got, there = float64(s.Users), s.Users > 0
	case "vcs":
		got, there = float64(s.VCs), s.VCs > 0
	case "groups":
		got, there = float64(s.Groups), s.Groups > 0
	case "deadline_share":
		got, there = s.WithDeadline, s.WithDeadline > 0
	case "share_jobs_in_groups_ge5":
		opt(s.InGroupsOfFive)
	case "share_jobs_of_users_ge5":
		opt(s.OfUsersWithFive)
	default:
		return // status, a text
	}
	if want == "" {
		if there {
			t.Logf("%s: %s is %v, the file has none", trace, name, got)
		}
		return
	}
	w, err := strconv.ParseFloat(want, 64)
	if err != nil {
		t.Fatal(err)
	}
	digits := 1e-3
	switch {
	case name == "interarrival_mean_s" || len(name) > 4 && name[:4] == "dur_":
		digits = 0.1
	case name == "span_days" || name == "gpu_mean":
		digits = 0.01
	case name == "gpu_hours":
		digits = 1
	}
	if !there || math.Abs(got-w) > digits/2+1e-9 {
		t.Errorf("%s: %s is %v (%v), want %s", trace, name, got, there, want)
	}
}

func TestWindowsOfPublicTrace(t *testing.T) {
	s := openShared(t)
	where, err := ParseFilter(map[string]any{"trace": "philly"})
	if err != nil {
		t.Fatal(err)
	}
	trace, err := s.Load(Selection{Where: where, MaxGPUs: 8})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := trace.Summary().String(), "305374 rows read, 70063 match the filter, 69854 kept; 209 dropped: asks for more GPUs than allowed"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	windows, err := trace.Windows(Slice{Jobs: 8, At: At{Rule: AtBusiest}, Repeat: 20}, 1, "philly-busy")
	if err != nil {
		t.Fatal(err)
	}
	for k := range windows {
		if jobs := windows[k].List(); len(jobs) != 8 || jobs[7].Submit < jobs[0].Submit {
			t.Errorf("window %d: %+v", k, jobs)
		}
	}
	// Without a filter, traces with different clocks would be mixed.
	if _, err := s.Load(Selection{}); err == nil {
		t.Error("traces without a common clock were mixed")
	}
}
