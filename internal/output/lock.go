package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// ErrLocked means that another process holds a lock.
var ErrLocked = errors.New("it is in use")

// Lock opens the file at path, which it makes if need be, and locks it, alone or
// together with others that ask for a shared lock. It does not wait. The lock ends when
// the file is closed, and so with the process, however that ends.
//
// Errors: ErrLocked; errors.ErrUnsupported, of a file system without locks; the file
// cannot be made.
func Lock(path string, shared bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, told(path, err)
	}
	if err := lock(f, shared); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func lock(f *os.File, shared bool) error {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL), errors.Is(err, errors.ErrUnsupported):
			return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
		default:
			return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}

// temporarySuffix ends the names of what a process will remove.
const temporarySuffix = ".yardstick.tmp"

// temporary matches these names, with the number of the process.
var temporary = regexp.MustCompile(`-([0-9]+)-[0-9]+` + regexp.QuoteMeta(temporarySuffix) + `$`)

// temporaryName is the name of the n-th temporary file of this process for path.
func temporaryName(path string, n int) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, fmt.Sprintf(".%s-%d-%d%s", name, os.Getpid(), n, temporarySuffix))
}

// TemporaryFolder makes a folder among the system's temporary ones, and returns what
// removes it. What a killed process leaves of it is for Sweep.
func TemporaryFolder(name string) (path string, remove func(), err error) {
	path, err = os.MkdirTemp("", fmt.Sprintf("%s-%d-*%s", name, os.Getpid(), temporarySuffix))
	if err != nil {
		return "", nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(path))
	}
	_ = lock(f, false) // what has no locks is not swept
	return path, func() { _, _ = os.RemoveAll(path), f.Close() }, nil
}

// Sweep removes from folders what processes made there to remove it, and did not as they
// were killed: by its name, its owner and its lock. What is in use by a process, on this
// machine or another, stays, as does what cannot be told or removed.
func Sweep(folders ...string) {
	for _, folder := range folders {
		sweep(folder, "")
	}
}

// sweep is Sweep of the names that begin so.
func sweep(folder, prefix string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if m := temporary.FindStringSubmatch(e.Name()); m != nil && strings.HasPrefix(e.Name(), prefix) && abandoned(path, m[1]) {
			_ = os.RemoveAll(path)
		}
	}
}

// abandoned reports whether a temporary file or folder is this user's, and that of a
// process that has ended: it has no lock, and its number is nobody's or our own. The
// number alone may be that of a process on another machine; the lock alone is missing
// for a moment as a file is made.
func abandoned(path, process string) bool {
	pid, err := strconv.Atoi(process)
	if err != nil || pid != os.Getpid() && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return false
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() {
		return false
	}
	how := os.O_RDONLY
	if !info.IsDir() {
		how = os.O_RDWR // which locks of NFS need
	}
	f, err := os.OpenFile(path, how, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return lock(f, false) == nil
}
