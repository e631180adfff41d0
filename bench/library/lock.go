package library

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"yardstick/internal/output"
)

// lockName is the file that who writes into a library locks. It stays, empty.
const lockName = ".lock"

// Hold keeps other processes from writing into the library until release is called, or this
// one ends: of two that improve an entry at once, one would undo what the other has found.
// Who only reads needs no lock: files are replaced whole. A file system without locks holds
// nobody off.
//
// Errors: another process writes; the folder cannot be made or written.
func (l *Library) Hold() (release func(), err error) {
	if err := os.MkdirAll(l.Dir, 0o777); err != nil {
		return nil, err
	}
	f, err := output.Lock(filepath.Join(l.Dir, lockName), false)
	switch {
	case errors.Is(err, output.ErrLocked):
		return nil, fmt.Errorf("%s is being written by another bench library command: run this one when that is done", l.Dir)
	case errors.Is(err, errors.ErrUnsupported):
		return func() {}, nil
	case err != nil:
		return nil, err
	}
	return func() { f.Close() }, nil
}
