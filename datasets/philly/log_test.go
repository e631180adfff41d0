package philly

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/datasets"
	"yardstick/datasets/importer"
	"yardstick/datasets/tracetest"
)

// Attempts of 70 s and 40 s that are 10 s apart on 3 GPUs, and jobs that rules
// drop.
const smallLog = `[
{"status": "Pass", "vc": "v1", "jobid": "a", "user": "u1", "submitted_time": "2017-10-03 00:00:10", "attempts": [
  {"start_time": "2017-10-03 00:00:30", "end_time": "2017-10-03 00:01:40", "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0"]}]},
  {"start_time": "2017-10-03 00:01:50", "end_time": "2017-10-03 00:02:30", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]},
{"status": "Killed", "vc": "v1", "jobid": "b", "user": "u1", "submitted_time": "2017-10-03 00:00:00", "attempts": []},
{"status": "Failed", "vc": "v1", "jobid": "c", "user": "u1", "submitted_time": "2017-10-03 00:00:00", "attempts": [
  {"start_time": "2017-10-03 00:00:30", "end_time": null, "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]},
{"status": "Failed", "vc": "v1", "jobid": "d", "user": "None", "submitted_time": "2017-10-08 00:00:00", "attempts": [
  {"start_time": "2017-10-08 00:00:00", "end_time": "None", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
  {"start_time": "2017-10-08 00:01:00 PDT", "end_time": "2017-10-08 00:02:00 PDT", "detail": []}]},
{"status": "Pass", "vc": "v2", "jobid": "e", "user": "u2", "submitted_time": "2017-10-03 00:00:00", "attempts": [
  {"start_time": "2017-10-03 00:00:00", "end_time": "2017-10-03 00:00:00", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]},
{"status": "Pass", "vc": "v2", "jobid": "f", "user": "u2", "submitted_time": "2017-10-03 00:00:00", "attempts": [
  {"start_time": "2017-10-03 00:00:00", "end_time": "2017-10-03 00:00:09", "detail": [{"ip": "m1", "gpus": []}]}]}
]`

// loadLog imports a log and reads the result.
func loadLog(t *testing.T, in string, o Options) (*importer.Report, []datasets.Row) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.parquet")
	r, err := ImportLog(in, out, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := datasets.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var rows []datasets.Row
	for row, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return r, rows
}

func TestImportLog(t *testing.T) {
	in := write(t, []byte(smallLog))
	pacific := importer.Clock{Zone: time.FixedZone("", -7*3600)}
	first := datasets.Row{Trace: "philly", JobID: "a", User: datasets.Some("u1"), VC: datasets.Some("v1"), Status: datasets.Some("Pass"),
		SubmitS: datasets.Some(0.), QueueS: datasets.Some(20.), DurationS: datasets.Some(120.), GPUs: datasets.Some(3.)}
	fourth := datasets.Row{Trace: "philly", JobID: "d", VC: datasets.Some("v1"), Status: datasets.Some("Failed"),
		SubmitS: datasets.Some(5*86400 - 10.), QueueS: datasets.Some(0.), DurationS: datasets.Some(120.), GPUs: datasets.Some(1.)}
	for name, data := range map[string][]byte{"array": []byte(smallLog), "gzip": zipped(t, smallLog)} {
		r, rows := loadLog(t, write(t, data), Options{Clock: pacific})
		if want := []datasets.Row{first, fourth}; !slices.Equal(rows, want) {
			t.Errorf("%s: %+v", name, rows)
		}
		if got := r.String(); got != "6 rows in, 2 kept, 1 dropped by no-attempts, 1 dropped by no-times, 0 dropped by negative-time, 1 dropped by no-duration, 1 dropped by no-gpus" {
			t.Errorf("%s: %s", name, got)
		}
		if want := time.Date(2017, 10, 3, 7, 0, 10, 0, time.UTC); !r.Start.Equal(want) {
			t.Errorf("%s: starts at %v", name, r.Start)
		}
	}
	// The sum over attempts; d has an attempt of unknown length.
	first.DurationS = datasets.Some(110.)
	r, rows := loadLog(t, in, Options{Clock: pacific, Rules: []string{"default", "synergy"}})
	if !slices.Equal(rows, []datasets.Row{first}) || r.DroppedBy(RuleNoTimes) != 2 {
		t.Errorf("%v: %+v", r, rows)
	}
	for names, want := range map[string]int{"default,lucid": 1, "default,passed": 1, "none,lucid": 5, "none": 6, "passed": 3} {
		if _, rows := loadLog(t, in, Options{Clock: pacific, Rules: strings.Split(names, ",")}); len(rows) != want {
			t.Errorf("%s keeps %d", names, len(rows))
		}
	}
}

func TestImportLogErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"time":      {strings.Replace(smallLog, "2017-10-08 00:00:00\", \"end", "8.10.2017\", \"end", 1), `line 8: start_time of attempt 1: "8.10.2017" is not a time`},
		"submitted": {strings.Replace(smallLog, "03 00:00:10", "03", 1), `line 2: submitted_time: "2017-10-03" is not a time`},
		"id":        {strings.Replace(smallLog, `"jobid": "b", `, "", 1), "line 5: a job without jobid"},
		"type":      {strings.Replace(smallLog, `"attempts": []`, `"attempts": 3`, 1), "line 5: attempts cannot be a number"},
		"GPUs":      {`[{"id": "x", "num_gpus": -1, "attempts": []}]`, "line 1: num_gpus is -1"},
		"cut off":   {smallLog[:300], "damaged after line 2"},
		"no JSON":   {"timestamp,duration\n", "line 1: no JSON"},
	} {
		in, out := write(t, []byte(c.text)), filepath.Join(t.TempDir(), "out.parquet")
		_, err := ImportLog(in, out, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "philly: "+in+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) != 0 {
			t.Errorf("%s: %v was left behind", name, left)
		}
	}
}

// What an entry has says nothing about the next one: a log gives the same rows
// as its entries one by one.
func TestLogEntriesAreIndependent(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	one := func(values ...string) string { return values[rng.IntN(len(values))] }
	time := func() string { return one("null", `"None"`, `"2017-10-03 00:00:00"`, `"2017-10-03 00:01:00"`) }
	entry := func(i int) string {
		var attempts []string
		for range rng.IntN(4) {
			var members []string
			for _, m := range []string{`"start_time": ` + time(), `"end_time": ` + time(),
				`"detail": ` + one("null", "[]", `[{}]`, `[{"gpus": null}]`, `[{"ip": "m", "gpus": ["a"]}]`, `[{"gpus": ["a", "b", "c"]}, {"gpus": ["a"]}]`)} {
				if rng.IntN(4) > 0 {
					members = append(members, m)
				}
			}
			attempts = append(attempts, "{"+strings.Join(members, ", ")+"}")
		}
		members := []string{fmt.Sprintf(`"jobid": "%d"`, i), `"submitted_time": "2017-10-03 00:00:00"`}
		for _, m := range []string{`"user": ` + one("null", `"u"`), `"vc": ` + one("null", `"v"`), `"status": ` + one("null", `"Pass"`),
			`"num_gpus": ` + one("null", "0", "2"), `"attempts": ` + one("null", "["+strings.Join(attempts, ", ")+"]", "["+strings.Join(attempts, ", ")+"]")} {
			if rng.IntN(4) > 0 {
				members = append(members, m)
			}
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	for _, rules := range [][]string{{"negative-time"}, {"negative-time", "synergy"}} {
		var log []string
		var want []datasets.Row
		for i := range 200 {
			log = append(log, entry(i))
			_, rows := loadLog(t, write(t, []byte(log[i])), Options{Rules: rules})
			want = append(want, rows...)
		}
		_, got := loadLog(t, write(t, []byte("["+strings.Join(log, ",\n")+"]")), Options{Rules: rules})
		if !slices.Equal(got, want) || len(want) < 100 {
			t.Errorf("%v: of %s\n%+v, but one by one %+v", rules, strings.Join(log, ",\n"), got, want)
		}
	}
}

// The entry that the trace's documentation shows: 8 GPUs, 53:41:03 from first
// start to last end.
func TestLogExample(t *testing.T) {
	in := shared + "raw/format_examples/philly_cluster_job_log.example.json"
	if _, err := os.Stat(in); err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	_, rows := loadLog(t, in, Options{})
	want := datasets.Row{Trace: "philly", JobID: "application_1506638472019_14199", User: datasets.Some("ce2f4c"), VC: datasets.Some("ee9e8c"), Status: datasets.Some("Pass"),
		SubmitS: datasets.Some(0.), QueueS: datasets.Some(30.), DurationS: datasets.Some(53*3600 + 41*60 + 3.), GPUs: datasets.Some(8.)}
	if !slices.Equal(rows, []datasets.Row{want}) {
		t.Errorf("%+v", rows)
	}
}

// An excerpt of the log with all attempts: 1,976 jobs, as its documentation
// says, and the rows that another program made of it.
func TestImportLogOfThePublishedExcerpt(t *testing.T) {
	in := shared + "raw/philly/jobs_with_attempts.json.gz"
	if _, err := os.Stat(in); err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	r, rows := loadLog(t, in, Options{})
	if r.Rows != 1976 || r.Kept != 1976 || len(rows) != 1976 {
		t.Errorf("%v", r)
	}
	s, err := datasets.Open(shared + "curated/jobs.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := map[string]datasets.Row{}
	for row, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if row.Trace == "philly_multigpu_attempts" {
			want[row.JobID] = row
		}
	}
	for _, row := range rows {
		w, ok := want[row.JobID]
		if !ok || w.SubmitS != row.SubmitS || w.GPUs != row.GPUs {
			t.Fatalf("%+v, but another program made %+v of it", row, w)
		}
	}
	described, err := datasets.Describe(tracetest.All(rows))
	if err != nil {
		t.Fatal(err)
	}
	if d := described.Durations; d.Max != 4628239 || d.P50 != 70656.5 || described.GPUs.Max != 128 {
		t.Errorf("%+v", described.Durations)
	}
}

// FuzzImportLog gives the importer arbitrary bytes: an error or as many rows as
// it reports, and never a panic.
func FuzzImportLog(f *testing.F) {
	f.Add([]byte(smallLog))
	f.Add([]byte(`{"jobid":"x","attempts":[{"start_time":"2017-10-03 00:00:00","end_time":"2017-10-03 00:00:09"}],"num_gpus":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := write(t, data)
		out := filepath.Join(filepath.Dir(in), "out.parquet")
		r, err := ImportLog(in, out, Options{})
		if err != nil {
			return
		}
		written := len(tracetest.Read(t, out))
		if written != r.Kept {
			t.Errorf("%v, but %d rows were written", r, written)
		}
	})
}
