package notebooks

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/internal/built"
	"yardstick/internal/python"
	"yardstick/internal/tier"
)

const (
	folder     = "../../notebooks"
	source     = "../../python/src" // of the package that the notebooks load results with
	regenerate = "run make golden-run, which makes notebooks/golden again, and look at the notebooks (make notebooks)"
)

// golden lists the golden result directories.
func golden(t *testing.T) []string {
	t.Helper()
	manifests, err := filepath.Glob(filepath.Join(folder, "golden", "*", record.ManifestName))
	if err != nil || len(manifests) < 3 {
		t.Fatalf("found the golden results %v (%v): %s", manifests, err, regenerate)
	}
	var dirs []string
	for _, m := range manifests {
		dirs = append(dirs, absolute(t, filepath.Dir(m)))
	}
	return dirs
}

// absolute is for what runs in another folder.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// script is a file of testdata.
func script(t *testing.T, name string) string { return absolute(t, filepath.Join("testdata", name)) }

// run runs a script of the notebooks' interpreter in their folder, and returns what it
// prints.
func run(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python.Interpreter(t, "nbclient"), args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PYTHONPATH="+absolute(t, source), "PYTHONDONTWRITEBYTECODE=1", "MPLBACKEND=agg", "YARDSTICK_RESULTS=")
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python %s: %v\n%s\n%s", strings.Join(args, " "), err, out, errors.Bytes())
	}
	return out
}

// The golden results are what is committed: Arrow files and manifests, well
// below a megabyte.
func TestGoldenSize(t *testing.T) {
	size := int64(0)
	for _, dir := range golden(t) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			if size += info.Size(); e.Name() != record.ManifestName && filepath.Ext(e.Name()) != ".arrow" {
				t.Errorf("%s/%s is no part of the golden results", dir, e.Name())
			}
		}
	}
	if size > 1_000_000 {
		t.Errorf("the golden results take %d bytes: make their suites smaller", size)
	}
}

// pyarrow, pandas, polars and DuckDB read the same values.
func TestGoldenReaders(t *testing.T) {
	t.Logf("%s", run(t, append([]string{script(t, "readers.py")}, golden(t)...)...))
}

// The module's table of ratios is that of bench report.
func TestRatioTable(t *testing.T) {
	for _, dir := range golden(t) {
		r, err := record.Open(dir)
		if err != nil {
			t.Fatalf("%v: %s", err, regenerate)
		}
		var got []struct {
			Objective, Method, Denominator string
			Instances, Solved, Count       int
			GeoMean                        record.Opt[float64] `json:"geo_mean"`
			Median, P95, Worst             record.Opt[float64]
			MeanCost                       record.Opt[float64] `json:"mean_cost"`
		}
		script := "import sys, json, yardstick.results as yr; print(json.dumps(yr.ratio_table(yr.load(sys.argv[1]).ratios).to_dicts()))"
		if err := json.Unmarshal(run(t, "-c", script, dir), &got); err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		k := 0
		for _, g := range report.New(r).Groups {
			for _, m := range g.Methods {
				if m.Count == 0 {
					continue // solved nothing
				}
				if k == len(got) {
					t.Fatalf("%s: the module has %d rows, bench report more", dir, k)
				}
				p := got[k]
				k++
				same := p.Objective == g.Objective && p.Method == m.Method && p.Denominator == string(m.Denominator) && p.Instances == g.Instances &&
					p.Solved == m.Solved && p.Count == m.Count && p.Median == m.Median && p.P95 == m.P95 && p.Worst == m.Worst &&
					near(p.GeoMean, m.GeoMean) && near(p.MeanCost, m.MeanCost)
				if !same {
					t.Errorf("%s: %s: bench report has %+v, the module %+v", dir, g.Family, m, p)
				}
			}
		}
		if k != len(got) {
			t.Errorf("%s: the module has %d rows, bench report %d", dir, len(got), k)
		}
	}
}

// near compares means, whose terms the two add up in different orders.
func near(a, b record.Opt[float64]) bool {
	return a.Valid == b.Valid && math.Abs(a.V-b.V) <= 1e-12*math.Abs(b.V)
}

// Every axis of every figure says what it shows, on each of the golden results
// alone, for which most figures have no data.
func TestFigures(t *testing.T) {
	t.Logf("%s", run(t, append([]string{script(t, "figures.py")}, golden(t)...)...))
}

// No figure compares methods on different numbers of instances, or shows ratios over
// bounds as if they were over optima, even if a result is not complete.
func TestFairFigures(t *testing.T) {
	t.Logf("%s", run(t, script(t, "fair.py")))
}

// Every notebook runs from its source, in a kernel of its own.
func TestNotebooks(t *testing.T) {
	tier.Slow(t)                                // half a minute
	t.Setenv("YARDSTICK_BENCH", built.Bench(t)) // for the one that makes its own results
	out := t.TempDir()
	t.Logf("%s", run(t, "execute.py", "--out", out))
	sources, err := filepath.Glob(filepath.Join(folder, "[0-9]*.py"))
	if err != nil || len(sources) != 8 {
		t.Fatalf("found the notebooks %v (%v)", sources, err)
	}
	for _, s := range sources {
		page, err := os.ReadFile(filepath.Join(out, strings.TrimSuffix(filepath.Base(s), ".py")+".html"))
		if err != nil {
			t.Error(err)
		} else if !bytes.Contains(page, []byte("data:image/png;base64")) {
			t.Errorf("%s shows no figure of the golden results", s)
		} else if n := bytes.Count(page, []byte("No description has been provided")); n > 0 {
			t.Errorf("%s has %d figures without a text for whoever cannot see them", s, n)
		}
	}
}
