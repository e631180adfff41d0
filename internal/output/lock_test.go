package output

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hold is the variable that makes this test binary hold what it names, until its standard
// input ends: a lock, or a temporary file and folder.
const hold = "YARDSTICK_TEST_HOLD"

func TestMain(m *testing.M) {
	if what := os.Getenv(hold); what != "" {
		kind, path, _ := strings.Cut(what, " ")
		switch kind {
		case "files":
			f, err := Create(path)
			folder, _, err2 := TemporaryFolder("test")
			if err := errors.Join(err, err2); err != nil {
				panic(err)
			}
			fmt.Println(f.Name())
			fmt.Println(folder)
		default:
			if _, err := Lock(path, kind == "shared"); err != nil {
				panic(err)
			}
			fmt.Println(path)
			fmt.Println(path)
		}
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// holder starts a process that holds something, and returns the two lines that it prints
// and what kills it.
func holder(t *testing.T, what, temporaries string) (lines [2]string, kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env, c.Stderr = append(os.Environ(), hold+"="+what, "TMPDIR="+temporaries), os.Stderr
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	scan := bufio.NewScanner(out)
	for i := range lines {
		if !scan.Scan() {
			t.Fatalf("%s: %v", what, scan.Err())
		}
		lines[i] = scan.Text()
	}
	return lines, func() { _, _ = c.Process.Kill(), c.Wait() }
}

// A lock is held by one process or shared by several, and ends with the process.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	try := func(shared bool) error {
		f, err := Lock(path, shared)
		if err == nil {
			f.Close()
		}
		return err
	}
	for _, c := range []struct {
		held          string
		alone, shared error
	}{{"alone", ErrLocked, ErrLocked}, {"shared", ErrLocked, nil}} {
		_, kill := holder(t, c.held+" "+path, "")
		if err := try(false); !errors.Is(err, c.alone) {
			t.Errorf("held %s: alone: %v", c.held, err)
		}
		if err := try(true); !errors.Is(err, c.shared) {
			t.Errorf("held %s: shared: %v", c.held, err)
		}
		kill()
		if err := errors.Join(try(false), try(true)); err != nil {
			t.Errorf("after the process that held it %s: %v", c.held, err)
		}
	}
	if err := func() error { _, err := Lock(filepath.Join(path, "below"), false); return err }(); err == nil {
		t.Error("a lock in what is no folder")
	}
}

// Of a killed process nothing stays; of another nothing is touched, nor what merely has
// such a name.
func TestSweep(t *testing.T) {
	dir, temporaries := t.TempDir(), t.TempDir()
	living, kill := holder(t, "files "+filepath.Join(dir, "a"), temporaries)
	dead, killDead := holder(t, "files "+filepath.Join(dir, "b"), temporaries)
	killDead()
	if err := os.WriteFile(filepath.Join(dead[1], "model.mps"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mine, err := Create(filepath.Join(dir, "c"))
	if err != nil {
		t.Fatal(err)
	}
	// Files of users, one of a process that lives and has lost its lock, as on a network's
	// file system without any, and one of a process before this one that had its number.
	numberless, foreign := filepath.Join(dir, ".a-b-c.yardstick.tmp"), filepath.Join(dir, "notes-1-2.tmp")
	unlocked := filepath.Join(dir, fmt.Sprintf(".d-%d-0%s", os.Getppid(), temporarySuffix))
	reused := filepath.Join(dir, fmt.Sprintf(".e-%d-7%s", os.Getpid(), temporarySuffix))
	for _, path := range []string{numberless, foreign, unlocked, reused} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	Sweep(dir, temporaries, filepath.Join(dir, "missing"))
	for _, path := range []string{living[0], living[1], mine.Name(), numberless, foreign, unlocked} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("it was removed: %v", err)
		}
	}
	for _, path := range []string{dead[0], dead[1], reused} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
	kill()
	if err := mine.Discard(); err != nil {
		t.Error(err)
	}
	Sweep(dir, temporaries)
	if left, _ := os.ReadDir(temporaries); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
