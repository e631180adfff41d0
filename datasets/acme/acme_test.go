package acme

import (
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

const seren = `job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time
1,uA,1,8,128,Pretrain,FAILED,2023-03-01 00:00:10+08:00,2023-03-01 00:00:42+08:00,2023-03-01 00:02:39+08:00,117,32,936.0
2,uB,1,0,16,Other,COMPLETED,2023-03-01 00:00:00+08:00,2023-03-01 00:00:00+08:00,2023-03-01 00:00:09+08:00,9,0,0.0
3,uB,1,1,16,,NODE_FAIL,2023-02-28 16:00:00+00:00,,,5,,5.0
4,uB,1,1,16,,CANCELLED,2023-02-28 16:00:00+00:00,,,,,
`

const kalos = `job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,start_time,end_time,fail_time,stop_time,duration,queue,gpu_time
dlc1,uA,8,64,960,1000,100.0,Other,FAILED,2023-05-17 11:00:00+00:00,2023-05-17 11:00:10+00:00,2023-05-17 11:00:18+00:00,2023-05-17 11:00:18+00:00,,18,10.0,1152.0
`

func write(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load imports a file and reads the result.
func load(t *testing.T, in string, o Options) (*importer.Report, []datasets.Row) {
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

func row(id, user, kind, state string, submit, queue, duration, gpus, cpus float64) datasets.Row {
	return datasets.Row{Trace: "acme", JobID: id, User: datasets.Some(user), Model: datasets.Some(kind), Status: datasets.Some(state), SubmitS: datasets.Some(submit),
		QueueS: datasets.Some(queue), DurationS: datasets.Some(duration), GPUs: datasets.Some(gpus), CPUs: datasets.Some(cpus)}
}

func TestImport(t *testing.T) {
	r, rows := load(t, write(t, []byte(seren)), Options{})
	third := row("3", "uB", "", "NODE_FAIL", 0, 0, 5, 1, 16)
	third.Model, third.QueueS = datasets.Opt[string]{}, datasets.Opt[float64]{}
	if want := []datasets.Row{row("1", "uA", "Pretrain", "FAILED", 10, 32, 117, 8, 128), third}; !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
	if got := r.String(); got != "4 rows in, 2 kept, 1 dropped by gpu-only, 0 dropped by negative-time, 1 dropped by no-duration" {
		t.Error(got)
	}
	if !r.Start.Equal(time.Date(2023, 2, 28, 16, 0, 0, 0, time.UTC)) {
		t.Errorf("starts at %v", r.Start)
	}
	_, rows = load(t, write(t, []byte(seren)), Options{Trace: "seren", Rules: []string{"default", "merge-failed"}})
	if rows[1].Status.V != "FAILED" || rows[0].Trace != "seren" {
		t.Errorf("%+v", rows)
	}
	if r, _ := load(t, write(t, []byte(seren)), Options{Rules: []string{"completed"}}); r.Kept != 1 || r.DroppedBy("completed") != 3 {
		t.Errorf("%v", r)
	}
}

// The column duration of Kalos counts from the submission.
func TestDuration(t *testing.T) {
	_, rows := load(t, write(t, []byte(kalos)), Options{})
	if want := row("dlc1", "uA", "Other", "FAILED", 0, 10, 8, 64, 960); rows[0] != want {
		t.Errorf("%+v", rows[0])
	}
	_, rows = load(t, write(t, []byte(kalos)), Options{Rules: []string{"default", RulePublishedLength}})
	if rows[0].DurationS.V != 18 {
		t.Errorf("%+v", rows[0])
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"column": {strings.Replace(seren, "end_time", "end", 1), "has no column end_time (the nearest is"},
		"time":   {strings.Replace(seren, "00:02:39+08:00", "00:02:39+88:00", 1), "line 2: column end_time: \"2023-03-01 00:02:39+88:00\" is not a time"},
		"number": {strings.Replace(seren, ",117,", ",117s,", 1), "line 2: column duration: \"117s\" is not a number"},
		"NaN":    {strings.Replace(seren, ",117,", ",Inf,", 1), "line 2: column duration: is +Inf"},
		"sign":   {strings.Replace(seren, ",128,", ",-128,", 1), "line 2: column cpu_num: is -128"},
		"id":     {strings.Replace(seren, "\n1,", "\n,", 1), "line 2: column job_id: is empty"},
	} {
		in := write(t, []byte(c.text))
		_, err := Import(in, filepath.Join(t.TempDir(), "x"), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "acme: "+in+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Import("x", "y", Options{Rules: []string{"gpu"}}); err == nil || !strings.Contains(err.Error(), "there is no cleaning rule") {
		t.Errorf("%v", err)
	}
}

// The rows that the traces' documentation shows.
func TestExamples(t *testing.T) {
	for name, want := range map[string][]datasets.Row{
		"seren": {row("5778432", "u5907", "Other", "FAILED", 0, 32, 117, 8, 128), row("5778469", "u5907", "Other", "COMPLETED", 336, 13, 2693, 8, 128)},
		"kalos": {row("dlctk696s0jbvitv", "uf794", "Other", "FAILED", 0, 10, 8, 64, 960), row("dlc1t2ypl09b8qtp", "uf794", "Other", "CANCELLED", 1664, 12, 70, 64, 960)},
	} {
		in := examples + "acme_trace_" + name + ".example.csv"
		if _, err := os.Stat(in); err != nil {
			t.Skipf("the shared traces are not here: %v", err)
		}
		if r, rows := load(t, in, Options{}); r.Rows != 2 || !slices.Equal(rows, want) {
			t.Errorf("%s: %v: %+v", name, r, rows)
		}
	}
}

// FuzzImport gives the importer arbitrary bytes: an error or as many rows as it
// reports, and never a panic.
func FuzzImport(f *testing.F) {
	f.Add([]byte(seren))
	f.Add([]byte(kalos))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := write(t, data)
		out := filepath.Join(filepath.Dir(in), "out.parquet")
		r, err := Import(in, out, Options{})
		if err != nil {
			return
		}
		written := len(tracetest.Read(t, out))
		if written != r.Kept {
			t.Errorf("%v, but %d rows were written", r, written)
		}
	})
}
