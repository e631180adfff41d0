package library

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"yardstick/bench/suite"
	"yardstick/datasets/importer"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/sched"
)

// Recipe says how an instance is made: from a trace that is built in or generated, from
// the file of a public trace, from a public log in its original format, or from a file
// beside the entry.
type Recipe struct {
	// Trace is a built-in trace, or the name of a Parquet file, which has TraceSHA256 and
	// is not part of the library.
	Trace       string `json:"trace,omitempty"`
	TraceSHA256 string `json:"trace_sha256,omitempty"`
	// Log is a public log as bench dataset fetch names it, in the import format Format and with
	// the sha256 of what it unpacks to. It is not part of the library: readers have copies.
	Log       string            `json:"log,omitempty"`
	Format    string            `json:"format,omitempty"`
	LogSHA256 string            `json:"log_sha256,omitempty"`
	Keys      map[string]string `json:"keys,omitempty"` // of a suite's instances entry
	Seed      uint64            `json:"seed,omitempty"`
	// File is instance.json: the entry holds its instance.
	File string `json:"file,omitempty"`
	// From says where a file came from.
	From string `json:"from,omitempty"`
}

// ErrAbsent means that a trace is not here, so that the instance cannot be made.
var ErrAbsent = errors.New("its trace is not here")

const builtin = "builtin:"

func (r *Recipe) validate() error {
	switch {
	case r.Log != "" && (!names.MatchString(r.Log) || r.Trace != "" || r.File != "" || r.Format == "" || len(r.LogSHA256) != 64):
		return fmt.Errorf("recipe: log %q: it must be a name, with its format and sha256, and no trace and no file be named", r.Log)
	case r.Log == "" && (r.Format != "" || r.LogSHA256 != ""):
		return errors.New("recipe: a format and a sha256 of no log")
	case r.File != "" && (r.File != instanceName || r.Trace != "" || r.Keys != nil || r.TraceSHA256 != ""):
		return fmt.Errorf("recipe: file is %q: it must be %s, and nothing else be said", r.File, instanceName)
	case output.Name(r.From) != r.From || len(r.From) > maxBy:
		return fmt.Errorf("recipe: from: it must be text on one line, of at most %d bytes", maxBy)
	case r.File == "" && r.Trace == "" && r.Log == "":
		return errors.New("recipe: there is no trace, no log and no file")
	case r.Trace != "" && !strings.HasPrefix(r.Trace, builtin) && (!filepath.IsLocal(r.Trace) || filepath.Base(r.Trace) != r.Trace || len(r.TraceSHA256) != 64):
		return fmt.Errorf("recipe: trace %q: it must be built in, or the name of a file with its sha256", r.Trace)
	}
	return nil
}

// Command returns the words after bench instance build that make the instance; nil of a
// file, and of a log, which has to be imported before.
func (r *Recipe) Command() []string {
	if r.Trace == "" {
		return nil
	}
	words := []string{r.Trace}
	for _, key := range slices.Sorted(maps.Keys(r.Keys)) {
		words = append(words, "-s", key+"="+r.Keys[key])
	}
	return append(words, "--seed", fmt.Sprint(r.Seed))
}

// Build makes the instance of an entry, and compares it with the entry's.
//
// Errors: ErrAbsent; the recipe makes another instance, or none.
func (l *Library) Build(e *Entry) (*sched.Instance, error) {
	in, err := l.make(&e.Recipe, e.Name)
	if err != nil {
		return nil, err
	}
	if got := in.Hash(); got != e.Instance {
		return nil, fmt.Errorf("the recipe makes an instance of sha256 %.12s…, and the entry is of %.12s…", got, e.Instance)
	}
	if in.Class() != e.Class {
		return nil, fmt.Errorf("schedules of the instance are of class %v, and the entry says %v", in.Class(), e.Class)
	}
	return in, nil
}

// make follows a recipe. The instance is called name.
func (l *Library) make(r *Recipe, name string) (*sched.Instance, error) {
	if r.File != "" {
		text, err := input.Read(l.path(name, r.File))
		if err != nil {
			return nil, err
		}
		in, err := sched.ReadInstance(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		in.Name = name
		return in, nil
	}
	trace := r.Trace
	var err error
	switch {
	case r.Log != "":
		var remove func()
		if trace, remove, err = l.imported(r); err != nil {
			return nil, err
		}
		defer remove()
	case !strings.HasPrefix(trace, builtin):
		if trace, err = l.trace(r); err != nil {
			return nil, err
		}
	}
	src := suite.NewSource(trace)
	src.DrawAs = r.Trace + r.Log // wherever the file lies
	for _, key := range slices.Sorted(maps.Keys(r.Keys)) {
		if err := src.SetText(key, r.Keys[key]); err != nil {
			return nil, fmt.Errorf("recipe: %s: %w", key, err)
		}
	}
	built, err := src.Build(r.Seed, &suite.Budget{})
	if err != nil {
		return nil, err
	}
	in := built[0].Instance
	in.Name = name
	return in, in.Validate()
}

// trace finds the file of a recipe's trace.
func (l *Library) trace(r *Recipe) (string, error) {
	if l.Traces == "" {
		return "", fmt.Errorf("%w: --traces names the folder of %s (sha256 %.12s…)", ErrAbsent, r.Trace, r.TraceSHA256)
	}
	path := filepath.Join(l.Traces, r.Trace)
	f, err := input.Open(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("%w: %s", ErrAbsent, path)
	case err != nil:
		return "", err
	}
	defer f.Close()
	got, err := sumOf(f)
	if err == nil && got != r.TraceSHA256 {
		err = fmt.Errorf("%s has sha256 %.12s…, and the recipe needs %.12s…", path, got, r.TraceSHA256)
	}
	return path, err
}

// imported makes a trace of a recipe's log, which remove removes.
func (l *Library) imported(r *Recipe) (path string, remove func(), err error) {
	if l.Log == "" {
		return "", nil, fmt.Errorf("%w: it is made of the public log %s, of which --from names your copy (bench dataset fetch %s gets one)", ErrAbsent, r.Log, r.Log)
	}
	got, err := LogHash(l.Log)
	if err != nil {
		return "", nil, err
	}
	if got != r.LogSHA256 {
		return "", nil, fmt.Errorf("%w: %s unpacks to sha256 %.12s…, and the log %s has %.12s…: give a whole, unchanged copy", ErrAbsent, output.Name(l.Log), got, r.Log, r.LogSHA256)
	}
	dir, err := os.MkdirTemp("", "yardstick-log-*")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, "trace.parquet")
	if err := l.Import(r.Format, l.Log, path, r.Log); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return path, func() { os.RemoveAll(dir) }, nil
}

// LogHash is the sha256 of what a log unpacks to.
//
// Errors: it is not there, damaged, or an archive of several files.
func LogHash(path string) (string, error) {
	f, err := importer.Open(path, "")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return sumOf(f)
}

func sumOf(r io.Reader) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, r)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// AddLog writes an entry that is made of a public log, of which l.Log is a copy: the recipe
// without the log's hash, which is taken from the copy.
//
// Errors: there is an entry of that name; the recipe makes no instance; those of Measure.
func (l *Library) AddLog(ctx context.Context, name string, r Recipe, obj sched.Objective) (*Entry, error) {
	if _, err := l.Entry(name); err == nil {
		return nil, fmt.Errorf("library: %s is there already", name)
	}
	var err error
	if r.LogSHA256, err = LogHash(l.Log); err != nil {
		return nil, err
	}
	e := &Entry{Name: name, Recipe: r, Objective: obj}
	in, err := l.make(&e.Recipe, name)
	if err != nil {
		return nil, err
	}
	e.Instance, e.Class = in.Hash(), in.Class()
	if e.Features, err = Measure(ctx, in, obj); err != nil {
		return nil, err
	}
	return e, l.write(e)
}

// hashOf is the sha256 of a text, in hex.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
