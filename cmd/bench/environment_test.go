package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"yardstick/bench/record"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
)

// within runs the command in a shell that first does to its surroundings what prepare
// says, in a mount namespace of its own where that is asked for, and returns the exit
// code and all that it printed. The shell calls the command "$0".
func within(t *testing.T, namespace bool, prepare string, args ...string) (int, string) {
	t.Helper()
	words := []string{"sh", "-ec", prepare + "\nexec \"$0\" \"$@\"", os.Args[0]}
	if namespace {
		own := []string{"unshare", "--mount"}
		if os.Geteuid() != 0 {
			own = append(own, "--map-root-user")
		}
		if out, err := exec.Command(own[0], append(own[1:], "mount", "-t", "tmpfs", "none", t.TempDir())...).CombinedOutput(); err != nil {
			schedtest.Forbidden(t, "mount in a namespace of our own: %v: %s", err, out)
		}
		words = append(own, words...)
	}
	c := exec.Command(words[0], append(words[1:], args...)...)
	c.Env = append(os.Environ(), asCommand+"=1")
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// Where no child process can be started, a run stops with one line, nothing counts as
// finished, and the same command goes on once that is mended.
func TestBrokenEnvironment(t *testing.T) {
	suite := write(t, "suite.yaml", shardSuite)
	for _, c := range []struct {
		name, prepare, want string
		namespace           bool
	}{
		{"descriptors", "ulimit -n 9", "9 files may be open", false},
		{"null", "mount -t tmpfs none /dev", "/dev/null: no such file or directory", true},
		{"proc", "mount -t tmpfs none /proc", "mount /proc", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			code, text := within(t, c.namespace, c.prepare, "run", suite, "-q", "-o", out)
			said := strings.Split(strings.TrimSpace(text), "\n")
			if last := said[len(said)-1]; code != exitInternal || strings.Count(text, "bench: ") != 1 || !strings.Contains(last, c.want) || c.namespace && !strings.Contains(last, "go on with") {
				t.Fatalf("exit code %d: %s", code, text)
			}
			code, _, errOut := benchCommand(t, "run", suite, "-q", "-o", out)
			if code != exitOK || strings.Contains(errOut, "finished before") {
				t.Errorf("afterwards: exit code %d: %s", code, errOut)
			}
		})
	}
}

// However few processes a user may have, that is never taken for bad input: the run
// works, stops with one line, or, where Go itself is refused a thread, is aborted.
func TestFewProcesses(t *testing.T) {
	dir, err := os.MkdirTemp("", "processes") // which another user can enter, unlike those of t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.Chmod(dir, 0o777), os.WriteFile(dir+"/bench", program, 0o755), os.WriteFile(dir+"/s.yaml", []byte(tinySuite), 0o644)); err != nil {
		t.Fatal(err)
	}
	const user = "54321"
	if out, err := exec.Command("setpriv", "--reuid", user, "--clear-groups", "prlimit", "--nproc=1000", "true").CombinedOutput(); err != nil {
		schedtest.Forbidden(t, "be another user: %v: %s", err, out)
	}
	for most := 8; ; most++ { // Go needs about six before it runs a line of ours
		c := exec.Command("setpriv", "--reuid", user, "--clear-groups", "prlimit", fmt.Sprintf("--nproc=%d", most), dir+"/bench", "run", dir+"/s.yaml", "-q", "-j", "2", "-o", fmt.Sprintf("%s/%d", dir, most))
		c.Env, c.Dir = append(os.Environ(), asCommand+"=1", "HOME="+dir, "GOTRACEBACK="), dir
		out, err := c.CombinedOutput()
		aborted := c.ProcessState.Sys().(syscall.WaitStatus).Signaled()
		code := c.ProcessState.ExitCode()
		switch {
		case code == exitInternal && strings.Count(string(out), "bench: ") == 1 && strings.Contains(string(out), "this machine cannot run cells"):
			return
		case !aborted:
			t.Fatalf("%d processes: %v: %s", most, err, out)
		}
	}
}

// A new build during a run changes nothing: children that are started later are the
// program that was started.
func TestBuildDuringARun(t *testing.T) {
	suite, dir := write(t, "suite.yaml", longSuite(20)), t.TempDir()
	program, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.WriteFile(dir+"/bench", program, 0o755), os.WriteFile(dir+"/new", []byte("#!/bin/false\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	c, out := command("run", suite, "-q", "-j", "1", "-o", dir+"/out")
	c.Path = dir + "/bench"
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	for child == 0 && syscall.Kill(c.Process.Pid, 0) == nil {
		time.Sleep(5 * time.Millisecond)
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", c.Process.Pid))
		for _, task := range tasks {
			text, _ := os.ReadFile(task)
			if names, _ := filepath.Glob(dir + "/out/cells/*.journal"); len(names) > 0 && len(text) > 0 {
				_, _ = fmt.Sscan(string(text), &child)
			}
		}
	}
	if err := errors.Join(os.Rename(dir+"/new", dir+"/bench"), syscall.Kill(child, syscall.SIGKILL)); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitIncomplete || !strings.Contains(out.String(), "bench: 1 cell failed") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// A full disk, a read-only one and too few descriptors are never bad input, whatever a
// command writes or reads.
func TestMachineIsNoBadInput(t *testing.T) {
	lines, few := commandLines(t), ""
	for n := 5; n < 20; n++ { // as few as the program needs to start
		if few = fmt.Sprint("ulimit -n ", n); func() bool { code, _ := within(t, true, few, "version"); return code == exitOK }() {
			break
		}
	}
	flags := map[string]string{
		"run": "-o", "submit slurm": "-o", "place": "-o", "merge": "", "man": "", "reproduce": "-o", "report": "-o", "solve": "--schedule", "simulate": "-o",
		"bound": "--certificate", "export": "-o", "hunt": "-o", "dataset import": "-o", "dataset generate": "-o", "dataset slice": "-o",
		"dataset profile": "-o", "dataset interference": "-o", "instance build": "-o", "instance convert": "-o", "instance extract": "-o",
		"compare": "-o",
	}
	names := slices.Sorted(maps.Keys(flags))
	for _, k := range rand.New(rand.NewPCG(7, 13)).Perm(len(names))[:tier.Draws(4, len(names))] {
		name, flag := names[k], flags[names[k]]
		args := slices.Clone(lines[name])
		switch {
		case flag == "":
			args[slices.Index(args, name)+1] = "@"
		case name == "reproduce":
			args = []string{"reproduce", "lazer-table2", "--scale", "0.01", "--draws", "1", "-o", "@"}
		default:
			if i := slices.Index(args, flag); i >= 0 {
				args = slices.Delete(args, i, i+2)
			}
			args = append(args, flag, "@")
		}
		disk := t.TempDir()
		for i := range args {
			if args[i] == "@" {
				args[i] = disk + "/x"
				if name == "instance convert" {
					args[i] += ".csv"
				}
			}
		}
		for _, prepare := range []string{
			"mount -t tmpfs -o size=4k none " + disk + "; (dd if=/dev/zero of=" + disk + "/filler || true) 2>/dev/null",
			"mount -t tmpfs -o ro none " + disk,
			few,
		} {
			code, text := within(t, true, prepare, args...)
			if prepare == few && code == exitOK {
				continue // it needs no more
			}
			if code != exitInternal || strings.Count(text, "bench: ") != 1 || strings.Contains(text, ".yardstick.tmp") {
				t.Errorf("bench %s after %s: exit code %d: %s", strings.Join(args, " "), prepare, code, text)
			}
		}
	}
}

// Placements by programs, which start a child each, stop at the first as well, and leave
// no tables.
func TestBrokenEnvironmentOfPlacements(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	code, text := within(t, true, "mount -t tmpfs none /dev", "place", "--profile", "builtin:v100/vgg19", "--gpus", "4", "--cluster", "4x2", "--fragmentations", "2",
		"--methods", "count-cut/branch", "-q", "-o", out)
	if _, err := os.Stat(filepath.Join(out, record.ManifestName)); code != exitInternal || strings.Count(text, "bench: ") != 1 || !strings.Contains(text, "this machine cannot run cells") || err == nil {
		t.Errorf("exit code %d, %v: %s", code, err, text)
	}
}

// A disk that fills up on the way costs what it has no room for: with more room the same
// command goes on from what it had finished.
func TestDiskFillsUp(t *testing.T) {
	suite, disk := write(t, "suite.yaml", shardSuite), t.TempDir()
	for _, size := range []string{"48k", "96k", "400k"} {
		full := fmt.Sprintf(`mount -t tmpfs -o size=%s none %s
code=0; "$0" "$@" || code=$?
echo "first $code"
mount -o remount,size=64m %[2]s`, size, disk)
		code, text := within(t, true, full, "run", suite, "-q", "-o", disk+"/out")
		if code != exitOK || strings.Count(text, "bench: ") != 1 || !strings.Contains(text, "no space left on device\nfirst 1\n") || !strings.Contains(text, "cells were finished before") {
			t.Errorf("%s: exit code %d: %s", size, code, text)
		}
	}
}
