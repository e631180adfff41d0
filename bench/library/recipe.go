package library

import (
	"bytes"
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
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/sched"
)

// Recipe says how an instance is made: from a trace that is built in or generated, from
// the file of a public trace, or from a file beside the entry.
type Recipe struct {
	// Trace is a built-in trace, or the name of a Parquet file, which has TraceSHA256 and
	// is not part of the library.
	Trace       string            `json:"trace,omitempty"`
	TraceSHA256 string            `json:"trace_sha256,omitempty"`
	Keys        map[string]string `json:"keys,omitempty"` // of a suite's instances entry
	Seed        uint64            `json:"seed,omitempty"`
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
	case r.File != "" && (r.File != instanceName || r.Trace != "" || r.Keys != nil || r.TraceSHA256 != ""):
		return fmt.Errorf("recipe: file is %q: it must be %s, and nothing else be said", r.File, instanceName)
	case output.Name(r.From) != r.From || len(r.From) > maxBy:
		return fmt.Errorf("recipe: from: it must be text on one line, of at most %d bytes", maxBy)
	case r.File == "" && r.Trace == "":
		return errors.New("recipe: there is neither a trace nor a file")
	case r.File == "" && !strings.HasPrefix(r.Trace, builtin) && (!filepath.IsLocal(r.Trace) || filepath.Base(r.Trace) != r.Trace || len(r.TraceSHA256) != 64):
		return fmt.Errorf("recipe: trace %q: it must be built in, or the name of a file with its sha256", r.Trace)
	}
	return nil
}

// Command returns the words after bench instance build that make the instance; nil of a
// file.
func (r *Recipe) Command() []string {
	if r.File != "" {
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
	if !strings.HasPrefix(trace, builtin) {
		var err error
		if trace, err = l.trace(r); err != nil {
			return nil, err
		}
	}
	src := suite.NewSource(trace)
	src.DrawAs = r.Trace // wherever the file lies
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
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != r.TraceSHA256 {
		return "", fmt.Errorf("%s has sha256 %.12s…, and the recipe needs %.12s…", path, got, r.TraceSHA256)
	}
	return path, nil
}

// hashOf is the sha256 of a text, in hex.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
