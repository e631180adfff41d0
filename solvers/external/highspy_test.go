package external

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"yardstick/internal/python"
)

// withHiGHS returns HiGHS: the command on PATH, or the library of the Python
// package highspy behind a command of the same name. The test is skipped where
// there is neither.
func withHiGHS(t *testing.T) *Solver {
	t.Helper()
	if s, err := HiGHS(); !errors.Is(err, ErrAbsent) {
		return must(t, s, err)
	}
	interpreter := python.Interpreter(t, "highspy")
	script, err := filepath.Abs("testdata/highs.py")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	text := fmt.Sprintf("#!/bin/sh\nexec '%s' '%s' \"$@\"\n", interpreter, script)
	if err := os.WriteFile(filepath.Join(folder, "highs"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	s, err := HiGHS()
	return must(t, s, err)
}

func must(t *testing.T, s *Solver, err error) *Solver {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
