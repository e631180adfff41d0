// Package output writes files for the commands: a regular file whole or not at all,
// and whatever is no regular file (a device, a pipe) in place.
package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Write has write fill the file at path. A regular file, or one that is not there
// yet, is written beside its place, flushed to the disk and renamed: it appears whole
// or not at all, and keeps its permissions. Symbolic links are followed, and stay. A
// device, a pipe or a descriptor (/dev/stdout) is written in place, and stays what it
// is. The path "-" is standard output.
//
// Errors: a directory or a socket; the folder is missing; those of write and of the
// disk, which wrap what the system said.
func Write(path string, write func(io.Writer) error) error {
	place, regular, err := locate(path)
	if err != nil {
		return told(path, err)
	}
	if regular {
		return told(path, replace(place, write))
	}
	return told(path, inPlace(place, write))
}

// Stdout is the path that stands for standard output.
const Stdout = "-"

// Replaces says whether Write puts a regular file in the place of path, which can be
// read again afterwards.
func Replaces(path string) bool {
	_, regular, err := locate(path)
	return err == nil && regular
}

// Folder is where temporary files of a command that writes path belong.
func Folder(path string) string {
	if place, regular, err := locate(path); err == nil && regular {
		return filepath.Dir(place)
	}
	return os.TempDir()
}

// locate follows the links of a path, whose last may point to nothing yet, and says
// whether a regular file belongs there.
func locate(path string) (place string, regular bool, err error) {
	if path == Stdout {
		return path, false, nil
	}
	if path == "" {
		return "", false, refuse(path, "the name is empty")
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return "", false, refuse(path, "it is a directory")
	case err == nil && info.Mode()&fs.ModeSocket != 0:
		return "", false, refuse(path, "it is a socket")
	case err == nil && !info.Mode().IsRegular():
		return path, false, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", false, err
	}
	const most = 40 // links one after the other, as in the kernel
	for range most {
		if isDescriptor(path) {
			return path, false, nil // a file that another program holds open
		}
		link, err := os.Readlink(path)
		if err != nil {
			return path, true, nil // no link, or nothing is there
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", false, refuse(path, "too many links")
}

func refuse(path, why string) error {
	return &fs.PathError{Op: "open", Path: path, Err: errors.New(why)}
}

// isDescriptor says whether a path names an open file of a process, such as
// /proc/self/fd/1, where /dev/stdout leads.
func isDescriptor(path string) bool {
	dir, name := filepath.Split(filepath.Clean(path))
	if _, err := strconv.Atoi(name); err != nil {
		return false
	}
	found, err := filepath.Match("/proc/*/fd/", dir)
	return dir == "/dev/fd/" || found && err == nil
}

// inPlace writes into what is there.
func inPlace(path string, write func(io.Writer) error) error {
	if path == Stdout {
		return write(os.Stdout)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// replace writes a temporary file beside its place and renames it. What killed processes
// left of the same place is removed.
func replace(path string, write func(io.Writer) error) error {
	sweep(filepath.Dir(path), "."+filepath.Base(path)+"-")
	f, err := Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync()); err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}

// File is a regular file that is written beside its place until it is committed, under
// a name that no reader takes for a result. What a killed process leaves of it is for
// Sweep.
type File struct {
	*os.File
	place string
}

// Create opens a file whose place is path. The permissions are those of any new file.
func Create(path string) (*File, error) {
	for n := 0; ; n++ {
		f, err := os.OpenFile(temporaryName(path, n), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		_ = lock(f, false) // what has no locks is not swept
		return &File{f, path}, nil
	}
}

// Write implements io.Writer. Errors name the file's place.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, told(f.place, err)
}

// Commit puts the file in its place, with the permissions of the one that it replaces,
// and closes it. If that fails, the file is gone.
func (f *File) Commit() error {
	err := keepMode(f.File, f.place)
	if err == nil {
		err = os.Rename(f.Name(), f.place)
	}
	if err != nil {
		return errors.Join(told(f.place, err), f.Discard())
	}
	return told(f.place, f.Close())
}

// Discard closes the file and removes it.
func (f *File) Discard() error { return errors.Join(f.Close(), os.Remove(f.Name())) }

// keepMode gives a new file the permissions of the one that it will replace.
func keepMode(f *os.File, path string) error {
	old, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Chmod(old.Mode().Perm())
}

// told says which file could not be written where the system refused: its own error
// names a temporary file. Other errors of the writer say themselves what they mean.
func told(path string, err error) error {
	if system, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot write %s: %w", path, system.Err)
	}
	if system, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf("cannot write %s: %w", path, system.Err)
	}
	return err
}

// Full reports whether an error is the machine's and no mistake of the caller: a full
// or broken or read-only disk, too many open files, no memory, no more processes. The
// same command may succeed later.
func Full(err error) bool {
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.ESTALE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
