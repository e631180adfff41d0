package tiresias

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/generic"
	"yardstick/datasets/importer"
	"yardstick/datasets/tracetest"
)

const small = `job_id,num_gpu,submit_time,iterations,model_name,duration,interval
0,1,5,606,vgg19,164,30
1,8,30,133,vgg11,147,23
2,0,40,133,vgg11,147,23
3,2,40,133,,0,23
`

func load(t *testing.T, in string, o Options) (*importer.Report, []datasets.Row) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.parquet")
	r, err := Import(in, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, tracetest.Read(t, out)
}

func TestImport(t *testing.T) {
	row := func(id string, submit, duration, gpus, iterations float64, model string) datasets.Row {
		return datasets.Row{Trace: "tiresias", JobID: id, SubmitS: datasets.Some(submit), DurationS: datasets.Some(duration), GPUs: datasets.Some(gpus),
			Iterations: datasets.Some(iterations), Model: datasets.Some(model)}
	}
	r, rows := load(t, tracetest.Write(t, "60_job.csv", []byte(small)), Options{})
	if want := []datasets.Row{row("0", 0, 164, 1, 606, "vgg19"), row("1", 25, 147, 8, 133, "vgg11")}; !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
	if r.String() != "4 rows in, 2 kept, 0 dropped by negative-time, 1 dropped by no-duration, 1 dropped by no-gpus" {
		t.Errorf("%v", r)
	}
	_, rows = load(t, tracetest.Write(t, "trace1.csv", tracetest.Gzip(t, []byte(small))), Options{Unit: generic.Millisecond, Trace: "muri"})
	if rows[1].SubmitS.V != 0.025 || rows[1].DurationS.V != 0.147 || rows[1].Trace != "muri" {
		t.Errorf("%+v", rows[1])
	}
	_, rows = load(t, tracetest.Write(t, "more.csv", []byte("job_id,num_gpu,submit_time,duration,batch_size\n7,1,0,1,32\n")), Options{})
	if rows[0].BatchSize.V != 32 || rows[0].Iterations.OK {
		t.Errorf("%+v", rows[0])
	}
}

func TestImportErrors(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"column": {"job_id,gpus,submit_time,duration\n", "has no column num_gpu"},
		"number": {small + "4,two,40,133,,0,23\n", `line 6: column num_gpu: "two" is not a number`},
		"empty":  {"", "is empty"},
	} {
		in := tracetest.Write(t, "in.csv", []byte(c.data))
		if _, err := Import(in, filepath.Join(t.TempDir(), "out.parquet"), Options{}); err == nil || !strings.HasPrefix(err.Error(), "tiresias: "+in) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Import("in", "out", Options{Unit: generic.Date}); err == nil {
		t.Error("dates were accepted")
	}
}

// The published files against their manifest, and against the rows and the
// statistics that another program made of them.
func TestImportOfPublishedFiles(t *testing.T) {
	curated := tracetest.Curated(t, "tiresias", "muri", "chronus")
	for _, c := range []struct {
		file, trace string
		unit        generic.Unit
	}{
		{"raw/tiresias/60_job.csv.gz", "tiresias_60", generic.None},
		{"raw/muri/trace1.csv.gz", "muri_trace1", generic.Millisecond},
		{"raw/muri/trace2.csv.gz", "muri_trace2", generic.Millisecond},
		{"raw/muri/cluster_trace.csv.gz", "", generic.Millisecond},
		{"raw/philly/chronus_trace_job_Philly_MIX1.csv.gz", "chronus_mix1", generic.Minute},
		{"raw/philly/chronus_trace_job_Philly_SLO.csv.gz", "chronus_slo", generic.Minute},
	} {
		r, rows := load(t, tracetest.Public(t, c.file), Options{Unit: c.unit, Rules: []string{"none"}})
		if want := tracetest.ManifestRows(t, c.file); r.Rows != want || len(rows) != want {
			t.Errorf("%s: %v, %d rows; the manifest says %d", c.file, r, len(rows), want)
		}
		cleaned, _ := load(t, tracetest.Public(t, c.file), Options{Unit: c.unit})
		t.Logf("%s: %v", c.file, cleaned)
		if c.trace == "" {
			continue
		}
		tracetest.CheckStatistics(t, rows, c.trace)
		tracetest.Same(t, rows, curated[c.trace], func(r datasets.Row) datasets.Row {
			return datasets.Row{JobID: r.JobID, VC: r.VC, SubmitS: r.SubmitS, DurationS: r.DurationS, GPUs: r.GPUs, Model: r.Model, BatchSize: r.BatchSize}
		})
	}
}

// FuzzImport gives the importer arbitrary bytes: an error, or as many rows as
// it reports.
func FuzzImport(f *testing.F) {
	f.Add([]byte(small), uint8(0))
	f.Add([]byte("job_id,num_gpu,submit_time,duration\n\"a\",1,-3,1e9\n"), uint8(generic.Hour))
	f.Fuzz(func(t *testing.T, data []byte, unit uint8) {
		in := tracetest.Write(t, "in", data)
		out := filepath.Join(filepath.Dir(in), "out.parquet")
		r, err := Import(in, out, Options{Unit: generic.Unit(unit % uint8(generic.Date))})
		if err == nil && len(tracetest.Read(t, out)) != r.Kept {
			t.Errorf("%v", r)
		}
	})
}
