// Package built has the command for the tests that run it as users do.
package built

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Bench returns the path of the command, built of the source as it is. All tests of a
// working tree share the file, which is linked again only where the source has changed.
func Bench(t testing.TB) string {
	t.Helper()
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(string(root[:len(root)-1]), ".cache", "tests")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(filepath.Join(folder, "lock")) // packages are tested at the same time
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "bench")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-o", path, "yardstick/cmd/bench")
	build.Dir = string(root[:len(root)-1])
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}
