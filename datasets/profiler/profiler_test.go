// Package profiler_test runs the tests of the Python program in this folder.
package profiler_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/datasets/profile"
	"yardstick/internal/python"
)

// run runs Python in this folder.
func run(t *testing.T, interpreter string, env []string, arguments ...string) string {
	t.Helper()
	cmd := exec.Command(interpreter, arguments...)
	cmd.Env = append(append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

// The program's own tests pass. Those that measure need PyTorch and are skipped
// without it; with it they compare its networks with the analytic profiles.
func TestPython(t *testing.T) {
	interpreter := python.Interpreter(t, "pyarrow")
	list, err := profile.Builtin("v100")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "analytic.parquet")
	if err := profile.WriteFile(path, list); err != nil {
		t.Fatal(err)
	}
	out := run(t, interpreter, []string{"YARDSTICK_PROFILES=" + path}, "-m", "unittest", "-v", "test_profiler")
	if !strings.Contains(out, "test_files") || !strings.Contains(out, "OK") {
		t.Errorf("the tests did not run:\n%s", out)
	}
	t.Log(out)
}

// Both programs mean the same by the schema, and Go reads what Python writes.
func TestSchema(t *testing.T) {
	interpreter := python.Interpreter(t, "pyarrow")
	path := filepath.Join(t.TempDir(), "measured.parquet")
	const script = `
import sys, tables
for name, kind, unit, nullable, description in tables.PROFILE:
    print("|".join([name, kind, unit, str(nullable).lower(), description]))
layers = [dict(name=f"l{i}", forward_ns=10.4 + i, backward_ns=20, activation_bytes=64, parameter_bytes=7, stored_bytes=None if i else 3) for i in range(4)]
tables.write(sys.argv[1], tables.PROFILE, tables.profile_rows("vgg19", "rtx-4090", 32, layers) + tables.profile_rows("t5-11b", "rtx-4090", 8, layers), {})
`
	var want strings.Builder
	for _, c := range profile.Columns() {
		fmt.Fprintf(&want, "%s|%s|%s|%v|%s\n", c.Name, c.Type, c.Unit, c.Nullable, c.Description)
	}
	if out := run(t, interpreter, nil, "-c", script, path); out != want.String() {
		t.Errorf("Python's columns:\n%sGo's:\n%s", out, want.String())
	}
	list, err := profile.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Model != "vgg19" || list[1].Batch != 8 || list[0].Source != profile.Measured {
		t.Fatalf("profiles %+v", list)
	}
	first := profile.Layer{Name: "l0", Forward: 10, Backward: 20, Activation: 64, Parameters: 7, Stored: profile.Stored{Bytes: 3, Known: true}}
	last := profile.Layer{Name: "l3", Forward: 13, Backward: 20, Parameters: 7}
	if l := list[0].Layers; len(l) != 4 || l[0] != first || l[3] != last {
		t.Errorf("layers %+v", l)
	}
}
