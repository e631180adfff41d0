package joblist

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"yardstick/datasets"
	"yardstick/datasets/tracetest"
)

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func row(trace, id string, submit, gpus, duration float64) datasets.Row {
	return datasets.Row{Trace: trace, JobID: id, SubmitS: datasets.Some(submit), GPUs: datasets.Some(gpus), DurationS: datasets.Some(duration)}
}

// rowsOf collects the rows of a list.
func rowsOf(l *List) (rows []datasets.Row) {
	for row := range l.Rows() {
		rows = append(rows, row)
	}
	return rows
}

func TestCSV(t *testing.T) {
	l, err := Read(write(t, "jobs.csv", []byte("submit,gpus,duration\n1700000010,4,3.5\n1700000000,0.5,60\n")), Columns{})
	want := []datasets.Row{row("jobs.csv", "1", 10, 4, 3.5), row("jobs.csv", "2", 0, 0.5, 60)}
	if err != nil || !slices.Equal(rowsOf(l), want) || l.Origin != 1.7e9 {
		t.Errorf("%+v, %v", l, err)
	}
	// Other names, other order, columns of no interest, optional ones.
	text := "Job_ID, note ,run_time,Num_GPUs,submit_time,user,group,weight\n" +
		"b,x,60,1,0,ann,g,2.5\n" +
		"a,\"x,y\",61,2,5,,,\n"
	first, second := row("jobs.csv", "b", 0, 1, 60), row("jobs.csv", "a", 5, 2, 61)
	first.User, first.Group, first.Weight = datasets.Some("ann"), datasets.Some("g"), datasets.Some(2.5)
	l, err = Read(write(t, "jobs.csv", []byte(text)), Columns{})
	if err != nil || !slices.Equal(rowsOf(l), []datasets.Row{first, second}) {
		t.Errorf("%+v, %v", l, err)
	}
	l, err = Read(write(t, "jobs.csv", []byte("t,gpus,duration,d2\n3,1,5,7\n")), Columns{Submit: []string{"t"}, Duration: []string{"d1", "d2"}})
	if err != nil || !slices.Equal(rowsOf(l), []datasets.Row{row("jobs.csv", "1", 0, 1, 7)}) {
		t.Errorf("%+v, %v", l, err)
	}
	if ids := func() (s string) {
		l, err := Read(write(t, "jobs.csv", []byte("submit,gpus,duration\n"+strings.Repeat("0,1,1\n", 12))), Columns{})
		if err != nil {
			return err.Error()
		}
		return l.Jobs[0].ID + " " + l.Jobs[11].ID
	}(); ids != "01 12" {
		t.Errorf("ids %s", ids)
	}
}

func encode[T any](t *testing.T, records []T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, records); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParquet(t *testing.T) {
	type job struct {
		ID     int64   `parquet:"id"`
		Submit int64   `parquet:"submit"`
		GPUs   int32   `parquet:"gpus"`
		Run    float64 `parquet:"duration"`
		User   *string `parquet:"user,optional"`
		Note   bool    `parquet:"note"`
	}
	ann := "ann"
	l, err := Read(write(t, "jobs.parquet", encode(t, []job{{ID: 7, Submit: 20, GPUs: 2, Run: 1.5}, {ID: 3, Submit: 10, GPUs: 1, Run: 2, User: &ann}})), Columns{})
	second := row("jobs.parquet", "3", 0, 1, 2)
	second.User = datasets.Some("ann")
	if err != nil || !slices.Equal(rowsOf(l), []datasets.Row{row("jobs.parquet", "7", 10, 2, 1.5), second}) || l.Origin != 10 {
		t.Errorf("%+v, %v", l, err)
	}
	// The unified schema's own names are among the defaults.
	path := filepath.Join(t.TempDir(), "trace.parquet")
	if err := datasets.WriteFile(path, tracetest.All([]datasets.Row{row("t", "x", 3, 1, 2)})); err != nil {
		t.Fatal(err)
	}
	l, err = Read(path, Columns{})
	if err != nil || !slices.Equal(rowsOf(l), []datasets.Row{row("trace.parquet", "x", 0, 1, 2)}) {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestErrors(t *testing.T) {
	type noGPUs struct {
		Submit float64 `parquet:"submit"`
		Run    float64 `parquet:"duration"`
	}
	type textual struct {
		Submit string  `parquet:"submit"`
		GPUs   float64 `parquet:"gpus"`
		Run    float64 `parquet:"duration"`
	}
	type nullable struct {
		Submit *float64 `parquet:"submit,optional"`
		GPUs   float64  `parquet:"gpus"`
		Run    float64  `parquet:"duration"`
	}
	zero := 0.0
	head := "submit,gpus,duration,weight,id\n0,1,1,1,a\n"
	damaged := encode(t, []nullable{{&zero, 1, 1}})
	for name, c := range map[string]struct {
		data string
		want string
	}{
		"missing column":    {"sumbit,gpus,duration\n0,1,1\n", `has no column submit or submit_s or submit_time or arrival or arrival_time or release (the nearest is "sumbit"`},
		"not a number":      {head + "0,two,1,1,b\n", `line 3: column gpus: "two" is not a number`},
		"date":              {head + "2020-01-01,2,1,1,b\n", `line 3: column submit: "2020-01-01" is not a number`},
		"negative":          {head + "0,1,-5,1,b\n", `line 3: column duration: is -5: it must not be negative`},
		"NaN":               {head + "nan,1,5,1,b\n", `line 3: column submit: is NaN: it must be a finite number`},
		"infinite":          {head + "0,1,inf,1,b\n", `line 3: column duration: is +Inf`},
		"out of range":      {head + "0,1,1e999,1,b\n", `line 3: column duration: "1e999" is not a number`},
		"empty":             {head + "0,,5,1,b\n", `line 3: column gpus: is empty`},
		"weight":            {head + "0,1,5,0,b\n", `line 3: column weight: is 0: it must be positive`},
		"fields":            {head + "0,1,5\n", `line 3: has 3 fields`},
		"same id":           {head + "0,1,1,1,b\n0,1,1,1,a\n", `jobs 1 and 3 both have the id "a"`},
		"same column":       {"submit,submit,gpus,duration\n", `column name "submit" is empty or there twice`},
		"no jobs":           {"submit,gpus,duration\n", "has no jobs"},
		"no header":         {"", "is empty"},
		"Parquet: column":   {string(encode(t, []noGPUs{{}})), "has no column gpus"},
		"Parquet: text":     {string(encode(t, []textual{{}})), "column submit holds text (STRING): numbers are required"},
		"Parquet: NULL":     {string(encode(t, []nullable{{&zero, 1, 1}, {nil, 1, 1}})), "row 2: column submit is empty"},
		"Parquet: negative": {string(encode(t, []nullable{{&zero, 1, 1}, {&zero, -1, 1}})), "row 2: column gpus is -1"},
		"Parquet: damaged":  {string(damaged[:len(damaged)-1]), "not a Parquet file, or cut off"},
	} {
		path := write(t, "jobs", []byte(c.data))
		_, err := Read(path, Columns{})
		if err == nil || !strings.HasPrefix(err.Error(), "joblist: "+path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read("none.csv", Columns{}); err == nil || !strings.Contains(err.Error(), "none.csv: no such file") {
		t.Errorf("missing file: %v", err)
	}
}

// FuzzCSV gives the reader arbitrary text: an error or rows that keep the
// schema, and never a panic.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("submit,gpus,duration\n0,1,60\n"))
	f.Add([]byte("id,submit,gpus,duration,weight,user\n\"a\nb\",1e3,.5,0x10p1,2,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Read(write(t, "jobs.csv", data), Columns{})
		if err != nil {
			return
		}
		for i, row := range rowsOf(l) {
			if err := row.Check(); err != nil {
				t.Errorf("row %d: %v", i, err)
			}
		}
	})
}

// TestKeys: columns of any numbers are read on request, for every job.
func TestKeys(t *testing.T) {
	type job struct {
		Submit int64   `parquet:"submit"`
		GPUs   int32   `parquet:"gpus"`
		Run    float64 `parquet:"duration"`
		Guess  float64 `parquet:"guess"`
	}
	csv := write(t, "jobs.csv", []byte("submit,Guess,gpus,duration,note\n0,-1.5,1,10,x\n3,1e30,2,20,y\n"))
	file := write(t, "jobs.parquet", encode(t, []job{{0, 1, 10, -1.5}, {3, 2, 20, 1e30}}))
	for _, path := range []string{csv, file} {
		l, err := Read(path, Columns{Keys: []string{"duration", "guess"}})
		if err != nil || !slices.Equal(l.Jobs[0].Keys, []float64{10, -1.5}) || !slices.Equal(l.Jobs[1].Keys, []float64{20, 1e30}) || l.Jobs[1].Duration != 20 {
			t.Errorf("%s: %+v, %v", path, l, err)
		}
	}
	for text, want := range map[string]string{
		"submit,gpus,duration,est\n0,1,1,1\n":     "has no column guess",
		"submit,gpus,duration,guess\n0,1,1,\n":    "is empty",
		"submit,gpus,duration,guess\n0,1,1,x\n":   "guess",
		"submit,gpus,duration,guess\n0,1,1,Inf\n": "guess",
		"submit,gpus,duration,guess\n0,1,1,NaN\n": "guess",
	} {
		if _, err := Read(write(t, "bad.csv", []byte(text)), Columns{Keys: []string{"guess"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
