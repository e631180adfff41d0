package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"yardstick/internal/schedtest"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// only fails where something besides names is in dir, such as a temporary file.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, names)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRegularFilesAppearWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := Write(path, text("one")); err != nil || read(t, path) != "one" {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return broken })
	if !errors.Is(err, broken) || read(t, path) != "one" {
		t.Errorf("%v, and the file is %q", err, read(t, path))
	}
	if err := Write(path, text("two")); err != nil || read(t, path) != "two" {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v, %v", info.Mode(), err)
	}
	only(t, dir, "a")
}

// Links stay links, also to what is not there yet.
func TestLinksAreFollowed(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, target := range []string{filepath.Join(other, "b"), "here"} {
		link := filepath.Join(dir, "link")
		_ = os.Remove(link)
		if err := errors.Join(os.Symlink(target, link), os.Symlink("link", filepath.Join(dir, "again"))); err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"new", "old"} {
			if err := Write(filepath.Join(dir, "again"), text(s)); err != nil {
				t.Fatal(err)
			}
			if read(t, link) != s {
				t.Errorf("%s: %q", target, read(t, link))
			}
		}
		if got, err := os.Readlink(link); err != nil || got != target {
			t.Errorf("the link became %q, %v", got, err)
		}
		_ = os.Remove(filepath.Join(dir, "again"))
	}
	only(t, dir, "here", "link")
	only(t, other, "b")
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if err := Write(loop, text("x")); err == nil {
		t.Error("a loop of links was written")
	}
}

// What is no regular file stays what it is.
func TestInPlace(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		data, err := os.ReadFile(pipe)
		if err != nil {
			t.Error(err)
		}
		got <- string(data)
	}()
	if err := Write(pipe, text("through")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "through" {
		t.Errorf("the pipe had %q", s)
	}
	only(t, dir, "pipe")

	link := filepath.Join(dir, "null")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{os.DevNull, link} {
		if err := Write(path, text("x")); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeDevice == 0 {
			t.Fatalf("%s became %v, %v", path, info.Mode(), err)
		}
		if Replaces(path) {
			t.Errorf("%s is said to be replaced", path)
		}
	}

	// A file that is open elsewhere, reached by its descriptor, is written and not exchanged.
	open, err := os.Create(filepath.Join(dir, "held"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := Write(fmt.Sprintf("/dev/fd/%d", open.Fd()), text("held")); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 10)
	if n, _ := open.ReadAt(data, 0); string(data[:n]) != "held" {
		t.Errorf("the open file has %q", data[:n])
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]string{
		"":                               "cannot write : the name is empty",
		dir:                              "cannot write " + dir + ": it is a directory",
		socket:                           "cannot write " + socket + ": it is a socket",
		filepath.Join(dir, "no", "file"): "cannot write " + filepath.Join(dir, "no", "file") + ": no such file or directory",
		filepath.Join(socket, "below"):   "cannot write " + filepath.Join(socket, "below") + ": not a directory",
	} {
		if err := Write(path, text("x")); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	only(t, dir, "s")
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		schedtest.Missing(t, "%v", err)
	}
	err := Write("/dev/full", text("x"))
	if err == nil || !Full(err) || err.Error() != "cannot write /dev/full: no space left on device" {
		t.Errorf("%v", err)
	}
	if Full(fs.ErrNotExist) || Full(syscall.EACCES) {
		t.Error("a missing folder is no full disk")
	}
}
