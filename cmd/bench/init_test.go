package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/tracetest"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
)

// traceOf writes a trace of jobs with so many GPUs, one every so many seconds.
func traceOf(t *testing.T, apart float64, gpus ...int) string {
	t.Helper()
	var rows []datasets.Row
	for i, n := range gpus {
		rows = append(rows, datasets.Row{Trace: "t", JobID: fmt.Sprint(i), SubmitS: datasets.Some(apart * float64(i)), DurationS: datasets.Some(float64(60 + i*i%97)), GPUs: datasets.Some(float64(n))})
	}
	path := filepath.Join(t.TempDir(), "my trace.v2.parquet")
	if err := datasets.WriteFile(path, tracetest.All(rows)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInit: the suite that is written for a trace or an instance runs as it stands, from
// any folder, and ends with ratios to proven optima where there are few jobs.
func TestInit(t *testing.T) {
	many := make([]int, 60)
	for i := range many {
		many[i] = 1 + i%5*3
	}
	huge := []int{512, 512, 300, 1, 512, 512, 512, 512}
	inputs := map[string]string{"built in": "builtin:philly-like", "one job": traceOf(t, 1, 1), "jobs at once": traceOf(t, 0, many...), "one after the other": traceOf(t, 9, many...), "huge gangs": traceOf(t, 5, huge...)}
	for name, in := range models() {
		inputs["an instance, "+name] = instanceFile(t, in)
	}
	if tier.All() {
		for name, in := range schedtest.Every(2) {
			inputs["instance, "+name] = instanceFile(t, in)
		}
	}
	for name, path := range inputs {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "s.yaml")
			if out := mustRun(t, "init", path, "-o", file); !strings.Contains(out, "bench run "+file) {
				t.Errorf("printed %q", out)
			}
			code, out, errOut := benchCommand(t, "run", file, "-o", filepath.Join(dir, "r"), "-q")
			if code != exitOK || !strings.Contains(out, " 0 failed") || !strings.Contains(out, "optimum ") {
				text, _ := os.ReadFile(file)
				t.Errorf("exit code %d: %s\n%s\n%s", code, errOut, out, text)
			}
		})
	}
}

// TestInitErrors: what is no trace is refused in a line that says how it becomes one, and
// a suite that somebody has is left alone.
func TestInitErrors(t *testing.T) {
	none := traceOf(t, 1)
	table := write(t, "my jobs.csv", "ID,Arrival,num_gpus,seconds\n1,2,3,4\n")
	for path, want := range map[string][]string{
		table:                              {"bench dataset import --format generic --map submit_s=Arrival --map duration_s=COLUMN --map gpus=num_gpus '" + table + "' -o jobs.parquet"},
		none:                               {"no job that can be scheduled"},
		"nothing":                          {"nothing", "no such file"},
		"builtin:phly":                     {"builtin"},
		write(t, "in.json", `{"name": 3}`): {"in.json"},
	} {
		code, out, errOut := benchCommand(t, "init", path, "-o", filepath.Join(t.TempDir(), "s.yaml"))
		if code != exitUsage || out != "" || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, %s", path, code, out, errOut)
		}
		for _, part := range want {
			if !strings.Contains(errOut, part) {
				t.Errorf("%s: no %q in %s", path, part, errOut)
			}
		}
	}
	t.Chdir(t.TempDir())
	mustRun(t, "init")
	if err := os.WriteFile("suite.yaml", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := benchCommand(t, "init"); code != exitUsage || !strings.Contains(errOut, "there already") {
		t.Errorf("a suite that is there: exit code %d, %s", code, errOut)
	}
	if text, err := os.ReadFile("suite.yaml"); err != nil || string(text) != "mine" {
		t.Errorf("it became %q, %v", text, err)
	}
	mustRun(t, "init", "-o", "suite.yaml")
}
