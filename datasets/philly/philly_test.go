package philly

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/importer"
	"yardstick/datasets/tracetest"
)

const shared = "../../../shared/data/"

const small = `timestamp,duration,num_gpus,gpu_time,cluster
2017-10-09 07:01:55,66.0,1,66.0,11cb48
2017-10-09 06:13:03,2951.5,8,23612.0,6214e9
2017-10-09 06:13:03,0.0,1,0.0,6214e9
2017-10-09 05:00:00,,1,,6214e9
2017-10-10 06:13:03,10,0,0,6214e9
2017-10-10 06:13:04,10,,0,
2017-10-10 06:13:05,10,2,20,
`

func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "philly.csv")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// load imports a file and reads the result.
func load(t *testing.T, in string) (*importer.Report, []datasets.Row) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.parquet")
	r, err := Import(in, out, Options{})
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

func TestImport(t *testing.T) {
	row := func(id string, submit, duration, gpus float64, vc string) datasets.Row {
		r := datasets.Row{Trace: "philly", JobID: id, SubmitS: datasets.Some(submit), DurationS: datasets.Some(duration), GPUs: datasets.Some(gpus)}
		if vc != "" {
			r.VC = datasets.Some(vc)
		}
		return r
	}
	want := []datasets.Row{
		row("000001", 2932, 66, 1, "11cb48"),
		row("000002", 0, 2951.5, 8, "6214e9"),
		row("000007", 86402, 10, 2, ""),
	}
	for name, data := range map[string][]byte{"plain": []byte(small), "gzip": zipped(t, small), "Windows": []byte("\ufeff" + strings.ReplaceAll(small, "\n", "\r\n"))} {
		r, rows := load(t, write(t, data))
		if !slices.Equal(rows, want) {
			t.Errorf("%s: %+v", name, rows)
		}
		if got := r.String(); got != "7 rows in, 3 kept, 2 dropped by no-duration, 2 dropped by no-gpus" {
			t.Errorf("%s: %s", name, got)
		}
		if got := r.Start.String(); got != "2017-10-09 06:13:03 +0000 UTC" {
			t.Errorf("%s: starts at %s", name, got)
		}
	}
	if r, rows := load(t, write(t, []byte("timestamp,duration,num_gpus,cluster\n"))); r.Rows != 0 || len(rows) != 0 {
		t.Errorf("a file without rows: %v", r)
	}
}

func TestImportErrors(t *testing.T) {
	head := "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
	for name, c := range map[string]struct {
		data string
		want string
	}{
		"missing column": {"timestamp,duration,gpus,cluster\n", `has no column num_gpus (the nearest is "gpus"`},
		"empty":          {"", "is empty"},
		"time":           {head + "09.10.2017,66.0,1,66.0,x\n", `line 3: column timestamp: "09.10.2017" is not a time`},
		"number":         {head + "2017-10-09 07:01:55,long,1,66.0,x\n", `line 3: column duration: "long" is not a number`},
		"negative":       {head + "2017-10-09 07:01:55,-1,1,66.0,x\n", `line 3: column duration: is -1`},
		"NaN":            {head + "2017-10-09 07:01:55,1,NaN,66.0,x\n", `line 3: column num_gpus: is NaN`},
		"short":          {head + "2017-10-09 07:01:55,1\n", `line 3: has 2 fields, the header has 5`},
		"quote":          {head + "2017-10-09 07:01:55,\"1,1,66.0,x\n", `line 3`},
		"cut off":        {string(zipped(t, strings.Repeat(small[45:], 9)))[:90], "philly.csv: "},
	} {
		in := write(t, []byte(c.data))
		out := filepath.Join(t.TempDir(), "out.parquet")
		_, err := Import(in, out, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "philly: "+in+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) != 0 {
			t.Errorf("%s: %v was left behind", name, left)
		}
	}
	if _, err := Import("none.csv", "out.parquet", Options{}); err == nil || err.Error() != "philly: none.csv: no such file or directory" {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Import(write(t, []byte(small)), filepath.Join(t.TempDir(), "no", "out.parquet"), Options{}); err == nil {
		t.Error("written to a folder that is not there")
	}
}

// The published file: the row count of its manifest, and the rows that another
// program made of it.
func TestImportOfThePublishedFile(t *testing.T) {
	in := shared + "raw/philly/philly.csv.gz"
	if _, err := os.Stat(in); err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	r, rows := load(t, in)
	if want := manifestRows(t, "raw/philly/philly.csv.gz"); r.Rows != want || r.Kept != want || len(rows) != want {
		t.Errorf("%v, %d rows written; the manifest says %d", r, len(rows), want)
	}
	s, err := datasets.Open(shared + "curated/jobs.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var want []datasets.Row
	for row, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if row.Trace == "philly" {
			want = append(want, row)
		}
	}
	sort := func(rows []datasets.Row) {
		for i := range rows {
			rows[i].JobID = "" // the two number jobs differently
		}
		slices.SortFunc(rows, func(a, b datasets.Row) int {
			return cmp.Or(cmp.Compare(a.SubmitS.V, b.SubmitS.V), cmp.Compare(a.DurationS.V, b.DurationS.V), cmp.Compare(a.GPUs.V, b.GPUs.V), cmp.Compare(a.VC.V, b.VC.V))
		})
	}
	sort(rows)
	sort(want)
	if !slices.Equal(rows, want) {
		t.Error("the rows are not those that another program made of the file")
	}
}

// manifestRows looks up a file's number of rows.
func manifestRows(t *testing.T, file string) int {
	t.Helper()
	f, err := os.Open(shared + "MANIFEST.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(records[0], "rows")
	for _, r := range records {
		if r[0] == file {
			n, err := strconv.Atoi(r[at])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("%s is not in the manifest", file)
	return 0
}

// FuzzImport gives the importer arbitrary bytes: an error or as many rows as it
// reports, and never a panic.
func FuzzImport(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("timestamp,duration,num_gpus,cluster\n\"2017-10-09 07:01:55\",1,1,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := write(t, data)
		out := filepath.Join(filepath.Dir(in), "out.parquet")
		r, err := Import(in, out, Options{})
		if err != nil {
			return
		}
		written := len(tracetest.Read(t, out))
		if written != r.Kept || r.Kept+r.Dropped[0].Rows+r.Dropped[1].Rows != r.Rows {
			t.Errorf("%v, but %d rows were written", r, written)
		}
	})
}
