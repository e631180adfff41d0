// Package input opens the files that a command is given to read. What is no file is
// refused at once, in one line: a pipe would wait for ever, and a device never ends.
package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
)

// Variable names the environment variable that says how many bytes of a document (a
// suite, an instance, a schedule, a certificate) are read into memory at most, where
// Most is too few.
const Variable = "BENCH_MAX_INPUT_MB"

// Most is how many bytes of a document are read unless the environment says more: an
// instance of 75,000 jobs takes a fiftieth of it.
const Most = 1 << 30

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
	most := int64(Most)
	if text := os.Getenv(Variable); text != "" {
		mb, err := strconv.ParseInt(text, 10, 32)
		if err != nil || mb < 1 {
			return fmt.Errorf("$%s is %q: it must be a number of megabytes", Variable, text)
		}
		most = mb << 20
	}
	if size > most {
		return fmt.Errorf("has %d MB, more than the %d MB that are read; $%s raises that", size>>20, most>>20, Variable)
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
