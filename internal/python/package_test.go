package python

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/internal/built"
	"yardstick/internal/tier"
)

// The tests of the Python package, and the examples in its docstrings, run against the
// program as it is now.
func TestPackage(t *testing.T) {
	interpreter := Interpreter(t, "polars")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "python", "tests", "test_*.py"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found the tests %v (%v)", files, err)
	}
	bench := built.Bench(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".py"), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), interpreter, file)
			cmd.Dir = filepath.Join(root, "notebooks") // docstrings load its golden results
			cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "python", "src"), "PYTHONDONTWRITEBYTECODE=1", "MPLBACKEND=agg",
				"YARDSTICK_RESULTS=", "YARDSTICK_BENCH="+bench)
			if tier.All() {
				cmd.Env = append(cmd.Env, "YARDSTICK_ALL=1")
			}
			out, err := cmd.CombinedOutput()
			switch {
			case err != nil:
				t.Fatalf("python %s: %v\n%s", file, err, out)
			case tier.All() && bytes.Contains(out, []byte("skipped=")):
				t.Errorf("python %s skips tests: run make test, which installs what they need\n%s", file, out)
			}
		})
	}
}
