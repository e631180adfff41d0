package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
)

// limited runs the command in a shell that has set a limit first.
func limited(t *testing.T, ulimit string, args ...string) (code int, errOut string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", append([]string{"-c", ulimit + ` && exec "$0" "$@"`, os.Args[0]}, args...)...)
	c.Env = append(os.Environ(), asCommand+"=1")
	c.Dir = t.TempDir()
	var b strings.Builder
	c.Stderr = &b
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), b.String()
}

// leastRoom returns how many megabytes of address space and how many open files the
// program says that it needs to start; 0 where it does not look.
func leastRoom(t *testing.T) (space, files int) {
	t.Helper()
	needed := regexp.MustCompile(`and (\d+)`)
	for ulimit, into := range map[string]*int{"ulimit -v 102400": &space, "ulimit -n 8": &files} {
		if _, text := limited(t, ulimit, "version"); needed.MatchString(text) {
			*into, _ = strconv.Atoi(needed.FindStringSubmatch(text)[1])
		}
	}
	return space, files
}

// TestTooLittleRoom: with too little address space or too few files the program says so in
// a line, or works.
func TestTooLittleRoom(t *testing.T) {
	space, files := leastRoom(t)
	if space == 0 {
		schedtest.Missing(t, "the program does not say how much room it needs: is it built without cgo?")
	}
	suite := write(t, "s.yaml", "name: s\ninstances: [{slice: {jobs: 2}}]\nmethods: [sjf]\n")
	for _, mb := range []int{100, 300, 600, 900, 1200, 1500, space - 1} {
		if code, text := limited(t, fmt.Sprint("ulimit -v ", mb<<10), "version"); code != exitInternal || strings.Count(text, "\n") != 1 || !strings.Contains(text, "ulimit -v") {
			t.Errorf("%d MB: exit code %d: %.300s", mb, code, text)
		}
	}
	for _, n := range []int{8, 12, 16, 32, files - 1} {
		if code, text := limited(t, fmt.Sprint("ulimit -n ", n), "version"); code != exitInternal || strings.Count(text, "\n") != 1 || !strings.Contains(text, "ulimit -n") {
			t.Errorf("%d files: exit code %d: %.300s", n, code, text)
		}
	}
	for _, ulimit := range []string{fmt.Sprint("ulimit -v ", space<<10), fmt.Sprint("ulimit -n ", files)} {
		if code, text := limited(t, ulimit, "plan", suite); code != exitOK || text != "" {
			t.Errorf("%s: exit code %d: %.300s", ulimit, code, text)
		}
		if code, text := limited(t, ulimit, "run", suite, "-q", "-j", "2"); code != exitOK || text != "" {
			t.Errorf("%s: exit code %d: %.300s", ulimit, code, text)
		}
	}
}

// Where the space is used up later, that is one line too.
func TestRoomUsedUp(t *testing.T) {
	tier.Slow(t) // half a minute
	space, _ := leastRoom(t)
	if space == 0 {
		schedtest.Missing(t, "the program does not say how much room it needs: is it built without cgo?")
	}
	t.Setenv("BENCH_MAX_JOBS", "1000000000")
	suite := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(suite, []byte("name: s\nmethods: [fifo]\nreferences: []\ninstances: [{slice: {jobs: 5000, at: random, repeat: 100000}, tooLarge: drop}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, text := limited(t, fmt.Sprint("ulimit -v ", space<<10), "plan", suite)
	if code == exitOK || !strings.Contains(text, "out of memory") || strings.Count(text, "\n") != 1 {
		t.Errorf("exit code %d: %.600s", code, text)
	}
}
