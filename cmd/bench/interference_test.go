package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/record"
	"yardstick/sched"
)

// sixTasks are the tasks of the sharing model's instances.
var sixTasks = []string{"bert", "cifar10", "deepspeech2", "imagenet", "ncf", "yolov3"}

// throughputs writes a table as Gavel's simulator has it, of job types 0 to 5 on two
// types of GPU: alone each makes 12 steps a second; beside j, i makes 12/xi(i, j), or
// does not fit if that is 0.
func throughputs(t *testing.T, xi func(i, j int) float64) string {
	t.Helper()
	var workers []string
	for _, gpu := range []string{"v100", "k80"} {
		var jobs []string
		for i := range sixTasks {
			row := []string{`"null": 12`}
			for j := range sixTasks {
				own, other := 0.0, 0.0
				if xi(i, j) > 0 && xi(j, i) > 0 {
					own, other = 12/xi(i, j), 12/xi(j, i)
				}
				row = append(row, fmt.Sprintf(`"('type %d', 1)": [%v, %v]`, j, own, other))
			}
			jobs = append(jobs, fmt.Sprintf(`"('type %d', 1)": {%s}`, i, strings.Join(row, ", ")))
		}
		workers = append(workers, fmt.Sprintf(`"%s": {%s}`, gpu, strings.Join(jobs, ",\n")))
	}
	return write(t, "throughputs.json", "{"+strings.Join(workers, ",\n")+"}")
}

// factorsFile imports such a table with the types named as the six tasks.
func factorsFile(t *testing.T, xi func(i, j int) float64, more ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "xi.parquet")
	args := []string{"dataset", "interference", throughputs(t, xi), "-o", path, "--gpu", "v100"}
	for i, name := range sixTasks {
		args = append(args, "--task", fmt.Sprintf("%s=type %d", name, i))
	}
	if out := mustRun(t, append(args, more...)...); !strings.Contains(out, "gavel on v100, 1 GPUs, consolidated: 6 tasks") {
		t.Errorf("import:\n%s", out)
	}
	return path
}

// TestInterferenceOfAFile: what bench dataset interference writes, a suite reads:
// its instances have these factors, and a run of them is verified.
func TestInterferenceOfAFile(t *testing.T) {
	xi := func(i, j int) float64 { return 1 + float64(i+2*j)/8 }
	path := factorsFile(t, xi)
	built := filepath.Join(t.TempDir(), "in.json")
	common := []string{"instance", "build", "builtin:philly-like", "-s", "model=sharing", "-s", "gpuMemory=11GB", "-s", "slice.jobs=6", "-o", built}
	mustRun(t, append(common, "-s", "sharing.interference="+path)...)
	check := func(want func(i, j int) float64) {
		t.Helper()
		f, err := os.Open(built)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in, err := sched.ReadInstance(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range in.Interference {
			for j, v := range row {
				if w := want(i, j); v < w*(1-1e-12) || v > w*(1+1e-12) {
					t.Errorf("%s beside %s: %v, want %v", sixTasks[i], sixTasks[j], v, w)
				}
			}
		}
	}
	check(xi)

	// Pairs that do not fit get sharing.xi.
	holes := func(i, j int) float64 {
		if i+j == 3 {
			return 0
		}
		return xi(i, j)
	}
	mustRun(t, append(common, "-s", "sharing.interference="+factorsFile(t, holes), "-s", "sharing.xi=7.5")...)
	check(func(i, j int) float64 {
		if i+j == 3 {
			return 7.5
		}
		return xi(i, j)
	})

	dir := filepath.Join(t.TempDir(), "out")
	mustRun(t, "run", write(t, "s.yaml", fmt.Sprintf(`
instances:
  - name: measured
    trace: builtin:philly-like
    slice: {jobs: 6}
    cluster: {servers: 1, gpusPerServer: 4}
    model: sharing
    gpuMemory: 11GB
    sharing: {interference: %q}
methods: [sjf-bsbf, sjf-ffs]
references: [theta-srpt]
`, path)), "-o", dir, "-q")
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Ratios) != 2 {
		t.Errorf("%d rows", len(run.Ratios))
	}
	for _, r := range run.Ratios {
		if !r.Cost.Valid || !r.LowerBound.Valid || r.Cost.V < r.LowerBound.V {
			t.Errorf("%+v", r)
		}
	}
	if !slices.ContainsFunc(run.Manifest.Inputs, func(i record.Input) bool { return i.Name == path }) {
		t.Errorf("the table is not among the inputs %v", run.Manifest.Inputs)
	}
}

// TestInterferenceErrors: what is wrong with a table is said in one line.
func TestInterferenceErrors(t *testing.T) {
	xi := func(i, j int) float64 { return 2 }
	several := filepath.Join(t.TempDir(), "several.parquet")
	mustRun(t, "dataset", "interference", throughputs(t, xi), "-o", several)
	unnamed := filepath.Join(t.TempDir(), "unnamed.parquet")
	mustRun(t, "dataset", "interference", throughputs(t, xi), "-o", unnamed, "--gpu", "k80")
	holes := factorsFile(t, func(i, j int) float64 { return float64(2 * (i + j)) })
	trace := write(t, "x.parquet", "not Parquet")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"has 2 settings", []string{"-s", "sharing.interference=" + several}},
		{`task "bert" is not in the table`, []string{"-s", "sharing.interference=" + unnamed}},
		{`"bert" beside "bert" does not fit or was not measured`, []string{"-s", "sharing.interference=" + holes}},
		{"none.parquet", []string{"-s", "sharing.interference=none.parquet"}},
		{"x.parquet", []string{"-s", "sharing.interference=" + trace}},
		{"xi is 0.5", []string{"-s", "sharing.interference=" + holes, "-s", "sharing.xi=0.5"}},
		{"the gang model does not know", []string{"-s", "sharing.interference=" + holes, "-s", "model=gang"}},
	} {
		args := append([]string{"instance", "build", "builtin:philly-like", "-s", "model=sharing", "-s", "gpuMemory=11GB", "-o", filepath.Join(t.TempDir(), "in.json")}, c.args...)
		if code, _, err := benchCommand(t, args...); code != exitUsage || !strings.Contains(err, c.want) || strings.Count(err, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q, want %q", c.args, code, err, c.want)
		}
	}
	for want, args := range map[string][]string{
		"it has: gavel on k80":                {"--gpu", "t4"},
		`--placement is "near"`:               {"--placement", "near"},
		`task "type 9" is not in the table`:   {"--task", "bert=type 9"},
		"has no pairs with these --gpu":       {"--gpus", "3"},
		"bert must be formatted as key=value": {"--task", "bert"},
	} {
		args := append([]string{"dataset", "interference", throughputs(t, xi), "-o", filepath.Join(t.TempDir(), "xi.parquet")}, args...)
		if code, _, err := benchCommand(t, args...); code != exitUsage || !strings.Contains(err, want) || strings.Count(err, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q, want %q", args, code, err, want)
		}
	}
}
