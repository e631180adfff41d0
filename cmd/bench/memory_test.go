package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/solvers/isolate"
)

// peakFile is the variable that makes the test's process the command, which writes there
// how much memory it had at most.
const peakFile = "YARDSTICK_TEST_PEAK"

// measured runs the command line of the process and notes its memory. It does not return.
func measured(path string) {
	os.Unsetenv(peakFile)
	spareMemory()
	code := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	if err := os.WriteFile(path, []byte(strconv.FormatInt(isolate.PeakResident(), 10)), 0o600); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// hostile returns inputs of 1 MB at most that ask for all memory there is, each with the
// command that reads it and what the refusal says; "" if the input is taken.
func hostile(t *testing.T) map[string]struct {
	args []string
	says string
} {
	type attack = struct {
		args []string
		says string
	}
	all := map[string]attack{}
	suite := func(name, text, says string) { all[name] = attack{[]string{"plan", write(t, "s.yaml", text)}, says} }
	source := func(name, keys, says string) {
		suite(name, "name: s\nmethods: [fifo]\nreferences: []\ninstances: [{"+keys+"}]\n", says)
	}
	const mb = 1_000_000
	suite("brackets", strings.Repeat("[", 80_000), "brackets are open")
	suite("braces", "name: s\ninstances: "+strings.Repeat("{", 80_000), "brackets are open")
	suite("dashes", strings.Repeat("- ", 50_000), "50 deep")
	suite("dashes within a line", "name: s, jo"+strings.Repeat(" -", 50_000)+" bs: 3", "50 deep")
	suite("question marks", strings.Repeat("? ", 50_000), "50 deep")
	suite("indented", strings.Join(func() (lines []string) {
		for i := range 1300 {
			lines = append(lines, strings.Repeat(" ", i)+"a:")
		}
		return lines
	}(), "\n"), "50 deep")
	suite("lines", strings.Repeat("\n", mb), "BENCH_MAX_YAML_LINES")
	suite("comments", strings.Repeat("#\n", mb/2), "BENCH_MAX_YAML_LINES")
	suite("entries", "name: s\nmethods:\n"+strings.Repeat("- a\n", mb/4), "BENCH_MAX_YAML_LINES")
	suite("list", "name: s\nmethods: ["+strings.Repeat("a,", mb/2)+"a]", "BENCH_MAX_YAML_VALUES")
	suite("sources", "name: s\nmethods: [fifo]\ninstances: ["+strings.Repeat("{},", mb/3)+"{}]", "BENCH_MAX_YAML_VALUES")
	suite("sources at the limit", "name: s\nmethods: [fifo]\ninstances: ["+strings.Repeat("{},", 14_000)+"{}]", "is taken")
	suite("values at the limit", "name: s\nmethods: ["+strings.Repeat("fifo,", 29_000)+"fifo]\ninstances: [{trace: nowhere}]", "nowhere")
	aliases := "name: s\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		aliases += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	suite("aliases", aliases, "aliases make of it")
	suite("one long text", "name: s\nmethods: [fifo]\ninstances: [{slice: {jobs: 2}}]\n# "+strings.Repeat("x", mb), "")
	var axes strings.Builder
	for _, key := range []string{"slice.jobs", "slice.repeat", "cluster.servers", "cluster.gpusPerServer", "round", "iteration", "params", "history"} {
		fmt.Fprintf(&axes, "  %s: [1,2,3,4,5,6,7,8,9,10]\n", key)
	}
	suite("matrix", "name: s\nmethods: [fifo]\ninstances: [{}]\nmatrix:\n"+axes.String(), "BENCH_MAX_COMBINATIONS")
	suite("matrix at the limit", "name: s\nmethods: [fifo]\nreferences: []\ninstances: [{trace: \"builtin:pai?jobs=20\", slice: {jobs: 1}, tooLarge: drop, history: 0}]\nmatrix:\n"+
		"  cluster.servers: [1,2,3,4,5,6,7,8,9,10]\n  cluster.gpusPerServer: [8,9,10,11,12,13,14,15,16,17]\n  params: [1MB,2MB,3MB,4MB,5MB,6MB,7MB,8MB,9MB,10MB]\n  slice.at: [1,2,3,4,5,6,7,8,9]\n", "")
	source("servers", "cluster: {servers: 2000000000}", "must be from 1 to")
	source("elastic servers", "model: elastic, cluster: {servers: 2000000000}", "must be from 1 to")
	source("servers of many windows", "slice: {jobs: 1, repeat: 30000}, cluster: {servers: 5000, gpusPerServer: 2}, history: 0", "BENCH_MAX_JOBS")
	source("generated trace", `trace: "builtin:pai?jobs=2000000000"`, "BENCH_MAX_JOBS")
	source("generated trace at the limit", `trace: "builtin:pai?jobs=130000", slice: {jobs: 0}, tooLarge: drop`, "")
	source("windows", "slice: {jobs: 1000, at: random, repeat: 1000000}, tooLarge: drop", "BENCH_MAX_JOBS")
	source("jobs", "slice: {jobs: 9000000000000000000, at: random, repeat: 1000000}, tooLarge: drop", "BENCH_MAX_JOBS")
	models := map[string]string{"gang": "history: 0", "elastic": "model: elastic"}
	if tier.Draws(1, 5) > 1 {
		maps.Copy(models, map[string]string{"preemptive": "model: preemptive, history: 0", "sharing": "model: sharing, gpuMemory: 32GB, history: 0",
			"pipelines": `profiles: "builtin:v100", history: 0`})
	}
	for model, keys := range models {
		method := map[string]string{"sharing": "sharing-fifo", "elastic": "elastic-fifo"}[model]
		if method == "" {
			method = "fifo"
		}
		source("windows at the limit, "+model, "slice: {jobs: 100, at: random, repeat: 1780}, tooLarge: drop, methods: ["+method+"], "+keys, "")
	}
	source("history at the limit", "slice: {jobs: 1, at: random, repeat: 150}, tooLarge: drop", "")

	instance := func(name, jobs, says string) {
		text := `{"name":"x","model":"gang","cluster":{"servers":[{"gpus":1}],"inter":"1Gbps","intra":"1Gbps"},"jobs":[` + jobs + `]}`
		all[name] = attack{[]string{"instance", "describe", write(t, "in.json", text)}, says}
	}
	instance("nested JSON", strings.Repeat("[", 80_000), "cannot be a list")
	instance("empty jobs", strings.Repeat("{},", 2_000_000)+"{}", "BENCH_MAX_JOBS")
	instance("empty jobs at the limit", strings.Repeat("{},    ", 190_000)+"{}", "weight is 0")
	instance("empty lists", strings.TrimSuffix(strings.Repeat(`{"stages":[]},`, mb/14), ","), "weight is 0")

	list := func(name string, data []byte, says string) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		all[name] = attack{[]string{"simulate", path, "--gpus", "4", "--policy", "fifo"}, says}
	}
	imported := func(name, format string, data []byte, says string) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		all["import "+name] = attack{[]string{"dataset", "import", "--format", format, path, "--map", "submit_s=submit", "-o", filepath.Join(t.TempDir(), "t.parquet")}, says}
		if format != "generic" {
			all["import "+name] = attack{[]string{"dataset", "import", "--format", format, path, "-o", filepath.Join(t.TempDir(), "t.parquet")}, says}
		}
	}
	imported("line.csv.gz", "generic", zipped(t, "", strings.Repeat("a", mb), 600), "BENCH_MAX_RATIO")
	imported("attempts.json.gz", "philly", zipped(t, `[{"attempts":[`, strings.Repeat("{},", 100_000), 300), "BENCH_MAX_RATIO")
	imported("lists.json.gz", "philly", zipped(t, `[{"attempts":[`, strings.Repeat(`{"detail":[]},`, 10_000), 700), "BENCH_MAX_RATIO")
	header := "submit,gpus,duration\n"
	list("line.csv.gz", zipped(t, "", strings.Repeat("a", mb), 600), "longer than 1 MiB")
	list("ratio.csv.gz", zipped(t, header, "0,"+strings.Repeat(" ", 1000)+"1,1\n", 600_000), "BENCH_MAX_RATIO")
	list("rows.csv.gz", zipped(t, header, "0,1,1\n", 2_000_000), "BENCH_MAX_ROWS")
	list("long.csv", []byte(header+strings.Repeat("0,1,1\n", mb/6)+"x,1,1\n"), "is not a number")
	list("rows.parquet", oneValue(t, 3_000_000), "BENCH_MAX_ROWS")
	for flags, says := range map[string]string{"--gpus 2000000000": "at most", "--servers 2000000000 --gpus-per-server 4": "at most",
		"--servers 10000 --gpus-per-server 10000": "100000000 GPUs"} {
		all[flags] = attack{append([]string{"simulate", write(t, "jobs.csv", header+"0,1,1\n"), "--policy", "fifo"}, strings.Fields(flags)...), says}
	}
	all["hunt"] = attack{[]string{"hunt", "--policy", "fifo", "--jobs", "2000000000", "--gpus", "2000000000", "--evaluations", "1"}, "at most"}
	all["workers"] = attack{[]string{"run", "-j", "2000000000"}, "at most"}
	all["shards"] = attack{[]string{"submit", "slurm", "--shards", "2000000000", "--dry-run"}, "at most"}
	all["fragmentations"] = attack{[]string{"place", "--profile", "builtin:v100/vgg19", "--gpus", "16", "--fragmentations", "2000000000"}, "at most"}
	return all
}

// zipped compresses a beginning and a text many times over: members of a megabyte, which are
// all alike, one after the other.
func zipped(t *testing.T, begin, text string, times int) []byte {
	together := max(1, min(times, 1_000_000/len(text)))
	out := zippedOnce(t, begin)
	member := zippedOnce(t, strings.Repeat(text, together))
	for range times / together {
		out = append(out, member...)
	}
	return out
}

func zippedOnce(t *testing.T, text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// oneValue is a Parquet file of one job over and over.
func oneValue(t *testing.T, rows int) []byte {
	type listed struct {
		Submit   float64 `parquet:"submit,dict"`
		GPUs     float64 `parquet:"gpus,dict"`
		Duration float64 `parquet:"duration,dict"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[listed](&b, parquet.Compression(&parquet.Zstd))
	batch := make([]listed, 1000)
	for i := range batch {
		batch[i] = listed{1, 1, 1}
	}
	for range rows / len(batch) {
		if _, err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMemoryOfInputs: no input of 1 MB takes more than 256 MB to be read, checked and
// planned, which each process measures itself; and what is refused is refused in one line,
// which says how to raise the limit.
func TestMemoryOfInputs(t *testing.T) {
	if isolate.PeakResident() == 0 {
		schedtest.Missing(t, "this system does not say how much memory a process has had")
	}
	const most = 256 << 20
	all := hostile(t)
	for _, name := range tier.Share(slices.Sorted(maps.Keys(all)), 3) {
		attack := all[name]
		t.Run(name, func(t *testing.T) {
			peak := filepath.Join(t.TempDir(), "peak")
			// The address space is far larger than what is resident; beyond this limit the test fails, and the machine lives.
			args := append([]string{"-c", `ulimit -v 4000000; exec "$0" "$@"`, os.Args[0]}, attack.args...)
			c := exec.CommandContext(t.Context(), "sh", args...)
			c.Dir = t.TempDir()
			c.Env = append(os.Environ(), peakFile+"="+peak, "GOGC=100") // which make test raises
			var errOut bytes.Buffer
			c.Stderr = &errOut
			err := c.Run()
			text := errOut.String()
			if attack.says == "" && err != nil || attack.says != "" && (c.ProcessState.ExitCode() != exitUsage || !strings.Contains(text, attack.says) || len(text) > 4000) {
				t.Errorf("%v: %.2000s", err, text)
			}
			data, err := os.ReadFile(peak)
			if err != nil {
				t.Fatal("it did not come to its end")
			}
			if got, err := strconv.ParseInt(string(data), 10, 64); err != nil || got > most || got == 0 {
				t.Errorf("took %d MB, more than %d", got>>20, most>>20)
			} else {
				t.Logf("%d MB", got>>20)
			}
		})
	}
}
