package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"yardstick/internal/python"
)

// The parts of a release, of a program that is a script: to build one takes minutes.
func TestParts(t *testing.T) {
	script, err := filepath.Abs("parts.py")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python.Interpreter(t, "setuptools"), script)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GO_PROGRAM="+self, "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
