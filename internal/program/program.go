// Package program knows the file that this process runs, also where another has
// taken its place since, as after a new build.
package program

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// linuxSelf is, on Linux, the running file itself, whatever became of its name.
const linuxSelf = "/proc/self/exe"

// Path returns what to execute to start this program once more. On Linux that is the
// file of this very process. Elsewhere it is the name that it was started by, under
// which another program may lie by now: what was started says by its Identity whether
// it is the same.
//
// Errors: Linux without /proc; the name cannot be found out.
func Path() (string, error) {
	if runtime.GOOS != "linux" {
		return os.Executable()
	}
	if _, err := os.Stat(linuxSelf); err != nil {
		return "", fmt.Errorf("the running program cannot be found (%w): mount /proc", err)
	}
	return linuxSelf, nil
}

// Command returns the command that starts this program once more, without arguments,
// by Path or, for tests, by a path that is given.
func Command(path string) (*exec.Cmd, error) {
	if path == "" {
		var err error
		if path, err = Path(); err != nil {
			return nil, err
		}
	}
	c := exec.Command(path)
	c.Args[0] = os.Args[0] // for those who list processes
	return c, nil
}

// self is the file of this process, held open from its start on.
var self, errSelf = open()

func open() (*os.File, error) {
	path, err := Path()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Identity says which file this process runs: its device, number, size and last
// change. It is "" if that cannot be found out. No other file has it as long as the
// process runs. It costs microseconds, where Build reads the whole file.
func Identity() string {
	if errSelf != nil {
		return ""
	}
	info, err := self.Stat()
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d:%d", s.Dev, s.Ino, info.Size(), info.ModTime().UnixNano())
}

// Build identifies the program by the content of its file, which is read once: the
// start of its sha256 in hex, or "" if it cannot be read.
var Build = sync.OnceValue(func() string {
	if errSelf != nil {
		return ""
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(self, 0, math.MaxInt64)); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
})
