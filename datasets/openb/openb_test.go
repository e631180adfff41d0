package openb

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/importer"
	"yardstick/datasets/tracetest"
)

const small = `name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
openb-pod-0000,12000,16384,1,460,,LS,Running,10,12537496,15
openb-pod-0001,6000,12288,4,1000,V100M16|V100M32,LS,Succeeded,20,120,20
openb-pod-0002,500,12288,0,0,,BE,Failed,30,40,30
openb-pod-0003,12000,24576,1,1000,,BE,Pending,40,50,
`

const short = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\nopenb-pod-0000,12000,16384,8,1000\nopenb-pod-0001,1500,1,0,0\n"

func load(t *testing.T, data []byte, o Options) (*importer.Report, []datasets.Row) {
	t.Helper()
	return loadFile(t, tracetest.Write(t, "openb_pod_list.csv", data), o)
}

func loadFile(t *testing.T, in string, o Options) (*importer.Report, []datasets.Row) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.parquet")
	r, err := Import(in, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, tracetest.Read(t, out)
}

func TestImport(t *testing.T) {
	some, text := datasets.Some[float64], datasets.Some[string]
	want := []datasets.Row{
		{Trace: "openb", JobID: "openb-pod-0000", SubmitS: some(0), QueueS: some(5), DurationS: some(12537481), GPUs: some(0.46), CPUs: some(12), Status: text("Running")},
		{Trace: "openb", JobID: "openb-pod-0001", SubmitS: some(10), QueueS: some(0), DurationS: some(100), GPUs: some(4), CPUs: some(6), Status: text("Succeeded"), GPUType: text("V100M16|V100M32")},
		{Trace: "openb", JobID: "openb-pod-0002", SubmitS: some(20), QueueS: some(0), DurationS: some(10), GPUs: some(0), CPUs: some(0.5), Status: text("Failed")},
		{Trace: "openb", JobID: "openb-pod-0003", SubmitS: some(30), GPUs: some(1), CPUs: some(12), Status: text("Pending")},
	}
	for name, c := range map[string]struct {
		rules []string
		kept  []int
	}{
		"none":       {[]string{"none"}, []int{0, 1, 2, 3}},
		"default":    {nil, []int{0, 1}},
		"finished":   {[]string{"finished"}, []int{1, 2}},
		"succeeded":  {[]string{"succeeded"}, []int{1}},
		"whole GPUs": {[]string{"default", "whole-gpus"}, []int{1}},
	} {
		r, rows := load(t, tracetest.Gzip(t, []byte(small)), Options{Rules: c.rules})
		var kept []datasets.Row
		for _, i := range c.kept {
			row := want[i]
			row.SubmitS.V -= want[c.kept[0]].SubmitS.V
			kept = append(kept, row)
		}
		if !slices.Equal(rows, kept) || r.Rows != 4 || r.Kept != len(kept) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, r, rows, kept)
		}
	}
}

// A list without times keeps its pods.
func TestImportWithoutTimes(t *testing.T) {
	r, rows := load(t, []byte(short), Options{Trace: "multi"})
	want := []datasets.Row{{Trace: "multi", JobID: "openb-pod-0000", GPUs: datasets.Some(8.0), CPUs: datasets.Some(12.0)}}
	if !slices.Equal(rows, want) || r.DroppedBy("no-gpus") != 1 {
		t.Errorf("%v\n%+v", r, rows)
	}
}

func TestImportErrors(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"column":     {strings.Replace(small, "num_gpu", "gpus", 1), "has no column num_gpu"},
		"half timed": {"name,num_gpu,gpu_milli,creation_time\n", "has no column"},
		"number":     {small + "x,1,1,one,1000,,,,1,2,3\n", `line 6: column num_gpu: "one" is not a number`},
		"milli":      {small + "x,1,1,1,1001,,,,1,2,3\n", "line 6: column gpu_milli: is 1001: a GPU has 1000"},
		"negative":   {small + "x,1,1,1,1000,,,,-1,2,3\n", "line 6: column creation_time: is -1"},
		"no name":    {small + ",1,1,1,1000,,,,1,2,3\n", "line 6: column name: is empty"},
		"not UTF-8":  {small + "x,1,1,1,1000,\x82,,,1,2,3\n", "line 6: column gpu_spec: is not UTF-8 text"},
		"fields":     {small + "x,1\n", "line 6: has 2 fields, the header has 11"},
		"empty":      {"", "is empty"},
	} {
		in := tracetest.Write(t, "in.csv", []byte(c.data))
		if _, err := Import(in, filepath.Join(t.TempDir(), "out.parquet"), Options{}); err == nil || !strings.HasPrefix(err.Error(), "openb: "+in) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	in := tracetest.Write(t, "in.csv", []byte(small))
	if _, err := Import(in, in+".out", Options{Rules: []string{"finish"}}); err == nil || !strings.Contains(err.Error(), `the nearest is "finished"`) {
		t.Error(err)
	}
}

// The published lists against the manifest, and against the rows and the
// statistics that another program made of them.
func TestImportOfPublishedFiles(t *testing.T) {
	paths, names := tracetest.PublicFiles(t, "raw/alibaba_gpu_v2023/openb_pod_list_*.csv.gz")
	curated := tracetest.Curated(t, "openb")
	for i, path := range paths {
		trace := "openb_" + strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "openb_pod_list_"), ".csv.gz")
		r, rows := loadFile(t, path, Options{Rules: []string{"none"}})
		if want := tracetest.ManifestRows(t, names[i]); r.Rows != want || len(rows) != want {
			t.Errorf("%s: %v, %d rows; the manifest says %d", names[i], r, len(rows), want)
		}
		tracetest.Same(t, rows, curated[trace], func(r datasets.Row) datasets.Row {
			return datasets.Row{JobID: r.JobID, SubmitS: r.SubmitS, QueueS: r.QueueS, DurationS: r.DurationS, GPUs: r.GPUs, CPUs: r.CPUs, Status: r.Status, GPUType: r.GPUType}
		})
		if trace == "openb_default" || trace == "openb_gpushare40" || trace == "openb_multigpu50" {
			tracetest.CheckStatistics(t, rows, trace)
		}
		cleaned, err := Import(path, filepath.Join(t.TempDir(), "out.parquet"), Options{})
		if err != nil || cleaned.Rows != r.Rows {
			t.Errorf("%s: %v, %v", trace, cleaned, err)
		}
		t.Logf("%s: %v", trace, cleaned)
	}
}

// FuzzImport gives the importer arbitrary bytes: an error, or as many rows as
// it reports.
func FuzzImport(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(short))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := tracetest.Write(t, "in", data)
		out := filepath.Join(filepath.Dir(in), "out.parquet")
		r, err := Import(in, out, Options{})
		if err == nil && len(tracetest.Read(t, out)) != r.Kept {
			t.Errorf("%v", r)
		}
	})
}
