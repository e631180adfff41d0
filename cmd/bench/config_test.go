package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A flag's value is that of the command line, else of the environment, else of
// ./bench.yaml, else of the user's file, else the default.
func TestConfigPrecedence(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CONFIG_HOME", home)
	put := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	user := filepath.Join(home, "yardstick", "bench.yaml")
	expect := func(value, from string) {
		t.Helper()
		for line := range strings.Lines(mustRun(t, "config", "show", "run", "--origin")) {
			if f := strings.Fields(line); f[0] == "jobs" {
				if got := strings.Join(f[1:], " "); got != strings.TrimSpace(value+" "+from) {
					t.Errorf("%q, want %s from %s", line, value, from)
				}
				return
			}
		}
		t.Error("jobs is not shown")
	}
	expect("", "default")
	put(user, "run: {jobs: 3}\n")
	expect("3", user)
	put("bench.yaml", "run:\n  jobs: 4\n  time-limit: 30s\n")
	expect("4", "bench.yaml")
	t.Setenv("BENCH_RUN_JOBS", "5")
	expect("5", "$BENCH_RUN_JOBS")

	for text, want := range map[string]string{
		"run: {job: 3}":     "--job",
		"ran: {jobs: 3}":    `"ran" is not a command`,
		"run: 3":            "bench.yaml",
		"run: {jobs: many}": "--jobs many",
	} {
		put("bench.yaml", text)
		if os.Unsetenv("BENCH_RUN_JOBS") != nil {
			t.Fatal("environment")
		}
		if code, _, errOut := benchCommand(t, "config", "show"); code != exitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%s: exit code %d: %s", text, code, errOut)
		}
	}
}

// The environment's value reaches the run.
func TestConfigReachesTheCommand(t *testing.T) {
	t.Setenv("BENCH_PLAN_FORMAT", "jsonl")
	out := mustRun(t, "plan", write(t, "suite.yaml", shardSuite))
	first, _, _ := strings.Cut(out, "\n")
	var cell struct{ Index *int }
	if err := json.Unmarshal([]byte(first), &cell); err != nil || cell.Index == nil {
		t.Errorf("%q: %v", first, err)
	}
}
