package generic

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/importer"
	"yardstick/datasets/table"
	"yardstick/datasets/tracetest"
)

func fieldsOf(t testing.TB, list ...string) []Field {
	t.Helper()
	var fields []Field
	for _, s := range list {
		f, err := ParseField(s)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, f)
	}
	return fields
}

func load(t *testing.T, in string, o Options) (*importer.Report, []datasets.Row) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.parquet")
	r, err := Import(in, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, tracetest.Read(t, out)
}

func some(v float64) datasets.Opt[float64] { return datasets.Some(v) }
func word(v string) datasets.Opt[string]   { return datasets.Some(v) }

func TestImportCSV(t *testing.T) {
	const in = `job,who,submitted at,runtime,share,cores,left over
7,ann,500,1500,50,2000,x
8,,2500.5,250,200,,y
9,bob,3000,0,100,1,z
10,bob,3000,NaN,100,1,z
11,bob,,30,,1,z
`
	fields := fieldsOf(t, "job_id=job", "user=who", "submit_s=submitted at:ms", "duration_s=runtime:ms", "gpus=share:percent", "cpus=cores:milli", "?model=net|model")
	want := []datasets.Row{
		{Trace: "jobs", JobID: "7", User: word("ann"), SubmitS: some(0), DurationS: some(1.5), GPUs: some(0.5), CPUs: some(2)},
		{Trace: "jobs", JobID: "8", SubmitS: some(2.0005), DurationS: some(0.25), GPUs: some(2)},
	}
	for name, data := range map[string][]byte{"jobs.csv": []byte(in), "jobs.csv.gz": tracetest.Gzip(t, []byte(in))} {
		r, rows := load(t, tracetest.Write(t, name, data), Options{Fields: fields})
		if !slices.Equal(rows, want) {
			t.Errorf("%s: %+v", name, rows)
		}
		if got := r.String(); got != "5 rows in, 2 kept, 0 dropped by negative-time, 2 dropped by no-duration, 1 dropped by no-gpus" || r.StartS != 0.5 {
			t.Errorf("%s: %s, from %v", name, got, r.StartS)
		}
	}
	r, _ := load(t, tracetest.Write(t, "x", []byte(in)), Options{Fields: fields, Rules: []string{"none"}, Trace: "all"})
	if r.Rows != 5 || r.Kept != 5 {
		t.Errorf("without rules: %v", r)
	}
}

// Dates, and the times that follow from them.
func TestImportMoments(t *testing.T) {
	const in = `submit;start;end;due
2020-06-09 18:41:01;2020-06-09 18:41:31;2020-06-09 19:41:31;2020-06-10 00:00:00
2020-06-09 18:40:01;;2020-06-09 18:40:02;
2020-06-09 18:42:01;2020-06-09 18:43:01;2020-06-09 18:42:31;
2020-06-09 18:42:01;2020-06-09 18:41:01;2020-06-09 18:42:31;
`
	fields := fieldsOf(t, "submit_s=submit:date", "start_s=start:date", "end_s=end:date", "deadline_s=due:date")
	r, rows := load(t, tracetest.Write(t, "log.csv", []byte(in)), Options{Fields: fields, Comma: ';'})
	want := []datasets.Row{
		{Trace: "log", JobID: "000001", SubmitS: some(60), QueueS: some(30), DurationS: some(3600), DeadlineS: some(19199)},
		{Trace: "log", JobID: "000002", SubmitS: some(0), DurationS: some(1)},
		{Trace: "log", JobID: "000004", SubmitS: some(120), DurationS: some(90)}, // it started before it was submitted
	}
	if !slices.Equal(rows, want) || r.DroppedBy("negative-time") != 1 || r.Start.String() != "2020-06-09 18:40:01 +0000 UTC" {
		t.Errorf("%+v\n%v from %v", rows, r, r.Start)
	}
	// Numbers since any moment, in a file without names; a job that starts at once.
	hours := fieldsOf(t, "submit_s=a:h", "end_s=b:h", "gpus=c")
	_, rows = load(t, tracetest.Write(t, "log", []byte("-1\t1\t4\n1\t1.5\t8\n")), Options{Fields: hours, Comma: '\t', Header: []string{"a", "b", "c"}})
	want = []datasets.Row{
		{Trace: "log", JobID: "000001", SubmitS: some(0), DurationS: some(7200), GPUs: some(4)},
		{Trace: "log", JobID: "000002", SubmitS: some(7200), DurationS: some(1800), GPUs: some(8)},
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
}

// Without a mapping, the schema's own names are taken: a trace imports as
// itself.
func TestImportOfATrace(t *testing.T) {
	full := datasets.Row{Trace: "in", JobID: "a", User: word("u"), VC: word("v"), Group: word("g"), SubmitS: some(0), QueueS: some(1), DurationS: some(2), GPUs: some(3),
		CPUs: some(4), BatchSize: some(5), DeadlineS: some(6), Status: word("s"), Model: word("m"), GPUType: word("t"), Iterations: some(7), Weight: some(8)}
	want := []datasets.Row{full, {Trace: "in", JobID: "b", SubmitS: some(9), DurationS: some(1), GPUs: some(0.5)}}
	in := filepath.Join(t.TempDir(), "in.parquet")
	if err := datasets.WriteFile(in, tracetest.All(want)); err != nil {
		t.Fatal(err)
	}
	if _, rows := load(t, in, Options{}); !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
}

// writeParquet writes a table of one text and one number column.
func writeParquet(t testing.TB, texts []string, numbers []float64) string {
	t.Helper()
	var b bytes.Buffer
	w := table.NewWriter(&b, []table.Column{{Name: "when", Kind: table.Text, Nullable: true}, {Name: "n", Kind: table.Number}})
	for i := range texts {
		if texts[i] != "-" {
			w.Text(0, texts[i])
		}
		w.Number(1, numbers[i])
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return tracetest.Write(t, "t.parquet", b.Bytes())
}

func TestImportParquet(t *testing.T) {
	in := writeParquet(t, []string{"2020-01-01T00:00:10Z", "2020-01-01 00:00:00+00:00", "-"}, []float64{1, 2, 3})
	_, rows := load(t, in, Options{Fields: fieldsOf(t, "submit_s=when:date", "gpus=n")})
	want := []datasets.Row{
		{Trace: "t", JobID: "000001", SubmitS: some(10), GPUs: some(1)},
		{Trace: "t", JobID: "000002", SubmitS: some(0), GPUs: some(2)},
		{Trace: "t", JobID: "000003", GPUs: some(3)},
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
	// One column for two fields, numbers as text and text as numbers.
	_, rows = load(t, writeParquet(t, []string{"60", "-"}, []float64{17, 1.5}), Options{Fields: fieldsOf(t, "job_id=n", "submit_s=when:min", "duration_s=when", "gpus=n"), Rules: []string{"none"}})
	want = []datasets.Row{
		{Trace: "t", JobID: "17", SubmitS: some(0), DurationS: some(60), GPUs: some(17)},
		{Trace: "t", JobID: "1.5", GPUs: some(1.5)},
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
}

func TestImportErrors(t *testing.T) {
	csv := func(text string) string { return tracetest.Write(t, "t.csv", []byte(text)) }
	parquet := writeParquet(t, []string{"then"}, []float64{-1})
	for name, c := range map[string]struct {
		in     string
		fields []string
		change func(*Options)
		want   string
	}{
		"no file":           {"none.csv", []string{"gpus=g"}, nil, "none.csv: no such file"},
		"empty":             {csv(""), []string{"gpus=g"}, nil, "is empty"},
		"missing column":    {csv("gpu\n1\n"), []string{"gpus=gpux"}, nil, `t.csv: has no column gpux (the nearest is "gpu"`},
		"nothing mapped":    {csv("gpu\n1\n"), nil, nil, "none of its columns is mapped (they are gpu)"},
		"number":            {csv("g\n1\nx\n"), []string{"gpus=g"}, nil, `t.csv: line 3: column g: "x" is not a number`},
		"negative":          {csv("g\n-1\n"), []string{"gpus=g"}, nil, "line 2: column g: is -1"},
		"infinite":          {csv("g\ninf\n"), []string{"submit_s=g"}, nil, "line 2: column g: is +Inf"},
		"too large":         {csv("g\n1e300\n"), []string{"submit_s=g:h"}, nil, "line 2: column g: is 3.6"},
		"weight":            {csv("g\n0\n"), []string{"weight=g"}, nil, "line 2: column g: is 0: it must be positive"},
		"date":              {csv("g\n1.2.2020\n"), []string{"submit_s=g:date"}, nil, `line 2: column g: "1.2.2020" is not a time`},
		"not UTF-8":         {csv("g,h\n\x82,1\n"), []string{"user=g", "gpus=h"}, nil, "line 2: column g: is not UTF-8 text"},
		"no id":             {csv("g,h\n,1\n"), []string{"job_id=g", "gpus=h"}, nil, "line 2: column g: is empty"},
		"short":             {csv("g,h\n1\n"), []string{"gpus=g"}, nil, "line 2: has 1 fields, the header has 2"},
		"twice":             {csv("g\n1\n"), []string{"gpus=g", "gpus=g"}, nil, "column gpus is mapped twice"},
		"dates and numbers": {csv("g,h\n1,1\n"), []string{"submit_s=g", "end_s=h:date"}, nil, "both must be dates, or neither"},
		"rule":              {csv("g\n1\n"), []string{"gpus=g"}, func(o *Options) { o.Rules = []string{"no-gpu"} }, `no cleaning rule "no-gpu"; the nearest is "no-gpus"`},
		"rule of no field":  {csv("g\n1\n"), []string{"gpus=g"}, func(o *Options) { o.Rules = []string{"no-duration"} }, `no cleaning rule "no-duration"`},
		"bad field":         {csv("g\n1\n"), []string{"gpus=g"}, func(o *Options) { o.Fields[0].Unit = Hour }, "column gpus cannot be in h"},
		"Parquet number":    {parquet, []string{"submit_s=when"}, nil, `t.parquet: row 1: column when: "then" is not a finite number`},
		"Parquet date":      {parquet, []string{"submit_s=when:date"}, nil, `row 1: column when: "then" is not a time`},
		"Parquet no date":   {parquet, []string{"submit_s=n:date"}, nil, "row 1: column n: holds number: a date is text"},
		"Parquet negative":  {parquet, []string{"gpus=n"}, nil, "row 1: column n: is -1"},
	} {
		o := Options{Fields: fieldsOf(t, c.fields...)}
		if c.change != nil {
			c.change(&o)
		}
		out := filepath.Join(t.TempDir(), "out.parquet")
		_, err := Import(c.in, out, o)
		if err == nil || !strings.HasPrefix(err.Error(), "generic: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) != 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}

func TestParseField(t *testing.T) {
	for text, want := range map[string]Field{
		"gpus=num_gpu":               {Column: "gpus", From: []string{"num_gpu"}},
		"submit_s = submitted at:ms": {Column: "submit_s", From: []string{"submitted at"}, Unit: Millisecond},
		"?model=a|b":                 {Column: "model", From: []string{"a", "b"}, Optional: true},
		"user=meta:owner":            {Column: "user", From: []string{"meta:owner"}},
		"end_s=meta:end:date":        {Column: "end_s", From: []string{"meta:end"}, Unit: Date},
	} {
		f, err := ParseField(text)
		if err != nil || f.String() != want.String() || f.Unit != want.Unit || f.Optional != want.Optional || !slices.Equal(f.From, want.From) {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
		if back, err := ParseField(f.String()); err != nil || back.String() != f.String() {
			t.Errorf("%q: %+v, %v", f, back, err)
		}
	}
	for text, want := range map[string]string{
		"gpus":              "it must be column=name",
		"gpus=":             "it must be column=name",
		"gpu=n":             `column "gpu" cannot be filled; the nearest is "gpus"`,
		"trace=n":           `column "trace" cannot be filled`,
		"user=n:ms":         "column user cannot be in ms",
		"duration_s=n:date": "column duration_s cannot be in date",
		"gpus=n:h":          "column gpus cannot be in h",
		"submit_s=n:milli":  "column submit_s cannot be in milli",
	} {
		if _, err := ParseField(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The jobs of GAIA, whose times are in hours or in seconds, and as another
// program read them.
func TestImportOfPublishedFiles(t *testing.T) {
	curated := tracetest.Curated(t, "pai_gaia")
	gaia := func(unit string) []Field {
		return fieldsOf(t, "submit_s=arrival_time"+unit, "duration_s=length"+unit, "cpus=cpus")
	}
	for _, c := range []struct {
		file, trace string
		fields      []Field
	}{
		{"raw/pai/gaia_pai-100k.csv.gz", "pai_gaia100k", gaia(":h")},
		{"raw/pai/gaia_pai_1k.csv.gz", "pai_gaia1k", gaia("")},
	} {
		r, rows := load(t, tracetest.Public(t, c.file), Options{Fields: c.fields, Rules: []string{"none"}})
		if want := tracetest.ManifestRows(t, c.file); r.Rows != want || len(rows) != want {
			t.Errorf("%s: %v, %d rows; the manifest says %d", c.file, r, len(rows), want)
		}
		tracetest.CheckStatistics(t, rows, c.trace)
		tracetest.Same(t, rows, curated[c.trace], func(r datasets.Row) datasets.Row {
			return datasets.Row{SubmitS: r.SubmitS, DurationS: r.DurationS, CPUs: r.CPUs}
		})
	}
}

// A Parquet trace goes through the importer unchanged, row for row.
func TestImportOfPublishedParquet(t *testing.T) {
	path := tracetest.Public(t, "curated/jobs.parquet")
	r, rows := load(t, path, Options{Rules: []string{"none"}, Trace: "all"})
	s, err := datasets.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	i := 0
	for want, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		want.Trace = "all"
		if rows[i] != want {
			t.Fatalf("row %d: %+v, want %+v", i+1, rows[i], want)
		}
		i++
	}
	if i != r.Kept || i != len(rows) {
		t.Errorf("%d rows, %v", i, r)
	}
}

// FuzzImport gives the importer arbitrary bytes: an error, or as many rows as
// it reports.
func FuzzImport(f *testing.F) {
	f.Add([]byte("id,t,d,g\n1,2020-01-01 00:00:00,3,4\n"), true)
	f.Add([]byte("id,t,d,g\n\"1\n2\",1e3,\"3\",4\n,,,\n"), false)
	parquet, err := os.ReadFile(writeParquet(f, []string{"1", "-"}, []float64{17, 1.5}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parquet, false)
	f.Fuzz(func(t *testing.T, data []byte, date bool) {
		submit := "?submit_s=t|when:ms"
		if date {
			submit = "?submit_s=t|when:date"
		}
		in := tracetest.Write(t, "in", data)
		out := filepath.Join(filepath.Dir(in), "out.parquet")
		r, err := Import(in, out, Options{Fields: fieldsOf(t, "?job_id=id", submit, "?duration_s=d|n", "?gpus=g")})
		if err != nil {
			return
		}
		dropped := 0
		for _, d := range r.Dropped {
			dropped += d.Rows
		}
		if rows := tracetest.Read(t, out); len(rows) != r.Kept || r.Kept+dropped != r.Rows {
			t.Errorf("%v, but %d rows were written", r, len(rows))
		}
	})
}
