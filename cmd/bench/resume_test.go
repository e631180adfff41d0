package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"yardstick/internal/tier"
)

// asCommand makes this test binary the command itself: see TestMain.
const asCommand = "YARDSTICK_TEST_AS_COMMAND"

// command returns the command line as a process of its own, as a user has it.
func command(args ...string) (*exec.Cmd, *bytes.Buffer) {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out := &bytes.Buffer{}
	c.Stdout, c.Stderr = out, out
	return c, out
}

// shardSuite has 40 cells, among them exact ones and bounds, on two models.
const shardSuite = `
apiVersion: yardstick/v1
name: shards
instances:
  - {name: gangs, trace: "builtin:philly?jobs=1000", slice: {jobs: 6, at: busiest, repeat: 3}, round: 1h, tooLarge: drop}
  - {name: shared, trace: "builtin:philly?jobs=1000", model: sharing, slice: {jobs: 3, repeat: 2}, slotted: true, round: 12h, tooLarge: drop, gpuMemory: 32GB,
     methods: [sjf-bsbf, sharing-fifo], references: [theta-srpt, sharing-search]}
objectives: [total-jct, total-completion]
methods: [fifo, sjf, a-srpt, spjf, exhaustive]
references: [lb0, srpt-ranked, mean-busy-time]
`

// longSuite is shardSuite on more windows of a longer trace, which take long enough to be
// stopped at.
func longSuite(windows int) string {
	return strings.NewReplacer("repeat: 3", fmt.Sprint("repeat: ", windows), "builtin:philly?jobs=1000", "builtin:philly-like").Replace(shardSuite)
}

func digestOf(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Digest string `json:"result_digest"`
	}
	if err := json.Unmarshal(data, &m); err != nil || m.Digest == "" {
		t.Fatalf("%s: digest %q, %v", dir, m.Digest, err)
	}
	return m.Digest
}

// However a run is cut into workers and shards, its values are the same.
func TestDigestWhateverTheSplit(t *testing.T) {
	suite, dir := write(t, "suite.yaml", shardSuite), t.TempDir()
	mustRun(t, "run", suite, "-q", "-j", "1", "-o", dir+"/one")
	want := digestOf(t, dir+"/one")
	mustRun(t, "run", suite, "-q", "-j", "2", "-o", dir+"/two")
	var apart []string
	for i := range 3 {
		shard := fmt.Sprintf("%d/3", i+1)
		mustRun(t, "run", suite, "-q", "-j", "1", "--shard", shard, "-o", dir+"/together")
		apart = append(apart, fmt.Sprintf("%s/apart%d", dir, i))
		mustRun(t, "run", suite, "-q", "-j", "1", "--shard", shard, "-o", apart[i])
	}
	mustRun(t, "merge", dir+"/together")
	mustRun(t, append([]string{"merge", dir + "/merged"}, apart...)...)
	for _, name := range []string{"two", "together", "merged"} {
		if got := digestOf(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s: digest %s, want %s", name, got, want)
		}
	}
	if code, _, errOut := benchCommand(t, "merge", dir+"/part", apart[0], apart[2]); code != exitIncomplete || !strings.Contains(errOut, "missing") {
		t.Errorf("merge without the second shard: exit code %d: %s", code, errOut)
	}
}

// A run that is killed loses the cells at hand at most, and ends with the
// values of one that is not.
func TestKillAndResume(t *testing.T) {
	t.Parallel()
	suite, dir := write(t, "suite.yaml", shardSuite), t.TempDir()
	start := time.Now()
	mustRun(t, "run", suite, "-q", "-o", dir+"/whole")
	whole := time.Since(start)
	want := digestOf(t, dir+"/whole")
	kills := tier.Draws(3, 20)
	rng := rand.New(rand.NewPCG(3, 20))
	for killed, n := 0, 0; killed < kills; n++ {
		out := fmt.Sprintf("%s/%d", dir, n)
		for try := range 6 {
			c, text := command("run", suite, "-q", "-o", out)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if try < 5 {
				timer := time.AfterFunc(time.Duration(rng.Float64()*float64(whole)), func() { _ = c.Process.Kill() })
				defer timer.Stop()
			}
			err := c.Wait()
			if err == nil {
				break
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
				t.Fatalf("after %d kills: %v: %s", killed, err, text)
			}
			killed++
		}
		if got := digestOf(t, out); got != want {
			t.Fatalf("after %d kills: digest %s, want %s", killed, got, want)
		}
	}
}

// An interrupted run writes what it has, says how to go on, and goes on.
func TestInterruptAndResume(t *testing.T) {
	suite, out := write(t, "suite.yaml", longSuite(40)), t.TempDir()
	c, text := command("run", suite, "-q", "-o", out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for range 6000 { // until some cells are finished
		time.Sleep(20 * time.Millisecond)
		if names, _ := filepath.Glob(out + "/cells/*.journal"); len(names) > 0 {
			break
		}
		if syscall.Kill(c.Process.Pid, 0) != nil {
			break // it has ended
		}
	}
	_ = c.Process.Signal(os.Interrupt)
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v: %s", err, text)
	}
	again := "go on with \"bench run " + suite + " -o " + out + "\""
	if !strings.Contains(text.String(), again) {
		t.Errorf("no %s in %s", again, text)
	}
	digestOf(t, out) // the partial tables are there
	code, _, errOut := benchCommand(t, "run", suite, "-q", "-o", out)
	if code != exitOK || !strings.Contains(errOut, "cells were finished before") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}

// A damaged journal costs cells, which run again, and no value.
func TestDamagedJournal(t *testing.T) {
	suite, out := write(t, "suite.yaml", shardSuite), t.TempDir()
	mustRun(t, "run", suite, "-q", "-o", out)
	want := digestOf(t, out)
	name := filepath.Join(out, "cells", "000001-all.journal")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(name, data[:len(data)-7], 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := benchCommand(t, "run", suite, "-q", "-o", out)
	if code != exitOK || !strings.Contains(errOut, "2 damaged entries") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	if got := digestOf(t, out); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func TestShardFlag(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	slurm := env("SLURM_ARRAY_TASK_ID", "12", "SLURM_ARRAY_TASK_COUNT", "5", "SLURM_ARRAY_TASK_MIN", "10")
	kubernetes := env("JOB_COMPLETION_INDEX", "0", "BENCH_SHARDS", "4")
	for _, test := range []struct {
		text         string
		env          func(string) string
		index, count int // count 0 is an error
	}{
		{"1/3", env(), 0, 3}, {"3/3", env(), 2, 3}, {"auto", slurm, 2, 5}, {"auto", kubernetes, 0, 4},
		{"0/3", env(), 0, 0}, {"4/3", env(), 0, 0}, {"1", env(), 0, 0}, {"1/3x", env(), 0, 0}, {"auto", env(), 0, 0},
		{"auto", env("JOB_COMPLETION_INDEX", "1"), 0, 0}, {"-1/-3", env(), 0, 0},
	} {
		got, err := parseShard(test.text, test.env)
		if (err != nil) != (test.count == 0) || err == nil && (got.Index != test.index || got.Count != test.count) {
			t.Errorf("%q: %+v, %v", test.text, got, err)
		}
	}
}

func TestSetFlag(t *testing.T) {
	suite := write(t, "suite.yaml", shardSuite)
	cells := func(args ...string) string {
		out := mustRun(t, append([]string{"plan", suite}, args...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		return strings.Join(strings.Fields(lines[len(lines)-1])[:4], " ")
	}
	for want, args := range map[string][]string{
		"32 cells on 5":  nil,
		"30 cells on 5":  {"--set", "methods=fifo,sjf,{name: fifo, params: {blocking: skip}},exhaustive", "--set", "references=lb0,srpt-ranked"},
		"64 cells on 10": {"--set", "cluster.inter=1Gbps,10Gbps"},
		"96 cells on 15": {"--set", "round=1h,2h,4h"},
	} {
		if got := cells(args...); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
	for _, bad := range []string{"slice.job=3", "seed=1,2", "instances=3", "methods", "limits.solve=3", "cluster.inter=fast"} {
		if code, _, errOut := benchCommand(t, "plan", suite, "--set", bad); code != exitUsage || !strings.Contains(errOut, bad) {
			t.Errorf("--set %s: exit code %d: %s", bad, code, errOut)
		}
	}
}
