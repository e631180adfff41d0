package program

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// say is the variable that makes this test binary print what it knows of itself, once
// standard input ends.
const say = "YARDSTICK_TEST_SAY"

func TestMain(m *testing.M) {
	if os.Getenv(say) != "" {
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the file was replaced
		c, err := Command("")
		if err != nil {
			panic(err)
		}
		again := ""
		if os.Getenv(say) == "twice" {
			c.Env = append(os.Environ(), say+"=once")
			out, err := c.Output()
			if err != nil {
				panic(err)
			}
			again = " " + string(out)
		}
		_, _ = os.Stdout.WriteString(Build() + " " + Identity() + again)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A process whose file was replaced, in either way in which files are, says what it
// was started from, and starts the same once more.
func TestReplaced(t *testing.T) {
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(program)
	want := hex.EncodeToString(sum[:8])
	if got := Build(); got != want {
		t.Errorf("this program is %s, want %s", got, want)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, replace := range map[string]func() error{
		"removed": func() error { return os.Remove(path) },
		"renamed onto": func() error {
			other := path + ".new"
			if err := os.WriteFile(other, []byte("#!/bin/false\n"), 0o755); err != nil {
				return err
			}
			return os.Rename(other, path)
		},
	} {
		if err := os.WriteFile(path+".copy", program, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".copy", path); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(path)
		c.Env = append(os.Environ(), say+"=twice")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		c.Stdout, c.Stderr = &out, os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if err := replace(); err != nil {
			t.Fatal(err)
		}
		in.Close()
		if err := c.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		said := strings.Fields(out.String()) // build and identity, of itself and of what it started
		if len(said) != 4 || said[0] != want || said[0] != said[2] || said[1] != said[3] || said[1] == Identity() {
			t.Errorf("%s: it says %q, want build %s", name, said, want)
		}
	}
}
