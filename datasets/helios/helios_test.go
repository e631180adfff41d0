package helios

import (
	"archive/zip"
	"io"
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

const examples = "../../../shared/data/raw/format_examples/"

const small = `job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
11,uA,vcX,8,32,1,COMPLETED,2020-03-31 23:59:50,2020-04-01 00:00:00,2020-04-01 00:01:40,100,10
12,uB,vcX,0,16,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:05,5,0
13,uA,vcY,1,4,1,TIMEOUT,2020-09-26 23:59:00,2020-09-27 00:00:00,2020-09-27 00:10:00,600,60
14,uC,vcY,2,8,1,CANCELLED,2020-09-26 23:59:01,None,None,0,0
15,uC,vcY,2,8,1,CANCELLED,2020-09-26 23:59:02,None,None,,
16,uC,,4,8,1,NODE_FAIL,2020-09-01 00:00:00,2020-09-01 00:00:00,2020-09-01 00:00:07,7,-3
17,uC,vcY,4,8,1,FAILED,2020-09-01 00:00:00,2020-09-01 00:00:00,2020-09-01 00:00:07,-7,0
`

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load imports a file and reads the result.
func load(t testing.TB, in string, o Options) (*importer.Report, []datasets.Row) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.parquet")
	r, err := Import(in, out, o)
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

func row(id, user, vc, state string, submit, queue, duration, gpus, cpus float64) datasets.Row {
	r := datasets.Row{Trace: "helios", JobID: id, User: datasets.Some(user), Status: datasets.Some(state), SubmitS: datasets.Some(submit),
		QueueS: datasets.Some(queue), DurationS: datasets.Some(duration), GPUs: datasets.Some(gpus), CPUs: datasets.Some(cpus)}
	if vc != "" {
		r.VC = datasets.Some(vc)
	}
	return r
}

func TestImport(t *testing.T) {
	r, rows := load(t, write(t, "cluster_log.csv", []byte(small)), Options{})
	sixth := row("16", "uC", "", "NODE_FAIL", 153*86400+10, 0, 7, 4, 8)
	sixth.QueueS = datasets.Opt[float64]{}
	want := []datasets.Row{
		row("11", "uA", "vcX", "COMPLETED", 0, 10, 100, 8, 32),
		row("13", "uA", "vcY", "TIMEOUT", 178*86400+86350, 60, 600, 1, 4),
		sixth,
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
	if got := r.String(); got != "7 rows in, 3 kept, 1 dropped by gpu-only, 1 dropped by negative-time, 2 dropped by no-duration" {
		t.Error(got)
	}
	if !r.Start.Equal(time.Date(2020, 3, 31, 23, 59, 50, 0, time.UTC)) || r.SpanS != want[1].SubmitS.V {
		t.Errorf("%+v", r)
	}
}

func TestRules(t *testing.T) {
	in := write(t, "cluster_log.csv", []byte(small))
	for names, want := range map[string]string{
		"none,gpu-only":                      "11 13 14 15 16 17",
		"default,since-2020-04-01":           "13 16",
		"default,lucid":                      "13 16",
		"none,negative-time,lucid":           "13 16",
		"none,negative-time,completed":       "11 12",
		"default,merge-failed,completed":     "11",
		"none,negative-time,gpu-only,lucid":  "13 16",
		"none,no-duration,negative-time":     "11 12 13 16",
		"negative-time,since-2020-04-01":     "12 13 14 15 16",
		"default,since-2020-04-01,completed": "",
	} {
		if names == "none,gpu-only" { // keeps a negative duration, which the schema refuses
			_, err := Import(in, filepath.Join(t.TempDir(), "x"), Options{Rules: strings.Split(names, ",")})
			if err == nil || !strings.Contains(err.Error(), "column queue_s is -3") {
				t.Errorf("%s: %v", names, err)
			}
			continue
		}
		_, rows := load(t, in, Options{Rules: strings.Split(names, ",")})
		var ids []string
		for _, r := range rows {
			ids = append(ids, r.JobID)
			if strings.Contains(names, "merge-failed") && (r.Status.V == "TIMEOUT" || r.Status.V == "NODE_FAIL") {
				t.Errorf("%s: %+v", names, r)
			}
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s keeps %s, not %s", names, got, want)
		}
	}
	_, rows := load(t, in, Options{Rules: []string{"default", "merge-failed"}})
	if rows[1].Status.V != "FAILED" || rows[2].Status.V != "FAILED" {
		t.Errorf("%+v", rows)
	}
}

// The window is one of local time: with a zone, it moves with the dates.
func TestZone(t *testing.T) {
	in := write(t, "cluster_log.csv", []byte(small))
	o := Options{Rules: []string{"default", "lucid"}, Clock: importer.Clock{Zone: time.FixedZone("", 8*3600)}}
	r, rows := load(t, in, o)
	if len(rows) != 2 || !r.Start.Equal(time.Date(2020, 8, 31, 16, 0, 0, 0, time.UTC)) {
		t.Errorf("%v, %v", r, r.Start)
	}
}

func TestArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	for _, name := range []string{"data/Earth/cluster_log.csv", "data/Earth/cluster_gpu_number.csv", "data/Venus/cluster_log.csv"} {
		file, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(file, small)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r, _ := load(t, path, Options{Member: "Venus/cluster_log.csv"}); r.Kept != 3 {
		t.Errorf("%v", r)
	}
	_, err = Import(path, filepath.Join(t.TempDir(), "x"), Options{})
	if err == nil || !strings.Contains(err.Error(), "2 files of the archive are") {
		t.Errorf("%v", err)
	}
}

func TestErrors(t *testing.T) {
	head, first, _ := strings.Cut(small, "\n")
	first, _, _ = strings.Cut(first, "\n")
	for name, c := range map[string]struct{ text, want string }{
		"column": {strings.Replace(small, "gpu_num", "gpus", 1), `has no column gpu_num (the nearest is "cpu_num"`},
		"time":   {head + "\n" + strings.Replace(first, "2020-03-31 23", "2020-03-32 23", 1), `line 2: column submit_time: "2020-03-32 23:59:50" is not a time`},
		"number": {head + "\n" + strings.Replace(first, ",8,", ",eight,", 1), `line 2: column gpu_num: "eight" is not a number`},
		"sign":   {head + "\n" + strings.Replace(first, ",8,", ",-8,", 1), `line 2: column gpu_num: is -8`},
		"id":     {head + "\n" + strings.TrimPrefix(first, "11"), `line 2: column job_id: is empty`},
		"fields": {head + "\n1,2\n", "line 2: has 2 fields, the header has 12"},
	} {
		in, out := write(t, "cluster_log.csv", []byte(c.text)), filepath.Join(t.TempDir(), "out.parquet")
		_, err := Import(in, out, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "helios: "+in+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) != 0 {
			t.Errorf("%s: %v was left behind", name, left)
		}
	}
	if _, err := Import("x", "y", Options{Rules: []string{"lucit"}}); err == nil || !strings.Contains(err.Error(), `the nearest is "lucid"`) {
		t.Errorf("%v", err)
	}
}

// The rows that the trace's documentation shows.
func TestExample(t *testing.T) {
	in := examples + "helios_cluster_log.example.csv"
	if _, err := os.Stat(in); err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	r, rows := load(t, in, Options{})
	want := []datasets.Row{
		row("1425511", "uXBbc", "vcJkd", "COMPLETED", 0, 0, 36848, 1, 1),
		row("1425512", "uVMrF", "vchbv", "FAILED", 26, 0, 249, 4, 16),
		row("1425513", "uzqls", "vcpDC", "CANCELLED", 27, 0, 675233, 1, 1),
	}
	if r.Rows != 3 || !slices.Equal(rows, want) {
		t.Errorf("%v: %+v", r, rows)
	}
}

// FuzzImport gives the importer arbitrary bytes: an error or as many rows as it
// reports, and never a panic.
func FuzzImport(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("job_id,gpu_num,submit_time,duration\n1,\"2\",2020-01-01 00:00:00,1e2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := write(t, "in", data)
		out := filepath.Join(filepath.Dir(in), "out.parquet")
		r, err := Import(in, out, Options{})
		if err != nil {
			return
		}
		written := len(tracetest.Read(t, out))
		sum := r.Kept
		for _, d := range r.Dropped {
			sum += d.Rows
		}
		if written != r.Kept || sum != r.Rows {
			t.Errorf("%v, but %d rows were written", r, written)
		}
	})
}
