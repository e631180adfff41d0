package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"yardstick/bench/record"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
)

// interruptedCommand is a command that was sent an interrupt once it had come so far as
// reached says, by what it wrote or by the seconds that it and its children ran.
type interruptedCommand struct {
	code        int
	out, errOut string
}

func interruptCommand(t *testing.T, reached func(text string, cpu float64) bool, args ...string) interruptedCommand {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		schedtest.Missing(t, "processor times of other processes cannot be read: %v", err)
	}
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, errOut := &growingText{}, &growingText{}
	c.Stdout, c.Stderr = out, errOut
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill() }()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var err error
	for sent := false; ; {
		select {
		case err = <-ended:
			if !sent {
				t.Fatalf("it ended before it was interrupted: %v: %s%s", err, out, errOut)
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("it was interrupted and succeeded: %s%s", out, errOut)
			}
			return interruptedCommand{exit.ExitCode(), out.String(), errOut.String()}
		case <-tick.C:
			if !sent && reached(out.String()+errOut.String(), processorTime(c.Process.Pid)) {
				sent = true
				if err := c.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// check: the exit code is 130, and after the note that it stops, one line says what is
// kept and how to go on.
func (c interruptedCommand) check(t *testing.T, wants ...string) {
	t.Helper()
	_, last, found := strings.Cut(c.errOut, "interrupted: writing what is finished; once more to leave at once\n")
	if c.code != exitInterrupted || !found || strings.Count(last, "\n") != 1 || !strings.HasPrefix(last, "bench: interrupted") {
		t.Errorf("exit code %d: %s", c.code, c.errOut)
	}
	for _, want := range wants {
		if !strings.Contains(last, want) {
			t.Errorf("no %q in %s", want, last)
		}
	}
}

// growingText is a buffer that is written to and read at once.
type growingText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *growingText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *growingText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// worked is reached once so much processor time was taken, of which a command on these
// inputs needs many times more.
func worked(seconds float64) func(string, float64) bool {
	return func(_ string, cpu float64) bool { return cpu >= seconds }
}

// processorTime returns the seconds that a process and its descendants have run.
func processorTime(pid int) float64 {
	parent, ticks := map[int]int{}, map[int]float64{}
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		id, _ := strconv.Atoi(strings.Split(name, "/")[2])
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // from the state on
		parent[id], _ = strconv.Atoi(fields[1])
		for _, field := range fields[11:15] { // of its own, and of its children that have ended
			n, _ := strconv.ParseFloat(field, 64)
			ticks[id] += n
		}
	}
	total := 0.
	for id, n := range ticks {
		for at := id; at > 0; at = parent[at] {
			if at == pid {
				total += n / 100 // ticks a second, on Linux
				break
			}
		}
	}
	return total
}

// hardInstance is one whose optimum no method proves in a minute.
func hardInstance(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var jobs []string
	for i := range 40 {
		jobs = append(jobs, fmt.Sprintf(`{"name": "j%d", "release": "%ds", "weight": %d, "iters": 1, "stages": [{"replicas": %d, "compute": "%ds"}]}`,
			i, 17*i, 1+i%5, 1+rng.IntN(4), 20+rng.IntN(380)))
	}
	return write(t, "hard.json", `{"name": "hard", "model": "gang", "cluster": {"servers": [{"gpus": 4}, {"gpus": 4}, {"gpus": 3}], "inter": "10Gbps", "intra": "300GB/s"}, "jobs": [`+strings.Join(jobs, ",")+`]}`)
}

// An interrupted search prints the best schedule and bound so far, and writes the
// schedule.
func TestInterruptSolve(t *testing.T) {
	in, dir := hardInstance(t), t.TempDir()
	for _, args := range [][]string{nil, {"--method", "time-indexed", "--slot", "10s"}}[:tier.Draws(1, 2)] {
		schedule := filepath.Join(dir, fmt.Sprint(len(args), ".json"))
		c := interruptCommand(t, worked(1.5), append([]string{"solve", in, "--time-limit", "0", "--schedule", schedule}, args...)...)
		c.check(t, "the best schedule and bound so far are above, and the schedule is in "+schedule, "begins anew")
		for _, want := range []string{"termination  INTERRUPTED", "(verified, class N)", "lower bound ", "gap "} {
			if !strings.Contains(c.out, want) {
				t.Errorf("%v: no %q in %s", args, want, c.out)
			}
		}
		mustRun(t, "verify", in, schedule)
	}
}

// An interrupted ladder has the rows so far, in every format, and what follows from them.
func TestInterruptBound(t *testing.T) {
	in, dir := hardInstance(t), t.TempDir()
	c := interruptCommand(t, func(text string, _ float64) bool { return strings.Contains(text, "srpt-ranked") }, "bound", in, "--time-limit", "0")
	c.check(t, "methods came to is above", "begins anew")
	for _, want := range []string{"cheapest schedule known: ", "lagrangian ", "best lower bound: ", "of the cheapest schedule known, the bounds reach"} {
		if !strings.Contains(c.out, want) {
			t.Errorf("no %q in %s", want, c.out)
		}
	}
	table, certificate := filepath.Join(dir, "bounds.csv"), filepath.Join(dir, "certificate.json")
	// All that comes before the search without an end takes a second.
	c = interruptCommand(t, worked(3), "bound", in, "--time-limit", "0", "--format", "csv", "-o", table, "--certificate", certificate)
	c.check(t, "methods came to is in "+table)
	data, err := os.ReadFile(table)
	if err != nil || !strings.Contains(string(data), "lagrangian,N,") {
		t.Errorf("%v: %s", err, data)
	}
	mustRun(t, "verify", in, certificate)
}

// What is placed by an interrupt is in the table and in the result directory.
func TestInterruptPlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	c := interruptCommand(t, worked(1), "place", "--profile", "builtin:v100/vgg19", "--gpus", "16", "--fragmentations", "1000", "--methods", "heavy-edge,one-hot-alpha/branch", "-o", dir)
	c.check(t, "placements to go: what was finished is above and in "+dir, "begins anew")
	if !strings.Contains(c.out, "one-hot-alpha/branch ") {
		t.Error(c.out)
	}
	run, err := record.Open(dir)
	if err != nil || len(run.Placements) == 0 || run.Manifest.Execution.Skipped == 0 {
		t.Errorf("%v: %+v", err, run)
	}
}

// keptParts returns the names of the entries of a journal, one for each line.
func keptParts(t *testing.T, dir string) (ids []string) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "cells", "*.journal"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if fields := strings.SplitN(line, " ", 3); fields[1] != "header" {
				ids = append(ids, fields[1])
			}
		}
	}
	return ids
}

// A table that is computed in parts keeps those that are finished, and goes on.
func TestInterruptReproduce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	c := interruptCommand(t, func(string, float64) bool { return len(keptParts(t, dir)) >= 2 }, "reproduce", "asrpt-table2", "--scale", "0.05", "--seed", "5", "--draws", "1", "-o", dir)
	c.check(t, " of 6 parts are kept in "+filepath.Join(dir, "cells"), `go on with "bench reproduce asrpt-table2 --scale 0.05 --seed 5 --draws 1 -o `+dir+`"`)
	kept := keptParts(t, dir)
	if len(kept) == 6 {
		t.Fatal("nothing was left to do")
	}
	out := mustRun(t, "reproduce", "asrpt-table2", "--scale", "0.05", "--seed", "5", "--draws", "1", "-o", dir, "-q")
	all := keptParts(t, dir)
	if len(all) != 6 || !slices.Equal(all[:len(kept)], kept) {
		t.Errorf("%d parts after %d: some were computed again", len(all), len(kept))
	}
	if again := mustRun(t, "reproduce", "asrpt-table2", "--scale", "0.05", "--seed", "5", "--draws", "1", "-o", dir, "-q"); again != out || len(keptParts(t, dir)) != 6 {
		t.Errorf("with all parts at hand: %s, want %s", again, out)
	}
}

// An interrupted hunt writes the worst instance so far with its proof, and says how it
// would go on.
func TestInterruptHunt(t *testing.T) {
	dir := t.TempDir()
	out, state := filepath.Join(dir, "worst.json"), filepath.Join(dir, "state.json")
	hunting := []string{"hunt", "--policy", "fifo", "--jobs", "5", "--gpus", "4", "--evaluations", "100000000", "-j", "1", "-o", out}
	c := interruptCommand(t, worked(1.5), hunting...)
	c.check(t, "the worst instance so far is above and in "+out, "with --resume FILE it would go on")
	mustRun(t, "verify", out)
	saved := func(string, float64) bool { _, err := os.Stat(state); return err == nil }
	c = interruptCommand(t, saved, append(hunting, "--resume", state)...)
	c.check(t, "the worst instance so far is above and in "+out, "the same command goes on from "+state)
	mustRun(t, "verify", out)
}

// An interrupted merge leaves the tables that there are, and the shards, and the same
// command makes the new ones.
func TestInterruptMerge(t *testing.T) {
	dir := t.TempDir()
	suite := write(t, "suite.yaml", tinySuite)
	out := filepath.Join(dir, "run")
	mustRun(t, "run", suite, "-q", "-o", out)
	want := digestOf(t, out)
	before, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if plan := mustRun(t, "plan", suite); !strings.Contains(plan, "\n24 cells on ") {
		t.Fatal(plan)
	}
	for name, cells := range map[string]int{"at once": 0, "while it reads": 5, "while it verifies": 24 + 2} {
		ctx := &countedContext{Context: t.Context(), left: cells}
		var o, e strings.Builder
		code := run(ctx, []string{"merge", out, "-q"}, &o, &e)
		if again := `tables in ` + out + ` are as they were; go on with "bench merge ` + out + `"`; code != exitInterrupted || !strings.Contains(e.String(), again) || o.Len() > 0 {
			t.Errorf("%s: exit code %d: %s%s", name, code, &o, &e)
		}
		if after, err := os.ReadFile(filepath.Join(out, "manifest.json")); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s: %v, the tables changed", name, err)
		}
	}
	mustRun(t, "merge", out, "-q")
	if got := digestOf(t, out); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// countedContext ends after its error was asked for so many times.
type countedContext struct {
	context.Context
	left int
}

func (c *countedContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// An interrupted import leaves the folder as it was: no part of a trace under its name,
// and no temporary file.
func TestInterruptImport(t *testing.T) {
	var log strings.Builder
	log.WriteString("timestamp,duration,num_gpus,gpu_time,cluster\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&log, "2017-10-%02d %02d:%02d:%02d,%d,%d,%d,vc%d\n", 1+i/86400%28, i/3600%24, i/60%60, i%60, 60+i%5000, 1+i%8, 0, i%14)
	}
	in, dir := write(t, "philly.csv", log.String()), t.TempDir()
	out := filepath.Join(dir, "philly.parquet")
	if err := os.WriteFile(out, []byte("what was there"), 0o644); err != nil {
		t.Fatal(err)
	}
	waiting := func(string, float64) bool { // rows are in the temporary file
		list, _ := os.ReadDir(dir)
		for _, entry := range list {
			if info, err := entry.Info(); err == nil && info.Name() != "philly.parquet" && info.Size() > 0 {
				return true
			}
		}
		return false
	}
	c := interruptCommand(t, waiting, "dataset", "import", "--format", "philly", in, "-o", out)
	c.check(t, "nothing was written, and "+out+" is as it was", "the same command begins anew")
	if data, err := os.ReadFile(out); err != nil || string(data) != "what was there" {
		t.Errorf("%v: %.100q", err, data)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}

// Whatever phase an import is in, it ends soon after its context: also while it sorts
// and writes.
func TestImportStopsAnywhere(t *testing.T) {
	in := write(t, "60_job.csv", "job_id,num_gpu,submit_time,iterations,model_name,duration\n"+strings.Repeat("1,2,3,4,vgg19,5\n", 5000))
	out := filepath.Join(t.TempDir(), "out.parquet")
	mustRun(t, "dataset", "import", "--format", "tiresias", in, "-o", out, "-q")
	ended := 0
	for left := 0; ; left++ {
		var o, e strings.Builder
		code := run(&countedContext{Context: t.Context(), left: left}, []string{"dataset", "import", "--format", "tiresias", in, "-o", out, "-q"}, &o, &e)
		if code == exitOK {
			break
		}
		if ended++; code != exitInterrupted || ended > 100 {
			t.Fatalf("after %d questions: exit code %d: %s", left, code, &e)
		}
	}
	if ended < 5 {
		t.Errorf("the context was asked %d times", ended)
	}
}

// The second interrupt ends a command at once, wherever it is: here it waits for somebody
// to read the pipe that it is to write to.
func TestInterruptTwice(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		schedtest.Missing(t, "no named pipe: %v", err)
	}
	c := exec.Command(os.Args[0], "solve", write(t, "in.json", tinyInstance), "--schedule", pipe)
	c.Env = append(os.Environ(), asCommand+"=1")
	out, errOut := &growingText{}, &growingText{}
	c.Stdout, c.Stderr = out, errOut
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	interrupts, signs := 0, []func() bool{
		func() bool { return strings.Contains(out.String(), "\ntime ") },
		func() bool { return strings.Contains(errOut.String(), "once more to leave at once") },
		func() bool { return false },
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if exit, ok := errors.AsType[*exec.ExitError](err); interrupts != 2 || !ok || exit.ExitCode() != exitInterrupted {
				t.Errorf("after %d interrupts: %v: %s%s", interrupts, err, out, errOut)
			}
			return
		case <-tick.C:
			if signs[interrupts]() {
				interrupts++
				if err := c.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
