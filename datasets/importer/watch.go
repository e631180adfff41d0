package importer

import (
	"iter"
	"os"
)

// Watch is told how many bytes of the files on the disk were read since it was called
// last, 0 now and then, and ends the import with its error. Nil is told nothing.
type Watch func(read int) error

// told calls the watch, if there is one.
func (w Watch) told(read int) error {
	if w == nil {
		return nil
	}
	return w(read)
}

// watchedFile is a file that is read under a watch.
type watchedFile struct {
	disk  *os.File
	watch Watch
}

// Read implements io.Reader.
func (f watchedFile) Read(p []byte) (int, error) {
	if err := f.watch.told(0); err != nil {
		return 0, err
	}
	n, err := f.disk.Read(p)
	_ = f.watch.told(n) // the next call returns it
	return n, err
}

// ReadAt implements io.ReaderAt.
func (f watchedFile) ReadAt(p []byte, offset int64) (int, error) {
	if err := f.watch.told(0); err != nil {
		return 0, err
	}
	n, err := f.disk.ReadAt(p, offset)
	_ = f.watch.told(n)
	return n, err
}

// watched are the items of a sequence, after every 1,000 of which the watch is called.
func watched[T any](items iter.Seq2[T, error], w Watch) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := 0
		for item, err := range items {
			if n++; n%1000 == 0 && err == nil {
				err = w.told(0)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}
