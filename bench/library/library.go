// Package library keeps instances with the best schedule and the best bound that anybody
// has found for each: a folder of small files, from which the table of best-known values
// is made by checking every one of them.
//
// An [Entry] says how its instance is made, and what it is like. Beside it lie the
// evidence: a sealed schedule, a certificate of a bound, and a proof for strangers where
// there is one. Values stand in none of them: [Library.Standing] verifies the files and
// says what they prove, so that a value without a file that verifies cannot be shown.
//
// Which instances a version of the library holds never changes: see [Version].
package library

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/internal/strictjson"
	"yardstick/sched"
)

// Names of the files of a library, and of the folder of an entry.
const (
	Folder          = "instances"
	VersionName     = "version.json"
	entryName       = "entry.json"
	instanceName    = "instance.json"
	scheduleName    = "schedule.json.gz"
	certificateName = "certificate.json.gz"
	proofName       = "optimum.cert.gz"
)

// Library is a folder of entries.
type Library struct {
	Dir    string
	Traces string // folder of the traces that are files; "" if there are none here
	// Log is a copy of a public log that instances are made of, "" if there is none here, and
	// Import makes a trace (Parquet) of a log: format, log, file to write, and name of the trace.
	Log    string
	Import func(format, log, out, trace string) error
}

// Entry is one instance with one objective.
type Entry struct {
	Name      string          `json:"name"`
	Recipe    Recipe          `json:"recipe"`
	Instance  string          `json:"instance_sha256"`
	Objective sched.Objective `json:"objective"`
	Class     sched.Class     `json:"class"` // of the schedules that are compared
	Features  Features        `json:"features"`
	// Who found what is known, and when; nil where nothing is known.
	Schedule *Found `json:"schedule,omitempty"`
	Bound    *Found `json:"bound,omitempty"`
	Proof    *Found `json:"proof,omitempty"`
}

// Found says who or what found a file, and on which day.
type Found struct {
	By     string `json:"by"`
	On     string `json:"on"`     // as 2026-11-23
	SHA256 string `json:"sha256"` // of the file, unpacked
}

// maxBy is how long the name of a finder may be, in bytes.
const maxBy = 200

var (
	names = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,79}$`)
	days  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
)

// ErrNone means that there is no such file: nobody has found anything yet.
var ErrNone = errors.New("there is none")

// Entries reads all entries, in order of name.
//
// Errors: the folder is none of a library; an entry that is damaged.
func (l *Library) Entries() ([]*Entry, error) {
	list, err := os.ReadDir(filepath.Join(l.Dir, Folder))
	if err != nil {
		return nil, fmt.Errorf("%s is no library: %w; --library names its folder", l.Dir, errors.Unwrap(err))
	}
	var all []*Entry
	for _, f := range list {
		e, err := l.Entry(f.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// Entry reads one entry.
//
// Errors: there is no such entry, or it is damaged.
func (l *Library) Entry(name string) (*Entry, error) {
	if !names.MatchString(name) {
		return nil, fmt.Errorf("%q is no name of an instance of the library", name)
	}
	path := l.path(name, entryName)
	text, err := input.Read(path)
	if err != nil {
		return nil, fmt.Errorf("no instance %q: %w", name, err)
	}
	var e Entry
	if err := strictjson.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := e.validate(name); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &e, nil
}

func (e *Entry) validate(name string) error {
	switch {
	case e.Name != name:
		return fmt.Errorf("the name is %q, and the folder's %q", e.Name, name)
	case e.Objective == 0 || e.Objective.Maximised():
		return errors.New("objective: it must be one that is minimised")
	case e.Class.Kind == 0:
		return errors.New("class is missing")
	}
	for _, f := range []*Found{e.Schedule, e.Bound, e.Proof} {
		if f != nil && f.validate() != nil {
			return f.validate()
		}
	}
	return e.Recipe.validate()
}

func (f *Found) validate() error {
	switch {
	case f.By == "" || len(f.By) > maxBy || output.Name(f.By) != f.By:
		return fmt.Errorf("by is %.100q: it must be 1 to %d bytes of text on one line", f.By, maxBy)
	case !days.MatchString(f.On):
		return fmt.Errorf("on is %.100q: it must be a day, such as 2026-11-23", f.On)
	}
	return nil
}

// write writes the entry into its folder, which is made where it is missing.
func (l *Library) write(e *Entry) error {
	if err := e.validate(e.Name); err != nil {
		return fmt.Errorf("entry %q: %w", e.Name, err)
	}
	if err := os.MkdirAll(filepath.Join(l.Dir, Folder, e.Name), 0o777); err != nil {
		return err
	}
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	return l.put(e.Name, entryName, append(text, '\n'))
}

func (l *Library) path(name, file string) string {
	return filepath.Join(l.Dir, Folder, name, file)
}

func (l *Library) put(name, file string, text []byte) error {
	return output.Write(l.path(name, file), func(w io.Writer) error { _, err := w.Write(text); return err })
}

// pack writes a file that is compressed.
func (l *Library) pack(name, file string, text []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return l.put(name, file, b.Bytes())
}

// unpack reads a file that is compressed.
//
// Errors: ErrNone; it is damaged, or not the one that the entry tells of.
func (l *Library) unpack(name, file string, found *Found) ([]byte, error) {
	if found == nil {
		return nil, ErrNone
	}
	f, err := input.Document(l.path(name, file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := input.Gzip(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.path(name, file), err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.path(name, file), err)
	}
	if got := hashOf(text); got != found.SHA256 {
		return nil, fmt.Errorf("%s: it has sha256 %.12s…, and the entry tells of %.12s…", l.path(name, file), got, found.SHA256)
	}
	return text, nil
}

// Extra lists the files in the folders of entries that belong to none of them.
func (l *Library) Extra(entries []*Entry) (extra []string, err error) {
	for _, e := range entries {
		known := []string{entryName}
		for file, there := range map[string]bool{instanceName: e.Recipe.File != "", scheduleName: e.Schedule != nil, certificateName: e.Bound != nil, proofName: e.Proof != nil} {
			if there {
				known = append(known, file)
			}
		}
		list, err := os.ReadDir(filepath.Join(l.Dir, Folder, e.Name))
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			if !slices.Contains(known, f.Name()) {
				extra = append(extra, l.path(e.Name, f.Name()))
			}
		}
	}
	return extra, nil
}
