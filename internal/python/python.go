// Package python finds the interpreter that tests compare with.
package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"yardstick/internal/schedtest"
)

// Interpreter returns a Python that has a module: the one that YARDSTICK_PYTHON
// names, else that of the repository's .venv, which "make test" makes. Where
// there is none the test is skipped, and fails in CI.
func Interpreter(t *testing.T, module string) string {
	t.Helper()
	if p := os.Getenv("YARDSTICK_PYTHON"); p != "" {
		return p // named on purpose: not skipped if it does not work
	}
	p, err := filepath.Abs("../../.venv/bin/python") // packages with such tests are two folders deep
	if err != nil {
		t.Fatal(err)
	}
	find := "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
	if out, err := exec.Command(p, "-c", find, module).CombinedOutput(); err != nil {
		schedtest.Missing(t, "no Python with %s at %s (%v%s): run make test, which makes .venv, or set YARDSTICK_PYTHON to an interpreter that has bench/record/testdata/requirements.txt, notebooks/requirements.txt and python/requirements.txt", module, p, err, out)
	}
	return p
}
