// Package input opens the files that a command is given to read. What is no file is
// refused at once, in one line: a pipe would wait for ever, and a device never ends.
package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a regular file.
//
// Errors, which begin with the path: it is missing, or a directory, a device, a pipe
// or a socket.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	if what := kind(info.Mode()); what != "" {
		return nil, fmt.Errorf("%s: is a %s, not a file", path, what)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	return f, nil
}

// Document opens a regular file that is read into memory as a whole.
//
// Errors: as for Open; it is larger than the limit.
func Document(path string) (*os.File, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = fits(info.Size())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, reason(err)), f.Close())
	}
	return f, nil
}

// Read reads a document.
//
// Errors: as for Document.
func Read(path string) ([]byte, error) {
	f, err := Document(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	return data, nil
}

func fits(size int64) error {
	most, err := Megabytes.Value(0)
	if err != nil {
		return err
	}
	if size > most<<20 {
		return Megabytes.Refuse(size>>20, most)
	}
	return nil
}

// kind names what a file is that is no regular one.
func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return ""
}

// reason leaves out the operation and the path, which the message has already.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
