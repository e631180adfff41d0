// Package tracetest helps the tests of importers: it writes small inputs, reads
// back what was imported, and holds it against the public traces and the
// statistics of them that some machines have beside the repository.
package tracetest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"yardstick/datasets"
)

// folder is where the public traces are, seen from a package two below the
// repository's root.
const folder = "../../../shared/data/"

// Public returns the path of a public file, and skips the test where there are
// none.
func Public(t testing.TB, file string) string {
	t.Helper()
	path := filepath.Join(folder, file)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	return path
}

// PublicFiles returns the paths of the public files that match a pattern, and
// the same below the folder of the traces, as the manifest names them.
func PublicFiles(t testing.TB, pattern string) (paths, names []string) {
	t.Helper()
	Public(t, "MANIFEST.csv")
	paths, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no public file matches %s: %v", pattern, err)
	}
	for _, p := range paths {
		name, err := filepath.Rel(folder, p)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	return paths, names
}

func records(t testing.TB, file string) [][]string {
	t.Helper()
	f, err := os.Open(Public(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := csv.NewReader(f).ReadAll()
	if err != nil || len(list) < 2 {
		t.Fatalf("%s: %v", file, err)
	}
	return list
}

// ManifestRows returns the number of rows that the manifest says a file has.
func ManifestRows(t testing.TB, file string) int {
	t.Helper()
	list := records(t, "MANIFEST.csv")
	at := slices.Index(list[0], "rows")
	for _, r := range list {
		if r[0] == file {
			n, err := strconv.Atoi(r[at])
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			return n
		}
	}
	t.Fatalf("%s is not in the manifest", file)
	return 0
}

// Write writes a file into a folder of the test's own.
func Write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Gzip compresses.
func Gzip(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Read reads a trace.
func Read(t testing.TB, path string) []datasets.Row {
	t.Helper()
	s, err := datasets.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var rows []datasets.Row
	for r, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// Curated returns the rows that another program made of the public traces whose
// names begin with one of the given texts, by trace.
func Curated(t testing.TB, prefixes ...string) map[string][]datasets.Row {
	t.Helper()
	s, err := datasets.Open(Public(t, "curated/jobs.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	traces := map[string][]datasets.Row{}
	for r, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(r.Trace, p) }) {
			traces[r.Trace] = append(traces[r.Trace], r)
		}
	}
	if len(traces) == 0 {
		t.Fatalf("the other program made no traces %v", prefixes)
	}
	return traces
}

// Same fails the test unless two traces have the same rows, whatever their
// order, in the fields that keep leaves. Submission times count from each
// trace's earliest and, like durations, are compared to the microsecond.
func Same(t testing.TB, got, want []datasets.Row, keep func(datasets.Row) datasets.Row) {
	t.Helper()
	got, want = canonical(got, keep), canonical(want, keep)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d in order of submission:\ngot  %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

func canonical(rows []datasets.Row, keep func(datasets.Row) datasets.Row) []datasets.Row {
	start := math.Inf(1)
	for i := range rows {
		if rows[i].SubmitS.OK {
			start = min(start, rows[i].SubmitS.V)
		}
	}
	micro := func(v *datasets.Opt[float64]) { v.V = math.Round(v.V*1e6) / 1e6 }
	var list []datasets.Row
	for _, r := range rows {
		r = keep(r)
		if r.SubmitS.OK {
			r.SubmitS.V -= start
		}
		micro(&r.SubmitS)
		micro(&r.DurationS)
		micro(&r.QueueS)
		list = append(list, r)
	}
	number := func(a, b datasets.Opt[float64]) int { return cmp.Compare(a.V, b.V) }
	text := func(a, b datasets.Opt[string]) int { return cmp.Compare(a.V, b.V) }
	slices.SortFunc(list, func(a, b datasets.Row) int {
		return cmp.Or(number(a.SubmitS, b.SubmitS), number(a.DurationS, b.DurationS), cmp.Compare(a.JobID, b.JobID),
			text(a.Model, b.Model), number(a.GPUs, b.GPUs), number(a.Iterations, b.Iterations), number(a.CPUs, b.CPUs),
			text(a.Status, b.Status), text(a.GPUType, b.GPUType))
	})
	return list
}

// CheckStatistics holds the statistics of rows against those that another
// program computed of a public trace, to the digits that it printed.
func CheckStatistics(t testing.TB, rows []datasets.Row, trace string) {
	t.Helper()
	s, err := datasets.Describe(All(rows))
	if err != nil {
		t.Fatal(err)
	}
	gpus, durations := s.GPUs, s.Durations
	if gpus == nil {
		gpus = &datasets.DemandStatistics{}
	}
	if durations == nil {
		durations = &datasets.DurationStatistics{}
	}
	list := records(t, "STATS.csv")
	i := slices.IndexFunc(list, func(r []string) bool { return r[0] == trace })
	if i < 0 {
		t.Fatalf("there are no statistics of %s", trace)
	}
	for name, c := range map[string]struct{ got, unit float64 }{
		"jobs": {float64(s.Jobs), 1}, "span_days": {s.SpanS.V / 86400, 0.01}, "interarrival_mean_s": {s.InterArrivalS.V, 0.1},
		"gpu_mean": {gpus.Mean, 0.01}, "share_1gpu": {gpus.One, 1e-3}, "share_frac": {gpus.Fraction, 1e-3}, "share_le1": {gpus.AtMostOne, 1e-3},
		"share_2": {gpus.Two, 1e-3}, "share_4": {gpus.Four, 1e-3}, "share_8": {gpus.Eight, 1e-3}, "share_gt8": {gpus.MoreThanEight, 1e-3}, "gpu_max": {gpus.Max, 1},
		"dur_mean_s": {durations.Mean, 0.1}, "dur_p10_s": {durations.P10, 0.1}, "dur_p25_s": {durations.P25, 0.1}, "dur_p50_s": {durations.P50, 0.1},
		"dur_p75_s": {durations.P75, 0.1}, "dur_p90_s": {durations.P90, 0.1}, "dur_p99_s": {durations.P99, 0.1}, "dur_max_s": {durations.Max, 0.1},
		"gpu_hours": {s.GPUHours, 1},
	} {
		text := list[i][slices.Index(list[0], name)]
		if text == "" {
			continue
		}
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%s of %s: %v", name, trace, err)
		}
		if math.Abs(c.got-want) > c.unit/2+1e-9 {
			t.Errorf("%s of %s is %v, want %s", name, trace, c.got, text)
		}
	}
}

// All returns the rows of a slice as a sequence, for the functions that take
// one.
func All(rows []datasets.Row) iter.Seq2[datasets.Row, error] {
	return func(yield func(datasets.Row, error) bool) {
		for i := range rows {
			if !yield(rows[i], nil) {
				return
			}
		}
	}
}
