package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/internal/strictjson"

	"io"
)

// Version lists the instances that a paper means when it names a version of the library.
// What is known of them grows; which they are, and what is minimised, never changes.
type Version struct {
	Version   int      `json:"version"`
	Digest    string   `json:"digest"` // sha256 of the lines, each ended by a newline
	Instances []string `json:"instances"`
}

// line is what a version says of an entry.
func (e *Entry) line() string {
	return fmt.Sprintf("%s %s %v %v", e.Name, e.Instance, e.Objective, e.Class)
}

// digestOf is the digest of the lines of a version.
func digestOf(lines []string) string { return hashOf([]byte(strings.Join(lines, "\n") + "\n")) }

// Freeze writes the version that holds the entries. It replaces no version.
func (l *Library) Freeze(entries []*Entry) (*Version, error) {
	if old, err := l.Version(entries); err == nil {
		return nil, fmt.Errorf("version %d is there, and never changes", old.Version)
	} else if !errors.Is(err, ErrNone) {
		return nil, err
	}
	v := &Version{Version: 1}
	for _, e := range entries {
		v.Instances = append(v.Instances, e.line())
	}
	v.Digest = digestOf(v.Instances)
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(l.Dir, VersionName)
	return v, output.Write(path, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
}

// Version reads the version, and compares it with the entries: each of its instances
// must be there, unchanged.
//
// Errors: ErrNone; it is damaged; an entry was changed or is missing.
func (l *Library) Version(entries []*Entry) (*Version, error) {
	path := filepath.Join(l.Dir, VersionName)
	text, err := input.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNone)
	}
	if err != nil {
		return nil, err
	}
	var v Version
	if err := strictjson.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if got := digestOf(v.Instances); got != v.Digest {
		return nil, fmt.Errorf("%s: the digest of its lines is %.12s…, and it says %.12s…", path, got, v.Digest)
	}
	now := map[string]bool{}
	for _, e := range entries {
		now[e.line()] = true
	}
	for _, line := range v.Instances {
		if !now[line] {
			return nil, fmt.Errorf("version %d has %q, and no entry is that: it was changed or removed", v.Version, line)
		}
	}
	return &v, nil
}
