//go:build cgo

package isolate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"yardstick/internal/schedtest"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// one is min x over the integers from 0 to 3 with 2x ≥ 1.
func one() *milp.Model {
	return &milp.Model{Vars: []milp.Variable{{Upper: 3, Cost: 1, Integer: true}},
		Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{2}, Sense: milp.GE, RHS: 1}}}
}

func run(t *testing.T, s Solver, m *milp.Model, l milp.Limits) *milp.Result {
	t.Helper()
	res, err := s.Solve(context.Background(), m, milp.Start{}, l)
	if err != nil {
		t.Fatalf("%s: %v", s.Solver, err)
	}
	if err := res.Validate(); err != nil {
		t.Fatalf("%s: %v", s.Solver, err)
	}
	return res
}

// A child finds, bit for bit, what the same solver finds here.
func TestSameResultAsInProcess(t *testing.T) {
	models := []*milp.Model{{Constant: 1. / 3}, one(), {Vars: []milp.Variable{{Upper: 1e29, Lower: 1e-300, Cost: 0.1}}}}
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 60))
		m := &milp.Model{Name: fmt.Sprint(seed)}
		for range 1 + r.IntN(8) {
			m.AddVar(milp.Variable{Lower: -r.Float64(), Upper: 5 * r.Float64(), Cost: r.NormFloat64(), Integer: r.IntN(2) == 0})
		}
		for range r.IntN(5) {
			row := milp.Row{Sense: milp.Sense(r.IntN(3) - 1), RHS: r.NormFloat64()}
			for j := range m.Vars {
				row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, r.NormFloat64())
			}
			m.AddRow(row)
		}
		models = append(models, m)
	}
	for k, m := range models {
		got := run(t, Solver{Solver: "lpsolve-mip"}, m, milp.Limits{})
		want, err := lpsolve.MIP{}.Solve(context.Background(), m, milp.Start{}, milp.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Stats.PeakRSS < 1<<20 || got.Stats.CPU <= 0 || got.Stats.Wall <= 0 || got.Stats.Iterations != want.Stats.Iterations {
			t.Errorf("model %d: %+v, in process %+v", k, got.Stats, want.Stats)
		}
		got.Stats = want.Stats
		if !reflect.DeepEqual(got, want) {
			t.Errorf("model %d: %+v, in process %+v", k, got, want)
		}
	}
}

func TestEndings(t *testing.T) {
	short := 50 * time.Millisecond
	for _, c := range []struct {
		s       Solver
		limit   time.Duration
		want    milp.Termination
		message string
	}{
		{Solver{Solver: "segfault"}, 0, milp.Crashed, "SIGSEGV"},
		{Solver{Solver: "panic"}, 0, milp.Crashed, "panic: out of luck"},
		{Solver{Solver: "exit"}, 0, milp.Crashed, "exit status 3"},
		{Solver{Solver: "hang", Grace: short}, short, milp.TimeLimit, "killed after"},
		{Solver{Solver: "glutton", Memory: 200 << 20}, 0, milp.MemoryLimit, "killed after"},
		{Solver{Solver: "chatty", Memory: 200 << 20}, time.Minute, milp.Optimal, ""},
		{Solver{Solver: "nested"}, 0, milp.Optimal, ""},
	} {
		start := time.Now()
		res := run(t, c.s, one(), milp.Limits{Time: c.limit})
		if res.Termination != c.want || !strings.Contains(res.Message, c.message) || strings.Contains(res.Message, "\n") {
			t.Errorf("%s: %s, %q; want %s, %q", c.s.Solver, res.Termination, res.Message, c.want, c.message)
		}
		if c.want != milp.Optimal && (res.Primal != milp.None || res.Dual != milp.None) {
			t.Errorf("%s: %+v", c.s.Solver, res)
		}
		if c.want == milp.MemoryLimit && (res.Stats.PeakRSS < c.s.Memory || res.Stats.PeakRSS > 2*c.s.Memory) {
			t.Errorf("%s: peak of %d MiB with a limit of %d MiB", c.s.Solver, res.Stats.PeakRSS>>20, c.s.Memory>>20)
		}
		if wall := time.Since(start); wall > 5*time.Minute {
			t.Errorf("%s took %v", c.s.Solver, wall)
		}
	}
	noOrphans(t)
}

func TestErrors(t *testing.T) {
	bad := one()
	bad.Rows[0].Cols[0] = 7
	for _, c := range []struct {
		s    Solver
		m    *milp.Model
		want string
	}{
		{Solver{Solver: "error"}, one(), "isolate: in the child process: no licence"},
		{Solver{Solver: "unknown"}, one(), `isolate: in the child process: there is no solver "unknown"`},
		{Solver{Solver: "lpsolve-mip"}, bad, "isolate: milp: row 0"},
		{Solver{Solver: "liar"}, one(), "isolate: the child process returned a point that does not prove"},
		{Solver{Solver: "contradiction"}, one(), "isolate: in the child process: milp: optimal result without"},
		{Solver{Solver: "short"}, one(), "isolate: the child process returned 0 values"},
		{Solver{Solver: "lpsolve-mip", Path: "/bin/true"}, one(), "isolate: /bin/true did not answer (exit status 0): its main function must call isolate.Main"},
		{Solver{Solver: "lpsolve-mip", Path: filepath.Join(t.TempDir(), "none")}, one(), "isolate: starting a child process"},
	} {
		res, err := c.s.Solve(context.Background(), c.m, milp.Start{}, milp.Limits{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want %s", c.s.Solver, res, err, c.want)
		}
	}
	if res, err := (Solver{Solver: "lpsolve-mip", Path: anotherBuild(t)}).Solve(context.Background(), one(), milp.Start{}, milp.Limits{}); err == nil || !strings.Contains(err.Error(), "the program was replaced") {
		t.Errorf("another build: %+v, %v", res, err)
	}
	t.Setenv(variable, "lpsolve-mip")
	if _, err := (Solver{Solver: "lpsolve-mip"}).Solve(context.Background(), one(), milp.Start{}, milp.Limits{}); err == nil {
		t.Error("a child whose main does not call Main starts children")
	}
}

// anotherBuild returns a program that serves solves and is not this one.
func anotherBuild(t *testing.T) string {
	t.Helper()
	program, err := os.ReadFile(os.Args[0])
	path := filepath.Join(t.TempDir(), "another")
	if err := errors.Join(err, os.WriteFile(path, append(program, 0), 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

// A solver that heeds the context keeps its point; another is killed.
func TestCancel(t *testing.T) {
	for _, c := range []struct {
		s      Solver
		primal milp.Evidence
	}{{Solver{Solver: "patient", Grace: time.Minute}, milp.Proven}, {Solver{Solver: "hang", Grace: 50 * time.Millisecond}, milp.None}} {
		ctx, cancel := context.WithCancel(context.Background())
		started := filepath.Join(t.TempDir(), "started")
		t.Setenv(startedFile, started)
		go func() {
			within(2*time.Minute, func() bool { _, err := os.Stat(started); return err == nil })
			cancel()
		}()
		res, err := c.s.Solve(ctx, one(), milp.Start{}, milp.Limits{})
		cancel()
		if err != nil || res.Termination != milp.Interrupted || res.Primal != c.primal {
			t.Errorf("%s: %+v, %v", c.s.Solver, res, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if res, err := (Solver{Solver: "hang"}).Solve(ctx, one(), milp.Start{}, milp.Limits{}); err != nil || res.Termination != milp.Interrupted {
		t.Errorf("%+v, %v", res, err)
	}
	noOrphans(t)
}

func TestManyAtOnce(t *testing.T) {
	var group sync.WaitGroup
	for k := range 6 {
		group.Go(func() {
			s := Solver{Solver: []string{"lpsolve-mip", "segfault"}[k%2]}
			want := []milp.Termination{milp.Optimal, milp.Crashed}[k%2]
			if res, err := s.Solve(context.Background(), one(), milp.Start{}, milp.Limits{}); err != nil || res.Termination != want {
				t.Errorf("%s: %+v, %v", s.Solver, res, err)
			}
		})
	}
	group.Wait()
	noOrphans(t)
}

// noOrphans fails if this process has children.
func noOrphans(t *testing.T) {
	t.Helper()
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		if text, err := os.ReadFile(task); err == nil && len(strings.TrimSpace(string(text))) > 0 {
			t.Errorf("children are left: %s", text)
		}
	}
}

// parentOfHanging makes this process a parent whose child never ends, for
// TestChildDiesWithItsParent.
func parentOfHanging() {
	if os.Getenv("YARDSTICK_TEST_PARENT") == "" {
		return
	}
	os.Unsetenv("YARDSTICK_TEST_PARENT")
	_, err := Solver{Solver: "hang"}.Solve(context.Background(), one(), milp.Start{}, milp.Limits{})
	fmt.Println(err)
	os.Exit(1)
}

// A parent that is killed takes its child with it, even one that ignores the
// end of its input.
func TestChildDiesWithItsParent(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		schedtest.Missing(t, "children of a process cannot be listed: %v", err)
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "YARDSTICK_TEST_PARENT=1")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	if !within(2*time.Minute, func() bool {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent.Process.Pid))
		for _, task := range tasks {
			text, _ := os.ReadFile(task)
			if fields := strings.Fields(string(text)); len(fields) > 0 {
				child, _ = strconv.Atoi(fields[0])
			}
		}
		return child != 0
	}) {
		t.Error("no child was started")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = parent.Wait()
	// The child may stay a zombie if nobody reaps adopted processes.
	if child != 0 && !within(2*time.Minute, func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		_, state, _ := strings.Cut(string(text), ") ")
		return err != nil || strings.HasPrefix(state, "Z")
	}) {
		t.Errorf("process %d lives on", child)
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
}

func within(limit time.Duration, f func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return true
		}
	}
	return false
}

func BenchmarkOverhead(b *testing.B) {
	for name, s := range map[string]milp.Solver{"child": Solver{Solver: "lpsolve-mip"}, "in-process": lpsolve.MIP{}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Solve(context.Background(), one(), milp.Start{}, milp.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
