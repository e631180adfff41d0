package gavel

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/importer"
	"yardstick/datasets/tracetest"
)

// The three shapes, and a job without a batch size in its type.
const (
	msr = "Transformer (batch size 128)\tcd %s && python3 train.py -batch_size 128\t-step\t1\t246378\t7.000000\t8\n" +
		"A3C\tpython3 main.py\t--max-steps\t0\t11064\t58417.500000\t1\n"
	physical  = "ResNet-18 (batch size 64)\tpython3 main.py --batch_size 64\timage_classification/cifar10\t--num_steps\t1\t100387\t1\t2.5\t-1.000000\t0\n"
	shockwave = "LM (batch size 10)\tpython3 main.py\tlanguage_modeling\t--steps\t1\t134583\t2\tgns\t1\t-1.000000\t1418\t0\n" +
		"LM (batch size 10)\tpython3 main.py\tlanguage_modeling\t--steps\t1\t134583\t2\tstatic\t1\t-1.000000\t0\t55\n"
)

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
	some, text := datasets.Some[float64], datasets.Some[string]
	for name, c := range map[string]struct {
		data   string
		want   []datasets.Row
		report string
	}{
		"msr": {msr, []datasets.Row{
			{Trace: "gavel", JobID: "000001", VC: text("v"), SubmitS: some(0), GPUs: some(8), BatchSize: some(1024), Model: text("Transformer (batch size 128)"), Iterations: some(246378)},
			{Trace: "gavel", JobID: "000002", VC: text("v"), SubmitS: some(58410.5), GPUs: some(1), Model: text("A3C"), Iterations: some(11064)},
		}, "2 rows in, 2 kept, 0 dropped by no-gpus"},
		"physical": {physical, []datasets.Row{
			{Trace: "gavel", JobID: "000001", VC: text("v"), SubmitS: some(0), GPUs: some(1), BatchSize: some(64), Model: text("ResNet-18 (batch size 64)"), Iterations: some(100387), Weight: some(2.5)},
		}, "1 rows in, 1 kept, 0 dropped by no-gpus"},
		"shockwave": {shockwave, []datasets.Row{
			{Trace: "gavel", JobID: "000001", VC: text("v"), SubmitS: some(0), DurationS: some(1418), GPUs: some(2), BatchSize: some(20), Model: text("LM (batch size 10)"), Iterations: some(134583), Weight: some(1)},
		}, "2 rows in, 1 kept, 1 dropped by no-duration, 0 dropped by no-gpus"},
	} {
		for _, data := range [][]byte{[]byte(c.data), tracetest.Gzip(t, []byte(c.data)), []byte("\n" + strings.ReplaceAll(c.data, "\n", "\r\n"))} {
			r, rows := load(t, tracetest.Write(t, "a.trace", data), Options{VC: "v"})
			if !slices.Equal(rows, c.want) || r.String() != c.report {
				t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, r, rows, c.want)
			}
		}
	}
}

func TestImportErrors(t *testing.T) {
	line := func(old, replaced string) string { return msr + strings.Replace(msr, old, replaced, 1) }
	for name, c := range map[string]struct{ data, want string }{
		"empty":     {"", "is empty"},
		"CSV":       {"a,b,c\n", "line 1: has 1 fields with tabs between them; traces have 7, 10, 12"},
		"mixed":     {msr + physical, "line 3: has 10 fields, the header has 7"},
		"not UTF-8": {"\x82" + msr, "line 1: column job_type: is not UTF-8 text"},
		"steps":     {line("246378", "many"), `line 3: column total_steps: "many" is not a number`},
		"arrival":   {line("7.000000", "-7"), "line 3: column arrival_time: is -7"},
		"weight":    {strings.Replace(physical, "2.5", "0", 1), "line 1: column priority_weight: is 0"},
		"cut off":   {string(tracetest.Gzip(t, []byte(strings.Repeat(msr, 50))))[:60], "damaged"},
	} {
		in := tracetest.Write(t, "in.trace", []byte(c.data))
		if _, err := Import(in, filepath.Join(t.TempDir(), "out.parquet"), Options{}); err == nil || !strings.HasPrefix(err.Error(), "gavel: "+in) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Import("none", "out", Options{}); err == nil || !strings.Contains(err.Error(), "none: no such file") {
		t.Error(err)
	}
}

// The published traces against the manifest, and against the rows and the
// statistics that another program made of them.
func TestImportOfPublishedFiles(t *testing.T) {
	same := func(r datasets.Row) datasets.Row {
		return datasets.Row{VC: r.VC, SubmitS: r.SubmitS, DurationS: r.DurationS, GPUs: r.GPUs, Model: r.Model}
	}
	paths, names := tracetest.PublicFiles(t, "raw/gavel/traces/msr/*/*.trace.gz")
	curated := tracetest.Curated(t, "gavel_msr_seed0", "shockwave")
	byVC := map[string][]datasets.Row{}
	for _, r := range curated["gavel_msr_seed0"] {
		byVC[r.VC.V] = append(byVC[r.VC.V], r)
	}
	var all []datasets.Row
	for i, path := range paths {
		vc := strings.TrimSuffix(filepath.Base(path), ".trace.gz")
		r, rows := load(t, path, Options{VC: vc})
		if want := tracetest.ManifestRows(t, names[i]); r.Rows != want || len(rows) != want {
			t.Errorf("%s: %v, %d rows; the manifest says %d", names[i], r, len(rows), want)
		}
		tracetest.Same(t, rows, byVC[vc], same)
		for j := range rows { // back to the clock that the files share
			rows[j].SubmitS.V += r.StartS
		}
		all = append(all, rows...)
	}
	tracetest.CheckStatistics(t, all, "gavel_msr_seed0")
	t.Logf("%d files, %d rows", len(paths), len(all))
	for pattern, trace := range map[string]bool{"raw/gavel/traces/physical_cluster/*.trace.gz": false, "raw/shockwave/*.trace.gz": true} {
		paths, names := tracetest.PublicFiles(t, pattern)
		for i, path := range paths {
			r, rows := load(t, path, Options{})
			if want := tracetest.ManifestRows(t, names[i]); r.Rows != want || len(rows) != want {
				t.Errorf("%s: %v, %d rows; the manifest says %d", names[i], r, len(rows), want)
			}
			if trace {
				name := "shockwave_" + strings.TrimSuffix(filepath.Base(path), "_multigpu_dynamic.trace.gz")
				tracetest.Same(t, rows, curated[name], same)
			}
		}
		t.Logf("%s: %d files", pattern, len(paths))
	}
}

// FuzzImport gives the importer arbitrary bytes: an error, or as many rows as
// it reports.
func FuzzImport(f *testing.F) {
	for _, data := range []string{msr, physical, shockwave} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := tracetest.Write(t, "in", data)
		out := filepath.Join(filepath.Dir(in), "out.parquet")
		r, err := Import(in, out, Options{})
		if err == nil && len(tracetest.Read(t, out)) != r.Kept {
			t.Errorf("%v", r)
		}
	})
}
