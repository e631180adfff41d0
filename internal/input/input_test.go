package input

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]string{dir: "is a directory, not a file", pipe: "is a pipe, not a file",
		socket: "is a socket, not a file", "/dev/zero": "is a device, not a file", filepath.Join(dir, "no"): "no such file or directory"} {
		if _, err := Read(path); err == nil || err.Error() != path+": "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Open(filepath.Join(dir, "no")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A sparse file of 2 GB is refused before it is read; the environment decides.
func TestSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(2<<30), f.Close()); err != nil {
		t.Fatal(err)
	}
	want := path + ": has 2048 MB, more than the 1024 MB that are read; $BENCH_MAX_INPUT_MB raises that"
	if _, err := Read(path); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	t.Setenv(Megabytes.Variable, "2048")
	opened, err := Document(path)
	if err != nil {
		t.Fatal(err)
	}
	opened.Close()
	for _, bad := range []string{"0", "-1", "x", "99999999999999999999"} {
		t.Setenv(Megabytes.Variable, bad)
		if _, err := Document(path); err == nil {
			t.Errorf("%s=%s is taken", Megabytes.Variable, bad)
		}
	}
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Megabytes.Variable, "1")
	if data, err := Read(path); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
}
