// Package journal keeps the finished cells of a run, so that a run that was
// killed goes on where it was. A journal is a folder of files, each of them
// written by one process, line after line, and never changed afterwards. A
// line is
//
//	SHA256 ID CONTENT
//
// with the hash, in hexadecimal, of what follows it. The first line of a file
// is its Header, with the ID header. A line that was cut short or damaged is
// left out on reading: the cell runs again.
package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"yardstick/internal/strictjson"
)

// Folder is the name of a journal within a result directory.
const Folder = "cells"

// extension is that of the files of a journal.
const extension = ".journal"

// Header says who wrote a file.
type Header struct {
	Format  int       `json:"format"`
	Build   string    `json:"build"`   // identifies the program
	Machine string    `json:"machine"` // identifies the machine
	Plan    string    `json:"plan"`
	Shard   string    `json:"shard,omitempty"` // i/n
	Created time.Time `json:"created"`
}

// format is the version of the files.
const format = 1

const headerID = "header"

// Journal is an index of the entries of one or several folders. It may be used
// by several goroutines.
type Journal struct {
	mu      sync.RWMutex
	entries map[string]Entry
	files   map[string]*os.File

	// What Append writes to, once Start has been called.
	folder string
	header *Header
	file   *os.File // nil before the first entry
	size   int64
	synced time.Time

	// Damaged lists the lines that were left out, a file's name and line each.
	Damaged []string
}

// Entry is where one entry lies.
type Entry struct {
	Header *Header // of its file
	file   *os.File
	offset int64
	length int
}

// Open indexes the journals of the given folders. A folder that does not exist
// is an empty journal. Where several lines have one ID, the last one counts: of
// one file the last line, of several files the one made last.
func Open(folders ...string) (*Journal, error) {
	j := &Journal{entries: map[string]Entry{}, files: map[string]*os.File{}}
	var names []string
	for _, folder := range folders {
		found, err := list(folder)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	for _, name := range names {
		if err := j.index(name); err != nil {
			j.Close()
			return nil, fmt.Errorf("journal: %w", err)
		}
	}
	return j, nil
}

// list returns the files of a journal's folder.
func list(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("journal: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension) {
			names = append(names, filepath.Join(folder, e.Name()))
		}
	}
	return names, nil
}

func (j *Journal) index(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	j.files[name] = f
	var header *Header
	var offset int64
	lines := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if len(line) == 0 {
			return nil
		}
		id, content, ok := parse(line)
		switch {
		case !ok:
			j.Damaged = append(j.Damaged, fmt.Sprintf("%s:%d", name, n))
		case id == headerID:
			header = &Header{}
			if err := strictjson.Unmarshal(content, header); err != nil {
				return fmt.Errorf("%s has a header that cannot be read (%w): remove the file to run its cells again", name, err)
			}
			if header.Format != format {
				return fmt.Errorf("%s has a header of format %d, this program reads %d: remove the file to run its cells again", name, header.Format, format)
			}
		case header == nil:
			j.Damaged = append(j.Damaged, fmt.Sprintf("%s:%d", name, n)) // nobody knows who wrote it
		default:
			j.entries[id] = Entry{header, f, offset, len(line)}
		}
		offset += int64(len(line))
	}
}

// parse splits a line; ok is false if it is not what was written.
func parse(line []byte) (id string, content []byte, ok bool) {
	line, whole := bytes.CutSuffix(line, []byte("\n"))
	sum, rest, found := bytes.Cut(line, []byte(" "))
	name, content, named := bytes.Cut(rest, []byte(" "))
	if !whole || !found || !named || string(sum) != hash(rest) {
		return "", nil, false
	}
	return string(name), content, true
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Find returns the entry of that ID.
func (j *Journal) Find(id string) (Entry, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	e, ok := j.entries[id]
	return e, ok
}

// Read returns an entry's content and checks its hash once more.
func (j *Journal) Read(e Entry) ([]byte, error) {
	line := make([]byte, e.length)
	if _, err := e.file.ReadAt(line, e.offset); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	_, content, ok := parse(line)
	if !ok {
		return nil, fmt.Errorf("journal: %s changed while it was read", e.file.Name())
	}
	return content, nil
}

// Builds lists the builds of the program that the entries come from.
func (j *Journal) Builds() []string {
	builds := map[string]bool{}
	for _, e := range j.entries {
		builds[e.Header.Build] = true
	}
	return slices.Sorted(maps.Keys(builds))
}

// Start has Append write to a new file in the folder, which is made with the
// first entry.
func (j *Journal) Start(folder string, h Header) {
	h.Format = format
	j.folder, j.header = folder, &h
}

// create makes the new file. Files are numbered, so that the order of their
// names is the order in which they were made. Two processes may choose one
// number, but not one name.
func (j *Journal) create() error {
	if err := os.MkdirAll(j.folder, 0o755); err != nil {
		return err
	}
	names, err := list(j.folder)
	if err != nil {
		return err
	}
	number := 0
	if len(names) > 0 {
		last := filepath.Base(names[len(names)-1])
		if _, err := fmt.Sscanf(last, "%d-", &number); err != nil {
			return fmt.Errorf("%s in %s is not a name of a journal's file: move it away", last, j.folder)
		}
	}
	tag := "all"
	if j.header.Shard != "" {
		tag = strings.ReplaceAll(j.header.Shard, "/", "of")
	}
	for j.file == nil {
		number++
		name := filepath.Join(j.folder, fmt.Sprintf("%06d-%s%s", number, tag, extension))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
		switch {
		case err == nil:
			j.file, j.files[name] = f, f
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	content, err := json.Marshal(j.header)
	if err != nil {
		return err
	}
	return j.write(headerID, content)
}

// durable is how much work may be lost if the machine, rather than the
// process, goes down.
const durable = time.Second

// Append adds an entry, in a single write. The ID holds no space, the content
// no line feed.
func (j *Journal) Append(id string, content []byte) error {
	if strings.ContainsAny(id, " \n") || bytes.IndexByte(content, '\n') >= 0 {
		panic("journal: an ID with a space or content with a line feed")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		if err := j.create(); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	offset := j.size
	if err := j.write(id, content); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.entries[id] = Entry{j.header, j.file, offset, int(j.size - offset)}
	return nil
}

func (j *Journal) write(id string, content []byte) error {
	rest := slices.Concat([]byte(id), []byte(" "), content)
	line := slices.Concat([]byte(hash(rest)), []byte(" "), rest, []byte("\n"))
	n, err := j.file.Write(line)
	j.size += int64(n)
	if err != nil {
		return err
	}
	if now := time.Now(); now.Sub(j.synced) > durable {
		j.synced = now
		return j.file.Sync()
	}
	return nil
}

// Close makes what was appended durable and closes the files.
func (j *Journal) Close() error {
	var err error
	if j.file != nil {
		err = j.file.Sync()
	}
	for _, f := range j.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
