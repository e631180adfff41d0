package children

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/suite"
)

// What the machine lacks is no failure of a cell, and one line: a program that cannot be
// started, is another by now, or may have no more threads, and a full disk.
func TestMachine(t *testing.T) {
	self, err := os.ReadFile(os.Args[0])
	another := filepath.Join(t.TempDir(), "another")
	if err := errors.Join(err, os.WriteFile(another, append(self, 0), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path, want string }{
		{"works", filepath.Join(t.TempDir(), "none"), "starting a child process: fork/exec"},
		{"works", "/bin/false", "a child process ended as it started: exit status 1"},
		{"works", another, "the program was replaced since it was started: run it again"},
		{"no threads", "", "failed to create new OS thread"},
		{"no threads in C", "", "pthread_create failed"},
		{"full disk", "", "writing a model: write /tmp/model: no space left on device"},
	} {
		p := New(suite.Limits{}, 1)
		p.path = c.path
		r := p.Run(context.Background(), cell(t, c.method, "one"))
		p.Close()
		if !errors.Is(r.Err, bench.ErrMachine) || !strings.Contains(r.Err.Error(), c.want) || strings.Contains(r.Err.Error(), "\n") {
			t.Errorf("%s by %q: %v, want %s", c.method, c.path, r.Err, c.want)
		}
	}
	p := New(suite.Limits{}, 1)
	defer p.Close()
	for _, name := range []string{"dies", "fails", "panics"} {
		if r := p.Run(context.Background(), cell(t, name, "one")); r.Err == nil || errors.Is(r.Err, bench.ErrMachine) {
			t.Errorf("%s: %v", name, r.Err)
		}
	}
}
