package importer

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"yardstick/internal/input"
)

const (
	bufferBytes = 1 << 18 // of a file being read
	maxLayers   = 4       // archives within archives
	tarMagicAt  = 257     // where a tar header says "ustar"
)

// File is one file to be read: a plain one, or one within gzip, tar or zip, in
// any order of these (tar.gz, a .csv.gz within a zip).
type File struct {
	name    string
	reader  *bufio.Reader
	closers []io.Closer
}

// Open opens a file. Compression and archives are told by their first bytes,
// not by the name. Of an archive with several files, member says which: a
// file's full name in the archive, the end of it that begins after a slash, or
// a pattern (as in path.Match) for one of these two. Member may be empty if
// there is only one file, and means nothing where there is no archive.
//
// Errors name the file: it is not there or damaged; no file of the archive, or
// more than one, is the member.
func Open(name, member string) (*File, error) { return OpenWatched(name, member, nil) }

// OpenWatched is Open under a watch.
func OpenWatched(name, member string, w Watch) (*File, error) {
	disk, err := input.Open(name)
	if err != nil {
		return nil, err
	}
	f := &File{name: name, reader: bufio.NewReaderSize(watchedFile{disk, w}, bufferBytes), closers: []io.Closer{disk}}
	if err := f.unpack(watchedFile{disk, w}, member); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return f, nil
}

// Name is the path, and the name of the file in the archive where there is one.
func (f *File) Name() string { return f.name }

// Read reads the unpacked bytes.
func (f *File) Read(p []byte) (int, error) { return f.reader.Read(p) }

// Close closes the file.
func (f *File) Close() error {
	var first error
	for i := len(f.closers) - 1; i >= 0; i-- {
		if err := f.closers[i].Close(); first == nil {
			first = err
		}
	}
	return first
}

// unpack strips one layer after the other. Zip needs the file itself, so it can
// only be the outermost layer.
func (f *File) unpack(disk watchedFile, member string) error {
	if head, _ := f.reader.Peek(4); string(head) == "PK\x03\x04" || string(head) == "PK\x05\x06" {
		if err := f.unzip(disk, member); err != nil {
			return err
		}
	}
	for range maxLayers {
		head, _ := f.reader.Peek(tarMagicAt + 5)
		switch {
		case len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b:
			unzipped, err := input.Gzip(f.reader)
			if err != nil {
				return err
			}
			f.layer(unzipped, nil)
		case len(head) == tarMagicAt+5 && string(head[tarMagicAt:]) == "ustar":
			if err := f.untar(member); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return fmt.Errorf("has more than %d archives within each other", maxLayers)
}

func (f *File) layer(r io.Reader, c io.Closer) {
	f.reader = bufio.NewReaderSize(r, bufferBytes)
	if c != nil {
		f.closers = append(f.closers, c)
	}
}

func (f *File) unzip(disk watchedFile, member string) error {
	info, err := disk.disk.Stat()
	if err != nil {
		return err
	}
	archive, err := zip.NewReader(disk, info.Size())
	if err != nil {
		return fmt.Errorf("damaged zip: %w", err)
	}
	var all, found []string
	var chosen *zip.File
	for _, file := range archive.File {
		if file.FileInfo().IsDir() || clutter(file.Name) {
			continue
		}
		all = append(all, file.Name)
		if matches(file.Name, member) {
			chosen, found = file, append(found, file.Name)
		}
	}
	if err := onlyOne(found, all, member); err != nil {
		return err
	}
	r, err := chosen.Open()
	if err != nil {
		return fmt.Errorf("damaged zip: %s: %w", chosen.Name, err)
	}
	f.name += ":" + chosen.Name
	f.layer(input.Unpack(input.Packed(int64(chosen.CompressedSize64)), r), r)
	return nil
}

// untar goes to the member. Whether there is another one behind it is not
// known before it is read; the first is taken unless the member is empty.
func (f *File) untar(member string) error {
	archive := tar.NewReader(f.reader)
	var all []string
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return onlyOne(nil, all, member)
		}
		if err != nil {
			return fmt.Errorf("damaged tar: %w", err)
		}
		if header.Typeflag != tar.TypeReg || clutter(header.Name) {
			continue
		}
		all = append(all, header.Name)
		if matches(header.Name, member) {
			f.name += ":" + header.Name
			f.layer(&tarMember{archive: archive, alone: member == ""}, nil)
			return nil
		}
	}
}

// tarMember reads one file of a tar archive. At its end it makes sure that no
// other follows if it is said to be alone.
type tarMember struct {
	archive *tar.Reader
	alone   bool
	err     error // at the end of the file
}

func (t *tarMember) Read(p []byte) (n int, err error) {
	if t.err != nil {
		return 0, t.err
	}
	n, t.err = t.archive.Read(p)
	if errors.Is(t.err, io.EOF) && t.alone {
		t.err = t.end()
	}
	return n, t.err
}

// end goes to the end of the archive.
func (t *tarMember) end() error {
	for {
		header, err := t.archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return io.EOF
		case err != nil:
			return fmt.Errorf("damaged tar: %w", err)
		case header.Typeflag == tar.TypeReg && !clutter(header.Name):
			return fmt.Errorf("the archive has another file, %s: say which one is meant", header.Name)
		}
	}
}

// clutter is what some systems add to archives.
func clutter(name string) bool {
	return strings.HasPrefix(name, "__MACOSX/") || strings.HasPrefix(path.Base(name), "._") || path.Base(name) == ".DS_Store"
}

// matches says whether a member of an archive is the wanted one.
func matches(name, member string) bool {
	name = strings.TrimPrefix(name, "./")
	if member == "" || name == member || strings.HasSuffix(name, "/"+member) {
		return true
	}
	for at := 0; ; {
		if ok, err := path.Match(member, name[at:]); ok && err == nil {
			return true
		}
		slash := strings.IndexByte(name[at:], '/')
		if slash < 0 {
			return false
		}
		at += slash + 1
	}
}

// onlyOne returns an error unless exactly one file was found.
func onlyOne(found, all []string, member string) error {
	const most = 12 // names in a message
	list := func(names []string) string {
		if len(names) > most {
			return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
		}
		return strings.Join(names, ", ")
	}
	switch {
	case len(all) == 0:
		return fmt.Errorf("the archive is empty")
	case len(found) == 0:
		return fmt.Errorf("no file of the archive is %q (there are %s)", member, list(all))
	case len(found) > 1 && member == "":
		return fmt.Errorf("the archive has %d files, say which one is meant: %s", len(found), list(found))
	case len(found) > 1:
		return fmt.Errorf("%d files of the archive are %q, say which one is meant: %s", len(found), member, list(found))
	}
	return nil
}
