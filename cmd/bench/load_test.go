package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"yardstick/bench/record"
	"yardstick/datasets"
	"yardstick/datasets/tracetest"
)

// loadSuite chooses windows by load, sets the load of what is built, does both, and
// has jobs without any.
const loadSuite = `apiVersion: yardstick/v1
name: load
instances:
  - {name: chosen, trace: TRACE, slice: {jobs: 40, at: random, repeat: 3, load: 0.5..0.8}, cluster: {servers: 4, gpusPerServer: 4}, tooLarge: drop, history: 0, methods: [fifo, sjf]}
  - {name: set, trace: TRACE, slice: {jobs: 60, at: start, repeat: 2, load: 0..5}, cluster: {servers: 2, gpusPerServer: 4}, tooLarge: drop, history: 0, methods: [fifo, sjf],
     profiles: "builtin:v100", offeredLoad: 0.9}
  - {name: shared, trace: TRACE, slice: {jobs: 60, at: start, load: 0..5}, cluster: {servers: 2, gpusPerServer: 4}, tooLarge: drop, history: 0, methods: [sharing-fifo],
     model: sharing, gpuMemory: 24GB, offeredLoad: 0.6}
  - {name: burst, trace: TRACE, slice: {jobs: 3, at: busiest}, cluster: {servers: 2, gpusPerServer: 4}, tooLarge: drop, history: 0, methods: [fifo]}
  - {name: elastic, trace: TRACE, slice: {jobs: 3}, cluster: {servers: 2}, model: elastic, methods: [elastic-fifo]}
references: [lb0]
`

// loadSuiteOf is the suite on a trace of jobs that come and go, so that windows of
// dozens of them are no bursts.
func loadSuiteOf(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 16))
	var rows []datasets.Row
	at := 0.0
	for i := range 400 {
		at += 120 * rng.ExpFloat64()
		rows = append(rows, datasets.Row{Trace: "t", JobID: fmt.Sprint(i), SubmitS: datasets.Some(math.Round(at)), DurationS: datasets.Some(float64(10 + rng.IntN(1500))),
			GPUs: datasets.Some(float64(int(1) << rng.IntN(3)))})
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := datasets.WriteFile(path, tracetest.All(rows)); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(loadSuite, "TRACE", strconv.Quote(path))
}

// TestLoadThroughTheCommand plans, runs and checks a suite with both keys: the plan,
// the table and ratios.arrow state the loads, and those are what was asked for.
func TestLoadThroughTheCommand(t *testing.T) {
	text := loadSuiteOf(t)
	suite, dir := write(t, "load.yaml", text), filepath.Join(t.TempDir(), "r")
	plan := mustRun(t, "plan", suite)
	for _, want := range []string{"offered load of set: 0.90\n", "offered load of shared: 0.60\n", "offered load of burst: none, bursts alone\n", "offered load of chosen: 0."} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %q in the plan:\n%s", want, plan)
		}
	}
	if strings.Contains(plan, "load of elastic") {
		t.Errorf("elastic jobs have a load:\n%s", plan)
	}
	before, burst, _ := strings.Cut(text, "  - {name: burst")
	_, after, _ := strings.Cut(burst, "\n")
	swept := mustRun(t, "plan", write(t, "swept.yaml", before+after), "--set", "offeredLoad=0.3,0.4")
	for _, want := range []string{"offered load of set offeredLoad=0.3: 0.30\n", "offered load of set offeredLoad=0.4: 0.40\n"} {
		if !strings.Contains(swept, want) {
			t.Errorf("no %q in the swept plan:\n%s", want, swept)
		}
	}

	// What is asked for is what is there, up to the rounding of releases.
	check := func(where, instance string, load record.Opt[float64]) {
		family, _, _ := strings.Cut(instance, "/")
		ok := false
		switch family {
		case "chosen":
			ok = load.Valid && load.V >= 0.5 && load.V <= 0.8
		case "set":
			ok = load.Valid && math.Abs(load.V-0.9) < 1e-6
		case "shared":
			ok = load.Valid && math.Abs(load.V-0.6) < 1e-6
		case "burst", "elastic":
			ok = !load.Valid
		}
		if !ok {
			t.Errorf("%s: the load of %s is %+v", where, instance, load)
		}
	}
	for line := range strings.Lines(mustRun(t, "plan", suite, "--format", "jsonl")) {
		var cell struct {
			Instance string              `json:"instance"`
			Load     record.Opt[float64] `json:"offered_load"`
		}
		if err := json.Unmarshal([]byte(line), &cell); err != nil {
			t.Fatal(err)
		}
		check("plan", cell.Instance, cell.Load)
	}
	table := mustRun(t, "run", suite, "-q", "-o", dir)
	for _, want := range []string{"8 GPUs on 2 servers, offered load 0.90)", "8 GPUs on 2 servers, offered load 0.60)", "Offered load: median and range"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in the table:\n%s", want, table)
		}
	}
	run := openRun(t, dir)
	if len(run.Ratios) != 13 {
		t.Errorf("%d rows", len(run.Ratios))
	}
	for _, row := range run.Ratios {
		check("ratios.arrow", row.Instance, row.OfferedLoad)
	}
	mustRun(t, "verify", dir)
	path := filepath.Join(dir, "in.json")
	mustRun(t, "instance", "extract", dir, "set/00", "-o", path)
	if text := mustRun(t, "instance", "describe", path); !strings.Contains(text, "of the cluster's 8 GPUs, 90.0 %, over ") {
		t.Errorf("%s", text)
	}
}

// TestLoadRefused: keys of the load that cannot be done are refused in one line that
// says why and what instead.
func TestLoadRefused(t *testing.T) {
	text := loadSuiteOf(t)
	suite := write(t, "load.yaml", text)
	for settings, want := range map[string]string{
		"slice.load=50..60":              "its windows have loads from ",
		"slice.load=0.9":                 "must be a range low..high",
		"slice.jobs=1":                   "windows are bursts, which have no load",
		"slice.at=sample":                "slice.load chooses windows",
		"offeredLoad=0":                  "it must be positive",
		"offeredLoad=1000":               "and be a burst",
		"sharing.load=2":                 "it is called rate now, sharing.rate",
		"sharing.rate=2":                 "offeredLoad and sharing.rate both say how often jobs come",
		"offeredLoad=0.5 model=elastic":  "the elastic model does not know",
		"slice.load=0..1 model=elastic":  "the elastic model does not know",
		"slice.load=0..1 slice.load=x..": "must be a range low..high",
	} {
		args := []string{"plan", suite}
		for s := range strings.FieldsSeq(settings) {
			args = append(args, "--set", s)
		}
		code, out, errOut := benchCommand(t, args...)
		if code != exitUsage || out != "" || !strings.Contains(errOut, want) {
			t.Errorf("--set %s: exit code %d: %s", settings, code, errOut)
		}
		if message, _, _ := strings.Cut(errOut, "\n>"); strings.Count(strings.TrimSpace(message), "\n") > 1 {
			t.Errorf("--set %s: several lines: %s", settings, errOut)
		}
	}
	old := strings.Replace(text, "offeredLoad: 0.6", "sharing: {load: 2}", 1)
	if code, _, errOut := benchCommand(t, "plan", write(t, "old.yaml", old)); code != exitUsage || !strings.Contains(errOut, "sharing.load: it is called rate now") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}
