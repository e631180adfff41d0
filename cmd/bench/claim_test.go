package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"yardstick/bench"
	"yardstick/bench/catalogue"
)

// holdClaim is the variable that makes this test binary claim a directory, shared or not,
// until its standard input ends.
const holdClaim = "YARDSTICK_TEST_CLAIM"

func claimHolder() {
	kind, dir, ok := strings.Cut(os.Getenv(holdClaim), " ")
	if !ok {
		return
	}
	c := bench.Claiming{Shared: kind == "shared", Resolve: catalogue.Resolve, Command: "the test"}
	if kind == "shared" {
		c.File = &bench.PlanFile{}
		if old, err := bench.ReadPlanFile(dir); err == nil {
			c.File = old
		}
	}
	if _, err := c.Take(context.Background(), dir); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// held has another process claim a directory, and returns what kills it.
func held(t *testing.T, kind, dir string) (kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), holdClaim+"="+kind+" "+dir)
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return func() { _, _ = c.Process.Kill(), c.Wait() }
}

// What is at work in a result directory keeps others out, except shards of one plan, and
// no longer than its process lives.
func TestBusyDirectory(t *testing.T) {
	t.Parallel()
	suite, out := write(t, "suite.yaml", tinySuite), filepath.Join(t.TempDir(), "out")
	mustRun(t, "run", suite, "-q", "-o", out, "--shard", "1/2")
	lines := map[string][]string{
		"run": {"run", suite, "-q", "-o", out}, "shard": {"run", suite, "-q", "-o", out, "--shard", "2/2"},
		"folder": {"run", out, "-q"}, "merge": {"merge", out}, "submit": {"submit", "slurm", out, "--dry-run", "--shards", "2"},
	}
	if err := os.Remove(filepath.Join(out, bench.PlanFileName)); err != nil { // so that any may claim it
		t.Fatal(err)
	}
	kill := held(t, "alone", out)
	mustRun(t, "submit", "slurm", suite, "-o", out+"2", "--dry-run", "--shards", "2")
	plan, err := os.ReadFile(filepath.Join(out+"2", bench.PlanFileName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, bench.PlanFileName), plan, 0o644); err != nil {
		t.Fatal(err)
	}
	refused := func(name string) {
		t.Helper()
		code, _, errOut := benchCommand(t, lines[name]...)
		if code != exitInternal || !strings.Contains(errOut, "another run is at work there (process ") || !strings.Contains(errOut, ": the test)") {
			t.Errorf("%s: exit code %d: %s", name, code, errOut)
		}
	}
	for _, name := range []string{"run", "shard", "merge", "submit"} {
		refused(name)
	}
	kill()
	kill = held(t, "shared", out)
	for _, name := range []string{"folder", "merge"} {
		refused(name)
	}
	mustRun(t, lines["shard"]...)
	kill()
	mustRun(t, lines["merge"]...)
}

// A directory holds one run: another suite is refused, unless it is to replace it. The
// same suite goes on, also with cells more.
func TestOneDirectoryOneRun(t *testing.T) {
	dir := t.TempDir()
	out := dir + "/out"
	suite := func(name, methods string) string {
		return write(t, name+".yaml", strings.Replace(shardSuite, "[fifo, sjf, a-srpt, spjf, exhaustive]", methods, 1))
	}
	small, large, other := suite("small", "[fifo, sjf]"), suite("large", "[fifo, spjf, sjf]"), suite("other", "[spjf, sjf]")
	mustRun(t, "run", small, "-q", "-o", out)
	before := digestOf(t, out)
	refused := func(args ...string) {
		t.Helper()
		code, _, errOut := benchCommand(t, args...)
		if code != exitUsage || strings.Count(errOut, "bench: ") != 1 || !strings.Contains(errOut, "it holds another run") || !strings.Contains(errOut, "choose another ") {
			t.Errorf("%v: exit code %d: %s", args, code, errOut)
		}
	}
	refused("run", other, "-q", "-o", out)
	refused("run", small, "-q", "-o", out, "--set", "seed=2")
	refused("run", large, "-q", "-o", out, "--shard", "1/2")
	refused("run", other, "-q", "-o", out, "--shard", "1/2", "--force")
	refused("submit", "slurm", other, "-o", out, "--dry-run")
	refused("place", "--profile", "builtin:v100/vgg19", "--gpus", "2", "--cluster", "2x2", "--methods", "heavy-edge", "-o", out)
	mustRun(t, "run", other, "-q", "-o", dir+"/other", "--shard", "1/1")
	mustRun(t, "run", other, "-q", "-o", dir+"/other")
	refused("merge", out, dir+"/other")
	if after := digestOf(t, out); after != before {
		t.Errorf("digest %s, and it was %s before", after, before)
	}
	code, _, errOut := benchCommand(t, "run", large, "-q", "-o", out)
	if code != exitOK || !strings.Contains(errOut, "23 of 26 cells were finished before") {
		t.Errorf("with cells more: exit code %d: %s", code, errOut)
	}
	refused("run", small, "-q", "-o", out)
	mustRun(t, "run", other, "-q", "-o", out, "--force")
	if got, want := digestOf(t, out), digestOf(t, dir+"/other"); got != want {
		t.Errorf("replaced: digest %s, want %s", got, want)
	}
	mustRun(t, "place", "--profile", "builtin:v100/vgg19", "--gpus", "2", "--cluster", "2x2", "--methods", "heavy-edge", "-o", dir+"/place")
	mustRun(t, "place", "--profile", "builtin:v100/vgg19", "--gpus", "2", "--cluster", "2x2", "--methods", "heavy-edge", "-o", dir+"/place")
	refused("run", small, "-q", "-o", dir+"/place")
}

// Two suites that start in one new directory at the same moment, whole or as shards: one
// of them has it.
func TestTwoSuitesAtOnce(t *testing.T) {
	first, second := write(t, "a.yaml", tinySuite), write(t, "b.yaml", strings.Replace(tinySuite, "name: tiny", "name: other\nseed: 5", 1))
	for _, shard := range [][]string{nil, {"--shard", "1/1"}, {"--shard", "1/2"}} {
		out := filepath.Join(t.TempDir(), "out")
		var codes [4]int
		var all sync.WaitGroup
		for i := range codes {
			all.Go(func() {
				c, _ := command(append([]string{"run", []string{first, second}[i%2], "-q", "-j", "1", "-o", out}, shard...)...)
				_ = c.Run()
				codes[i] = c.ProcessState.ExitCode()
			})
		}
		all.Wait()
		plan, err := bench.ReadPlanFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for i, code := range codes {
			won := (plan.Suite == first) == (i%2 == 0)
			if allowed := map[bool][]int{true: {exitOK, exitInternal}, false: {exitUsage, exitInternal}}[won]; code != allowed[0] && code != allowed[1] {
				t.Errorf("%v: %v: suite %d ends with %d", shard, codes, i%2, code)
			}
		}
	}
}

// The next run removes what a killed one left half written.
func TestLeftovers(t *testing.T) {
	suite, out := write(t, "suite.yaml", tinySuite), filepath.Join(t.TempDir(), "out")
	mustRun(t, "run", suite, "-q", "-o", out)
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, name := range []string{".ratios.arrow", "certificates/.0123", "instances/.4567"} {
		left = append(left, filepath.Join(out, fmt.Sprintf("%s-%d-0.yardstick.tmp", name, ended.Process.Pid)))
	}
	for _, path := range left {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "run", suite, "-q", "-o", out)
	for _, path := range left {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}
