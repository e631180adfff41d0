package interference

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/profile"
)

const shared = "../../../shared/data/"

// The file's shape, with every case: a pair in both directions, one in one
// direction, a pair with itself, one that does not fit, noise, unequal numbers
// of GPUs, a contradiction, and GPUs on several servers.
const small = `{
 "v100": {
  "('LM (batch size 5)', 1)": {
   "null": 100,
   "('LM (batch size 5)', 1)": [40, 50],
   "('A3C', 1)": [80, 5],
   "('CycleGAN', 1)": [0, 0],
   "('A3C', 2)": [1, 1]
  },
  "('A3C', 1)": {"null": 10, "('LM (batch size 5)', 1)": [4, 80], "('CycleGAN', 1)": [10.5, 4]},
  "('CycleGAN', 1)": {"null": 2.0}
 },
 "v100_unconsolidated": {
  "(\"it's\", 2)": {"null": 8, "(\"it's\", 2)": [2, 2]}
 }
}
`

func importSmall(t *testing.T, text string) (*Table, *Report) {
	t.Helper()
	table, report, err := ImportGavel("small.json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return table, report
}

func TestImportGavel(t *testing.T) {
	table, report := importSmall(t, small)
	one := Setting{"gavel", "v100", Consolidated, 1}
	two := Setting{"gavel", "v100", Spread, 2}
	null := datasets.Opt[float64]{}
	lm := "LM (batch size 5)"
	want := []Row{
		{one, "A3C", "CycleGAN", datasets.Some(1.0)}, // 10/10.5, noise
		{one, "A3C", lm, datasets.Some(2.5)},         // its own entry, 10/4, against 10/5 in the other
		{one, "CycleGAN", "A3C", null},               // set below
		{one, "CycleGAN", lm, null},
		{one, lm, "A3C", datasets.Some(1.25)},
		{one, lm, "CycleGAN", null},
		{one, lm, lm, datasets.Some(2.5)},
		{two, "it's", "it's", datasets.Some(4.0)},
	}
	want[2].Xi = datasets.Some(1.0) // 2/4: noise too
	if got := table.Rows(); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if want := (Report{Entries: 7, Rows: 8, Measured: 6, Clamped: 2, UnequalScale: 1, Conflicts: 1}); *report != want {
		t.Errorf("got  %+v\nwant %+v", *report, want)
	}
	if got := table.Settings(); !slices.Equal(got, []Setting{one, two}) {
		t.Errorf("settings %v", got)
	}
}

func TestMatrix(t *testing.T) {
	table, _ := importSmall(t, small)
	one := Setting{"gavel", "v100", Consolidated, 1}
	tasks := []string{"LM (batch size 5)", "A3C", "CycleGAN"}
	if _, _, err := table.Matrix(one, tasks, 0); err == nil || !strings.Contains(err.Error(), "does not fit or was not measured") {
		t.Errorf("a missing pair was filled in unasked: %v", err)
	}
	got, filled, err := table.Matrix(one, tasks, 9)
	want := [][]float64{{2.5, 1.25, 9}, {2.5, 9, 1}, {9, 1, 9}}
	if err != nil || filled != 4 || !slices.EqualFunc(got, want, slices.Equal[[]float64]) {
		t.Errorf("%v, %d filled, %v", got, filled, err)
	}
	for _, bad := range []float64{0.5, math.Inf(1), math.NaN()} {
		if _, _, err := table.Matrix(one, tasks, bad); err == nil {
			t.Errorf("%v was taken as xi", bad)
		}
	}
	if _, _, err := table.Matrix(one, []string{"A3B"}, 9); err == nil || !strings.Contains(err.Error(), `the nearest is "A3C"`) {
		t.Error(err)
	}
	if _, _, err := table.Matrix(Setting{}, nil, 9); err == nil {
		t.Error("a setting that is not there has a matrix")
	}
}

// TestSelectAndRename: the pairs of some settings, and of some tasks under other names.
func TestSelectAndRename(t *testing.T) {
	table, _ := importSmall(t, small)
	one := table.Select(func(s Setting) bool { return s.GPUs == 1 })
	if got := one.Settings(); len(got) != 1 || got[0].GPUs != 1 || len(one.Rows()) != 7 || len(table.Rows()) != 8 {
		t.Errorf("%v, %d rows", got, len(one.Rows()))
	}
	lm := "LM (batch size 5)"
	named, err := one.Rename(map[string]string{"a": "A3C", "b": lm, "c": lm})
	if err != nil {
		t.Fatal(err)
	}
	s := one.Settings()[0]
	if got := named.Tasks(s); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("tasks %v", got)
	}
	for _, a := range []string{"b", "c"} {
		for _, b := range []string{"b", "c"} {
			if xi, ok := named.Xi(s, a, b); !ok || xi != 2.5 {
				t.Errorf("%s beside %s: %v, %t", a, b, xi, ok)
			}
		}
		if xi, ok := named.Xi(s, a, "a"); !ok || xi != 1.25 {
			t.Errorf("%s beside a: %v, %t", a, xi, ok)
		}
	}
	if _, ok := named.Xi(s, "a", "a"); ok {
		t.Error("a beside a was not measured")
	}
	if _, err := one.Rename(map[string]string{"a": "A3B"}); err == nil || !strings.Contains(err.Error(), `the nearest is "A3C"`) {
		t.Error(err)
	}
}

func TestGavelErrors(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"empty":       {"", "not JSON: unexpected EOF"},
		"list":        {"[]", "the file is [: it must be an object"},
		"cut off":     {small[:200], "not JSON: unexpected EOF"},
		"two tables":  {"{} {}", "something follows"},
		"worker":      {"{\"v100\":\n3}", "line 2: worker v100 is 3"},
		"job":         {"{\"v100\":\n{\"LM\": {}}}", `line 2: worker v100: "LM" is not a job`},
		"no GPUs":     {`{"v100": {"('LM', 0)": {}}}`, "has 0 GPUs"},
		"partner":     {`{"v100": {"('LM', 1)": {"A": [1, 1]}}}`, `job ('LM', 1): "A" is not a job`},
		"number":      {`{"v100": {"('LM', 1)": {"null": "1"}}}`, "partner null: 1 is no throughput"},
		"negative":    {`{"v100": {"('LM', 1)": {"null": -1}}}`, "-1 is no throughput"},
		"too large":   {`{"v100": {"('LM', 1)": {"null": 1e999}}}`, "not JSON"},
		"one":         {`{"v100": {"('LM', 1)": {"('LM', 1)": [1]}}}`, "] is no throughput"},
		"three":       {`{"v100": {"('LM', 1)": {"('LM', 1)": [1, 1, 1]}}}`, "list of 2"},
		"no list":     {`{"v100": {"('LM', 1)": {"('LM', 1)": 1}}}`, "list of 2"},
		"twice":       {`{"v100": {"('LM', 1)": {"null": 1, "null": 2}}}`, "null is there twice"},
		"never alone": {`{"v100": {"('LM', 1)": {"('LM', 1)": [1, 1]}}}`, "has no throughput alone"},
		"same name":   {`{"v100": {"('LM', 1)": {"null": 1, "('LM', 1)": [1, 1], "(\"LM\", 1)": [1, 1]}}}`, "there twice"},
	} {
		table, _, err := ImportGavel("t.json", strings.NewReader(c.data))
		if err == nil || !strings.HasPrefix(err.Error(), "interference: t.json: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if table != nil {
			t.Errorf("%s: an error with a table", name)
		}
	}
}

func TestRowsAreChecked(t *testing.T) {
	s := Setting{"x", "y", Consolidated, 1}
	good := Row{s, "a", "b", datasets.Some(1.5)}
	bad := map[string]Row{
		"below 1":   {s, "a", "b", datasets.Some(0.99)},
		"NaN":       {s, "a", "b", datasets.Some(math.NaN())},
		"infinite":  {s, "a", "b", datasets.Some(math.Inf(1))},
		"not UTF-8": {s, "a", "\x82", datasets.Some(1.0)},
		"no task":   {s, "", "b", datasets.Some(1.0)},
		"no GPUs":   {Setting{"x", "y", Spread, 0}, "a", "b", datasets.Some(1.0)},
		"placement": {Setting{"x", "y", "", 1}, "a", "b", datasets.Some(1.0)},
		"no source": {Setting{"", "y", Spread, 1}, "a", "b", datasets.Some(1.0)},
	}
	for name, r := range bad {
		if _, err := New([]Row{r}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := New([]Row{good, good}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("the same pair twice: %v", err)
	}
}

func TestParquet(t *testing.T) {
	for name, table := range map[string]*Table{"gavel": first(importSmall(t, small)), "synthetic": Synthetic(), "empty": {}} {
		path := filepath.Join(t.TempDir(), "xi.parquet")
		if err := table.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		back, err := ReadFile(path)
		if err != nil || !slices.Equal(back.Rows(), table.Rows()) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("%s: left behind %v", name, left)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// Damage anywhere ends in an error or changes nothing.
		for i := range data {
			damaged := bytes.Clone(data)
			damaged[i] ^= 1 << (i % 8)
			got, err := read("damaged", damaged)
			if err == nil && !slices.Equal(got.Rows(), table.Rows()) {
				t.Fatalf("%s: damage at byte %d went unnoticed", name, i)
			}
		}
	}
	if _, err := ReadFile("../philly-like.parquet"); err == nil || !strings.Contains(err.Error(), "is not in the schema") {
		t.Errorf("a trace was read as a table: %v", err)
	}
	if err := Synthetic().WriteFile(filepath.Join(t.TempDir(), "no", "xi.parquet")); err == nil {
		t.Error("written to a folder that is not there")
	}
}

func first[A, B any](a A, _ B) A { return a }

func TestSynthetic(t *testing.T) {
	table := Synthetic()
	s := table.Settings()
	loads := SyntheticLoads()
	if len(s) != 1 || s[0].Source != SyntheticSource || len(table.Rows()) != len(loads)*len(loads) {
		t.Fatalf("%v, %d rows", s, len(table.Rows()))
	}
	tasks := table.Tasks(s[0])
	for _, a := range profile.Architectures() {
		if !slices.Contains(tasks, a.Model) {
			t.Errorf("%s has a profile but no xi", a.Model)
		}
	}
	if _, filled, err := table.Matrix(s[0], tasks, 0); err != nil || filled != 0 {
		t.Errorf("%d pairs missing: %v", filled, err)
	}
	for _, r := range table.Rows() {
		if !(r.Xi.V >= 1 && r.Xi.V <= 2) || r.Xi.V != math.Round(r.Xi.V*1000)/1000 {
			t.Errorf("%+v", r)
		}
	}
}

// The two-job model against what it must be at its corners, and against a
// simulation of two jobs that take turns.
func TestProcessorSharing(t *testing.T) {
	for _, c := range [][4]float64{{0, 0, 1, 1}, {1, 1, 2, 2}, {0, 1, 1, 1}, {1, 0, 1, 1}, {0.5, 0.5, 1.309017, 1.309017}} {
		a, b := ProcessorSharing(c[0], c[1])
		if math.Abs(a-c[2]) > 1e-6 || math.Abs(b-c[3]) > 1e-6 {
			t.Errorf("loads %v, %v: %v, %v, want %v, %v", c[0], c[1], a, b, c[2], c[3])
		}
	}
	for a := 0.0; a <= 1; a += 0.05 {
		for b := 0.0; b <= 1; b += 0.05 {
			xa, xb := ProcessorSharing(a, b)
			ya, yb := ProcessorSharing(b, a)
			if xa != yb || xb != ya {
				t.Errorf("loads %v, %v: not symmetric", a, b)
			}
			more, _ := ProcessorSharing(a, min(b+0.05, 1))
			if !(xa >= 1 && xa <= 2) || more < xa-1e-12 {
				t.Errorf("loads %v, %v: xi %v, beside a busier partner %v", a, b, xa, more)
			}
			// The GPU cannot do more work than there is time.
			if a/xa+b/xb > 1+1e-9 {
				t.Errorf("loads %v, %v: the GPU works %v of the time", a, b, a/xa+b/xb)
			}
		}
	}
}

// Gavel's published table against the ratios that another program computed.
func TestPublishedThroughputs(t *testing.T) {
	table, report := published(t)
	t.Logf("%v", report)
	if report.UnequalScale != 0 || report.Rows < report.Entries/2 || report.Measured == 0 {
		t.Errorf("%v", report)
	}
	pairs, checked, clamped := curated(t), 0, 0
	for _, p := range pairs {
		for _, d := range []struct {
			task, partner string
			ratio         float64
		}{{p.job1, p.job2, p.ratio1}, {p.job2, p.job1, p.ratio2}} {
			xi, ok := table.Xi(p.Setting, d.task, d.partner)
			if ok != p.fits {
				t.Fatalf("%v, %s beside %s: xi %v (%v), the other program says %v", p.Setting, d.task, d.partner, xi, ok, p.fits)
			}
			if !ok {
				continue
			}
			checked++
			want := 1 / d.ratio
			if want < 1 {
				clamped++
				want = 1
			}
			// Printed with five decimals.
			if ratio := 1 / xi; math.Abs(ratio-min(d.ratio, 1)) > 6e-6 {
				t.Fatalf("%v, %s beside %s: xi %v, want %v", p.Setting, d.task, d.partner, xi, want)
			}
		}
	}
	t.Logf("%d pairs of the other program, %d ratios compared, %d of them above 1", len(pairs), checked, clamped)
	if len(pairs) < 1000 || checked < 1000 {
		t.Error("hardly anything was compared")
	}
}

type curatedPair struct {
	Setting
	job1, job2     string
	fits           bool
	ratio1, ratio2 float64
}

// curated reads the pairs of Gavel that another program took from the file.
func curated(t *testing.T) []curatedPair {
	t.Helper()
	records, err := csv.NewReader(unzip(t, shared+"curated/interference_pairs.csv.gz")).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var pairs []curatedPair
	for _, r := range records[1:] {
		if r[0] != "gavel" {
			continue
		}
		gpu, spread := strings.CutSuffix(r[1], "_unconsolidated")
		p := curatedPair{Setting: Setting{"gavel", gpu, Consolidated, 0}, job1: r[2], job2: r[3], fits: r[6] == "1"}
		if spread {
			p.Placement = Spread
		}
		if p.GPUs, err = strconv.Atoi(r[4]); err != nil {
			t.Fatal(err)
		}
		if p.fits {
			p.ratio1, err = strconv.ParseFloat(r[7], 64)
			if err == nil {
				p.ratio2, err = strconv.ParseFloat(r[8], 64)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		pairs = append(pairs, p)
	}
	return pairs
}

func published(t *testing.T) (*Table, *Report) {
	t.Helper()
	table, report, err := ImportGavel("simulation_throughputs.json", unzip(t, shared+"raw/gavel/simulation_throughputs.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return table, report
}

func unzip(t *testing.T, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// FuzzImportGavel gives the importer arbitrary bytes: an error, or a table that
// survives being written and read.
func FuzzImportGavel(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"v100": {"('LM', 1)": {"null": 1e-300, "('LM', 1)": [1e300, 0]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, report, err := ImportGavel("fuzz", bytes.NewReader(data))
		if err != nil {
			return
		}
		if report.Rows != len(table.rows) || report.Measured > report.Rows || report.Clamped > report.Measured {
			t.Errorf("%+v for %d rows", report, len(table.rows))
		}
		roundTrip(t, table)
	})
}

// FuzzRead gives the reader arbitrary bytes as a Parquet file.
func FuzzRead(f *testing.F) {
	for _, table := range []*Table{{}, {Synthetic().rows[:3]}} {
		var b bytes.Buffer
		if err := table.Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := read("fuzz", data)
		if err == nil {
			roundTrip(t, table)
		}
	})
}

func roundTrip(t *testing.T, table *Table) {
	t.Helper()
	var b bytes.Buffer
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := read("back", b.Bytes())
	if err != nil || !slices.Equal(back.rows, table.rows) {
		t.Errorf("not the same after writing and reading: %v", err)
	}
}
