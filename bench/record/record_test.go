package record

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(20) {
		run := randomRun(seed, int(seed*seed))
		dir := filepath.Join(t.TempDir(), "new", "run")
		mustWrite(t, dir, run)
		got, err := Open(dir)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		requireEqual(t, got, run)
		if d := mustDigest(t, got); d != got.Manifest.ResultDigest || d == "" {
			t.Errorf("seed %d: digest %q after reading, %q in the manifest", seed, d, got.Manifest.ResultDigest)
		}
	}
}

// A table of more rows than a batch holds comes back whole and in order.
func TestBatches(t *testing.T) {
	run := &Run{}
	for i := range batchRows + 1000 {
		run.Jobs = append(run.Jobs, Job{CellID: "c", Job: i, Release: float64(i) / 1e6})
	}
	dir := t.TempDir()
	mustWrite(t, dir, run)
	got, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Jobs, run.Jobs) {
		t.Error("rows changed on the way")
	}
}

func requireEqual(t *testing.T, got, want *Run) {
	t.Helper()
	same := func(table string, got, want any) {
		t.Helper()
		g, w := reflect.ValueOf(got), reflect.ValueOf(want)
		if g.Len() != w.Len() {
			t.Errorf("%s: read %d rows, wrote %d", table, g.Len(), w.Len())
			return
		}
		for i := range g.Len() {
			if x, y := g.Index(i).Interface(), w.Index(i).Interface(); !reflect.DeepEqual(x, y) {
				t.Errorf("%s: read row %d\n%+v\nwrote\n%+v", table, i, x, y)
				return
			}
		}
	}
	same("ratios", got.Ratios, want.Ratios)
	same("jobs", got.Jobs, want.Jobs)
	same("segments", got.Segments, want.Segments)
	same("solves", got.Solves, want.Solves)
	same("bounds", got.Bounds, want.Bounds)
	same("predictions", got.Predictions, want.Predictions)
	same("theorems", got.Theorems, want.Theorems)
	same("instances", got.Features, want.Features)
	same("placements", got.Placements, want.Placements)
	var a, b bytes.Buffer
	if json.Compact(&a, got.Manifest.Suite) != nil || json.Compact(&b, want.Manifest.Suite) != nil || a.String() != b.String() {
		t.Errorf("suite: read %s, wrote %s", got.Manifest.Suite, want.Manifest.Suite)
	}
	m, n := got.Manifest, want.Manifest
	m.Suite, n.Suite = nil, nil
	if !reflect.DeepEqual(m, n) {
		t.Errorf("manifest: read\n%+v\nwrote\n%+v", m, n)
	}
}

// Equal runs make equal bytes; the time of writing leaves no trace.
func TestBytesAreDeterministic(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	mustWrite(t, a, randomRun(7, 50))
	time.Sleep(2 * time.Millisecond)
	mustWrite(t, b, randomRun(7, 50))
	files, err := os.ReadDir(a)
	if err != nil || len(files) != len(Tables())+1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		x, _ := os.ReadFile(filepath.Join(a, f.Name()))
		y, _ := os.ReadFile(filepath.Join(b, f.Name()))
		if !bytes.Equal(x, y) {
			t.Errorf("%s differs", f.Name())
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Run)
		want   []string
	}{
		"NaN":             {func(r *Run) { r.Ratios[1].Cost = Some(math.NaN()) }, []string{"ratios.arrow", "row 1 ", "a/sjf", "column cost is NaN"}},
		"infinity":        {func(r *Run) { r.Jobs[0].Release = math.Inf(1) }, []string{"jobs.arrow", "row 0 ", "release_s is +Inf"}},
		"lp_solve's 1e30": {func(r *Run) { r.Bounds[0].Value = Some(-1e30) }, []string{"bounds.arrow", "value is -1e+30"}},
		"empty key":       {func(r *Run) { r.Ratios[0].Method = "" }, []string{"row 0 ", "column method is empty"}},
		"broken key":      {func(r *Run) { r.Ratios[0].Suite = "a\xff" }, []string{"column suite", "not UTF-8"}},
		"repeated key":    {func(r *Run) { r.Jobs[1].Job = 0 }, []string{"jobs.arrow: row 1 (a/fifo 0 0)", "the key of row 0"}},
		"large count":     {func(r *Run) { r.Ratios[0].Jobs = 1 << 31 }, []string{"column jobs is 2147483648"}},
		"large seed":      {func(r *Run) { r.Ratios[0].Seed = Some(int64(1<<53 + 1)) }, []string{"column seed is 9007199254740993"}},
		"not a number":    {func(r *Run) { r.Manifest.Params[0].Number = true }, []string{"column p_cluster_inter is \"10Gbps\"", "not a number"}},
		"one column for two parameters": {func(r *Run) { r.Manifest.Params = append(r.Manifest.Params, Param{Name: "Cluster inter"}) },
			[]string{`"cluster.inter" and "Cluster inter" share the column p_cluster_inter`}},
		"suite": {func(r *Run) { r.Manifest.Suite = json.RawMessage("{") }, []string{"suite cannot be read"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mustWrite(t, dir, sampleRun())
			before := snapshot(t, dir)
			run := sampleRun()
			c.change(run)
			err := Write(dir, run)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not mention %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "record: ") {
				t.Errorf("error %q", err)
			}
			if after := snapshot(t, dir); !reflect.DeepEqual(before, after) {
				t.Error("a refused run changed the directory")
			}
		})
	}
}

func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

// Writing over an older result replaces it and leaves nothing else behind.
func TestOverwrite(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, randomRun(1, 30))
	want := sampleRun()
	mustWrite(t, dir, want)
	got, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	requireEqual(t, got, want)
	if n := len(snapshot(t, dir)); n != len(Tables())+1 {
		t.Errorf("%d files", n)
	}
}

// A write that fails half way leaves nothing that opens as a whole run, and no
// stray files.
func TestInterruptedWrite(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, sampleRun())
	blocked := filepath.Join(dir, "segments.arrow") // a folder in the way makes its rename fail
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, randomRun(3, 10)); err == nil {
		t.Fatal("the write did not fail")
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "its run did not end") {
		t.Errorf("opened after a write that failed: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s is left over", e.Name())
		}
	}
}

func TestMessageOfBrokenBytes(t *testing.T) {
	run := sampleRun()
	run.Ratios[0].Message = "bad \xff byte"
	dir := t.TempDir()
	mustWrite(t, dir, run)
	got, err := Open(dir)
	if err != nil || got.Ratios[0].Message != "bad \uFFFD byte" {
		t.Errorf("%q, %v", got.Ratios[0].Message, err)
	}
}

func TestOpt(t *testing.T) {
	if (Opt[int]{}) != FromPtr[int](nil) || Some(3) != FromPtr(new(3)) || Some(0) == (Opt[int]{}) {
		t.Error("Opt does not compare by value")
	}
	if FromRat(nil).Valid || FromRat(big.NewRat(1, 2)) != Some(0.5) || Exact(nil) != "" || Exact(big.NewRat(14, 4)) != "7/2" || Exact(big.NewRat(8, 4)) != "2" {
		t.Error("rationals")
	}
	b, err := json.Marshal([]Opt[float64]{Some(0.5), {}})
	if string(b) != "[0.5,null]" || err != nil {
		t.Errorf("%s, %v", b, err)
	}
	back := []Opt[float64]{{}, Some(1.0)}
	if err := json.Unmarshal(b, &back); err != nil || back[0] != Some(0.5) || back[1].Valid || back[1].V != 0 {
		t.Errorf("%v, %v", back, err)
	}
}

func TestMachineAndVersions(t *testing.T) {
	m, v := ThisMachine(), BuildVersions()
	host, _ := os.Hostname()
	if m.Cores < 1 || m.OS == "" || m.GOMAXPROCS < 1 || v.Go == "" || v.Bench == "" {
		t.Errorf("%+v %+v", m, v)
	}
	text, err := json.Marshal(m)
	if err != nil || host != "" && len(host) > 3 && strings.Contains(string(text), host) {
		t.Errorf("the name of the machine is in %s, %v", text, err)
	}
	if m.OS == "linux" && (m.RAM < 1<<20 || m.Kernel == "") {
		t.Errorf("%+v", m)
	}
}
