package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/datasets/fetch"
)

func TestDatasetCommands(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if out := mustRun(t, "dataset", "list"); !strings.Contains(out, "builtin:philly-like") || !strings.Contains(out, "helios-earth") {
		t.Errorf("list:\n%s", out)
	}
	out := mustRun(t, "dataset", "generate", "--like", "pai", "--jobs", "3000", "--seed", "7", "-o", path("pai.parquet"))
	if !strings.Contains(out, "3,000") {
		t.Errorf("generate:\n%s", out)
	}
	out = mustRun(t, "dataset", "slice", path("pai.parquet"), "-w", "gpus=>=2", "-w", "gpus=<=4", "-o", path("gangs.parquet"))
	if strings.Contains(out, "3,000") || !strings.Contains(out, "1: 0.0%") || !strings.Contains(out, "8: 0.0%") {
		t.Errorf("slice:\n%s", out)
	}
	list := write(t, "list.csv", "when,what,long\n2020-01-01 00:00:05,2,1.5\n2020-01-01 00:00:00,1,2\n2020-01-01 00:01:00,0,2\n")
	out = mustRun(t, "dataset", "import", "--format", "generic", list, "-o", path("list.parquet"),
		"--map", "submit_s=when:date", "--map", "gpus=what", "--map", "duration_s=long:min")
	if !strings.Contains(out, "3 rows in, 2 kept") {
		t.Errorf("import:\n%s", out)
	}
	if out := mustRun(t, "dataset", "import", "--format", "helios", "--list-rules"); !strings.Contains(out, "gpu-only") {
		t.Errorf("rules:\n%s", out)
	}
	mustRun(t, "dataset", "describe", path("list.parquet"))

	if out := mustRun(t, "dataset", "profile", "builtin:v100", "-o", path("v100.parquet")); strings.Count(out, "\n") != 9 || !strings.Contains(out, "bert-large") {
		t.Errorf("profiles:\n%s", out)
	}
	graph := write(t, "graph.txt", "node1 -- Input -- forward_compute_time=0.0, backward_compute_time=0.0, activation_size=4.0, parameter_size=0.0\n"+
		"node2 -- Linear -- forward_compute_time=1.0, backward_compute_time=2.0, activation_size=8.0, parameter_size=16.0\n\tnode1 -- node2\n")
	out = mustRun(t, "dataset", "profile", graph, "--format", "pipedream", "--model", "toy", "--gpu", "v100", "--batch", "8", "-o", path("toy.parquet"))
	if !strings.Contains(out, "1 layer ") || !strings.Contains(out, "3ms") {
		t.Errorf("imported profile:\n%s", out)
	}
	mustRun(t, "instance", "build", "builtin:philly-like", "-s", "profiles="+path("v100.parquet"), "-s", "cluster.servers=8", "-s", "cluster.gpusPerServer=8", "-o", path("in.json"))
	throughputs := write(t, "t.json", `{"v100": {"('a', 1)": {"null": 2.0, "('a', 1)": [1.0, 1.0]}}}`)
	if out := mustRun(t, "dataset", "interference", throughputs, "-o", path("xi.parquet")); !strings.Contains(out, "1") {
		t.Errorf("interference:\n%s", out)
	}
}

// Every item that can be fetched names a format that can be imported, or none.
func TestCatalogNamesFormats(t *testing.T) {
	for _, it := range fetch.Catalog() {
		if it.Format == "" || it.Format == "gavel-throughputs" {
			continue
		}
		if _, err := findFormat(it.Format); err != nil {
			t.Errorf("%s: %v", it.Name, err)
		}
	}
}

func TestInstanceCommands(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for model, keys := range map[string][]string{
		"gang":       nil,
		"profiled":   {"-s", "model=gang", "-s", "profiles=builtin:v100", "-s", "cluster.servers=8", "-s", "cluster.gpusPerServer=8"},
		"preemptive": {"-s", "model=preemptive", "-s", "startup=30s"},
		"sharing":    {"-s", "model=sharing", "-s", "gpuMemory=11GB"},
		"elastic":    {"-s", "model=elastic"},
	} {
		args := append([]string{"instance", "build", "builtin:philly-like", "-s", "slice.jobs=6", "-s", "slice.at=random", "-s", "tooLarge=drop", "--seed", "3"}, keys...)
		built := mustRun(t, append(args, "-o", path(model+".json"))...)
		if described := mustRun(t, "instance", "describe", path(model+".json")); described != built {
			t.Errorf("%s: built and described differ:\n%s\n%s", model, built, described)
		}
		mustRun(t, append(args, "-o", path("again.json"))...)
		a, _ := os.ReadFile(path(model + ".json"))
		b, _ := os.ReadFile(path("again.json"))
		if string(a) != string(b) || len(a) == 0 {
			t.Errorf("%s: two builds differ", model)
		}
		if model != "elastic" {
			mustRun(t, "simulate", path(model+".json"), "--policy", "sjf", "-p", "blocking=skip")
		}
	}
	// A job list replays like the instance it came from.
	mustRun(t, "instance", "convert", path("gang.json"), "-o", path("gang.csv"))
	costs := func(args ...string) string {
		_, out, _ := strings.Cut(mustRun(t, append([]string{"simulate", "--policy", "sjf"}, args...)...), "\n")
		return out
	}
	if a, b := costs(path("gang.json")), costs(path("gang.csv"), "--servers", "2", "--gpus-per-server", "4"); a != b {
		t.Errorf("instance and job list cost\n%s\n%s", a, b)
	}
	mustRun(t, "instance", "convert", path("gang.json"), "-o", path("standard.json"))
	code, _, errOut := benchCommand(t, "instance", "convert", path("sharing.json"), "-o", path("x.csv"))
	if code != exitUsage || !strings.Contains(errOut, "no single duration") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}

func TestDatasetBadInput(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"generator":       {[]string{"dataset", "generate", "--like", "pie", "--jobs", "1", "-o", out}, "pai"},
		"no jobs":         {[]string{"dataset", "generate", "--like", "pai", "-o", out}, "--jobs"},
		"fetch":           {[]string{"dataset", "fetch", "phily"}, "philly"},
		"condition":       {[]string{"dataset", "slice", "builtin:philly-like", "-w", "gpus", "-o", out}, "column=value"},
		"column":          {[]string{"dataset", "slice", "builtin:philly-like", "-w", "gpu=1", "-o", out}, "gpus"},
		"rule":            {[]string{"dataset", "import", "--format", "philly", "--rules", "no-gpu", write(t, "p.csv", "timestamp,duration,num_gpus,cluster\n"), "-o", out}, "no-gpus"},
		"map":             {[]string{"dataset", "import", "--format", "generic", "--map", "gpu=x", write(t, "p.csv", "x\n1\n"), "-o", out}, "gpu"},
		"one table":       {[]string{"dataset", "import", "--format", "pai", write(t, "p.csv", "x\n"), "-o", out}, "task table"},
		"key":             {[]string{"instance", "build", "builtin:philly-like", "-s", "slice.job=3", "-o", out}, "slice.jobs"},
		"value":           {[]string{"instance", "build", "builtin:philly-like", "-s", "model=gangs", "-o", out}, "gangs"},
		"several windows": {[]string{"instance", "build", "builtin:philly-like", "-s", "slice.repeat=2", "-o", out}, "slice.repeat"},
		"profiles":        {[]string{"instance", "build", "builtin:philly-like", "-s", "profiles=builtin:v10", "-o", out}, "v100"},
	} {
		code, stdout, errOut := benchCommand(t, c.args...)
		if code != exitUsage || !strings.Contains(errOut, c.want) || stdout != "" || strings.Count(errOut, "\n") > 1 {
			t.Errorf("%s: exit code %d, output %q, message %q; want %q", name, code, stdout, errOut, c.want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a failed command left its output")
	}
}

// The busiest eight jobs of a trace come within seconds: they are a burst, and
// have no load in per cent; the whole day has one.
func TestOfferedLoadOfBusiest(t *testing.T) {
	out := filepath.Join(t.TempDir(), "in.json")
	busiest := mustRun(t, "instance", "build", "builtin:philly-like", "-s", "slice.at=busiest", "-s", "tooLarge=drop", "-o", out)
	if !strings.Contains(busiest, "offered load     none, a burst: all within ") || strings.Contains(busiest, " %, over") {
		t.Errorf("busiest:\n%s", busiest)
	}
	long := mustRun(t, "instance", "build", "builtin:philly-like", "-s", "slice.jobs=400", "-s", "tooLarge=drop", "-o", out)
	if !strings.Contains(long, "of the cluster's 8 GPUs, ") {
		t.Errorf("400 jobs:\n%s", long)
	}
}
