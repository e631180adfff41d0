//go:build linux

// Package attack tries to break the command as a whole: damaged inputs for every
// reader, kills at any moment of every long command, full disks and low limits. It
// starts the program as users do and looks at what they would see. make attack runs
// all of it and prints the figures that docs/reliability.md has.
package attack

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"yardstick/internal/built"
	"yardstick/internal/tier"
)

var (
	inputs = flag.Int("inputs", 0, "damaged inputs; 0 for a few hundred, fewer in a brief run")
	kills  = flag.Int("kills", 0, "kills; 0 for a few dozen, fewer in a brief run")
	seed   = flag.Uint64("seed", 1, "seed of damages and of moments")
)

var (
	path  string
	build sync.Once
)

// program is the path of the command.
func program(t testing.TB) string {
	build.Do(func() { path = built.Bench(t) })
	if path == "" {
		t.Fatal("the command could not be built")
	}
	return path
}

// count returns how much of something is done.
func count(given *int, brief, all int) int {
	if *given > 0 {
		return *given
	}
	return tier.Draws(brief, all)
}

// patience is how long a command may take before it counts as hung: far beyond what any
// of them needs on a busy machine.
const patience = 5 * time.Minute

// ending is how a process ended and what it left to read.
type ending struct {
	code        int // -1 if a signal ended it
	out, err    string
	hung        bool
	maxResident int64 // bytes, of the process and its children
}

// marker is in the environment of every process started here, so that those that
// outlive their command are found.
const marker = "YARDSTICK_ATTACK"

// start prepares a process of the command in a group of its own.
func start(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	// The machine survives a command that eats memory: it breaks at a few GB.
	c := exec.Command("sh", slices.Concat([]string{"-c", `ulimit -v 8000000 && exec "$0" "$@"`, program(t)}, args)...)
	c.Dir = dir
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", marker, os.Getpid()), "XDG_CONFIG_HOME="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// run runs the command to its end.
func run(t testing.TB, dir string, args ...string) ending {
	t.Helper()
	return wait(t, start(t, dir, args...))
}

func wait(t testing.TB, c *exec.Cmd) ending {
	t.Helper()
	var out, errs bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &out
	}
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	err := c.Wait()
	e := ending{out: out.String(), err: errs.String(), hung: !stop()}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	e.code = c.ProcessState.ExitCode()
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		e.maxResident = usage.Maxrss << 10
	}
	return e
}

// must runs the command, which must succeed.
func must(t testing.TB, dir string, args ...string) string {
	t.Helper()
	e := run(t, dir, args...)
	if e.code != 0 {
		t.Fatalf("bench %s: exit code %d: %s%s", strings.Join(args, " "), e.code, e.out, e.err)
	}
	return e.out
}

// trace matches what the Go runtime prints of a program that broke.
var trace = regexp.MustCompile(`(?m)^(panic:|fatal error:|runtime: |goroutine \d+|unexpected fault|SIG[A-Z]+:)`)

// broken says what is wrong with an ending whatever the input was, or nothing.
func (e *ending) broken() string {
	switch {
	case e.hung:
		return "hung"
	case trace.MatchString(e.err) || trace.MatchString(e.out) || strings.Contains(e.err, "internal error"):
		return "trace"
	case e.code < 0:
		return "killed by a signal"
	case e.code != 0 && e.code != 5 && !strings.Contains(e.err, "bench: "):
		return "no reason given"
	case len(e.err) > 20_000:
		return "a flood of errors"
	case e.code > 5 && e.code != 130:
		return fmt.Sprint("exit code ", e.code)
	}
	return ""
}

// left returns the processes of this attack that still run.
func left(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, path := range list {
		env, err := os.ReadFile(path) // of a process that may just have ended
		if err == nil && bytes.Contains(env, fmt.Appendf(nil, "%s=%d\x00", marker, os.Getpid())) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			out = append(out, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return out
}
