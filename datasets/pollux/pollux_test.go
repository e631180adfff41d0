package pollux

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/importer"
	"yardstick/datasets/tracetest"
)

const small = `name,time,application,num_replicas,batch_size
cifar10-0,107,cifar10,6,2048
deepspeech2-1,110.5,deepspeech2,0,320
bert-2,110.5,bert,12,
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
	want := []datasets.Row{
		{Trace: "pollux", JobID: "cifar10-0", SubmitS: datasets.Some(0.0), Model: datasets.Some("cifar10"), GPUs: datasets.Some(6.0), BatchSize: datasets.Some(2048.0)},
		{Trace: "pollux", JobID: "bert-2", SubmitS: datasets.Some(3.5), Model: datasets.Some("bert"), GPUs: datasets.Some(12.0)},
	}
	for name, data := range map[string][]byte{
		"plain": []byte(small), "gzip": tracetest.Gzip(t, []byte(small)), "num_gpus": []byte(strings.Replace(small, "num_replicas", "num_gpus", 1)),
	} {
		r, rows := load(t, tracetest.Write(t, "workload-1.csv", data), Options{})
		if !slices.Equal(rows, want) || r.StartS != 107 || r.String() != "3 rows in, 2 kept, 0 dropped by negative-time, 1 dropped by no-gpus" {
			t.Errorf("%s: %+v\n%v", name, rows, r)
		}
	}
}

func TestImportErrors(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"column": {"name,time,app,num_replicas,batch_size\n", "has no column application"},
		"number": {small + "x,1,bert,1,x\n", `line 5: column batch_size: "x" is not a number`},
		"no id":  {small + ",1,bert,1,1\n", "line 5: column name: is empty"},
		"empty":  {"", "is empty"},
	} {
		in := tracetest.Write(t, "in.csv", []byte(c.data))
		if _, err := Import(in, filepath.Join(t.TempDir(), "out.parquet"), Options{}); err == nil || !strings.HasPrefix(err.Error(), "pollux: "+in) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every published workload of Pollux and Sia against the manifest, the rows
// that another program made of it, and where there are any, its statistics.
func TestImportOfPublishedFiles(t *testing.T) {
	curated := tracetest.Curated(t, "pollux", "sia")
	for pattern, trace := range map[string]func(parts []string) string{
		"raw/pollux/simulator/workloads*/*.csv.gz": func(p []string) string { return "pollux/" + p[len(p)-2] + "/" },
		"raw/sia/workloads/*/*.csv.gz":             func(p []string) string { return "sia/" + p[len(p)-2] + "/" },
		"raw/sia/workloads/scale/*/*.csv.gz":       func(p []string) string { return "sia_scale/" + p[len(p)-2] + "/" },
	} {
		paths, names := tracetest.PublicFiles(t, pattern)
		for i, path := range paths {
			r, rows := load(t, path, Options{})
			if want := tracetest.ManifestRows(t, names[i]); r.Rows != want || len(rows) != want {
				t.Errorf("%s: %v, %d rows; the manifest says %d", names[i], r, len(rows), want)
			}
			name := trace(strings.Split(names[i], "/")) + strings.TrimSuffix(filepath.Base(path), ".csv.gz")
			tracetest.Same(t, rows, curated[name], func(r datasets.Row) datasets.Row {
				return datasets.Row{JobID: r.JobID, SubmitS: r.SubmitS, DurationS: r.DurationS, GPUs: r.GPUs, Model: r.Model, BatchSize: r.BatchSize}
			})
			if strings.HasSuffix(name, "/workload-1") && !strings.HasPrefix(name, "sia_scale") {
				tracetest.CheckStatistics(t, rows, name)
			}
		}
		t.Logf("%s: %d files", pattern, len(paths))
	}
}

// FuzzImport gives the importer arbitrary bytes: an error, or as many rows as
// it reports.
func FuzzImport(f *testing.F) {
	f.Add([]byte(small))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := tracetest.Write(t, "in", data)
		out := filepath.Join(filepath.Dir(in), "out.parquet")
		r, err := Import(in, out, Options{})
		if err == nil && len(tracetest.Read(t, out)) != r.Kept {
			t.Errorf("%v", r)
		}
	})
}
