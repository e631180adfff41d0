package suite

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"time"

	"yardstick/sched"
)

// Parse reads a suite file and applies settings of the form key=value,value
// to it. Unknown keys, wrong types and missing values are errors that show line
// and column.
func Parse(name string, data []byte, settings ...string) (*Suite, error) {
	s := &Suite{APIVersion: APIVersion, Name: "suite", Seed: 1, Limits: Limits{Solve: time.Minute, Memory: 4 << 30}}
	where, err := decodeStrictly(data, s)
	var refused *keyError
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: the file is empty", name)
	case errors.As(err, &refused):
		return nil, fmt.Errorf("%s: %w", name, refused.located())
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, where.locate(err))
	}
	s.source = source{name, where}
	if err := s.noteKeys(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.notePaths()
	for i := range s.Instances {
		s.Instances[i].setDefaults()
	}
	if err := s.override(settings); err != nil {
		return nil, err
	}
	s.inherit()
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, where.prefix(err))
	}
	if err := s.sweep(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, where.locate(err))
	}
	s.findFiles()
	if err := s.narrow(); err != nil {
		return nil, err
	}
	return s, nil
}

// Locate returns what is wrong with a reference after the file's name and its place
// there. A reference that the file does not have has no place: the error stays as it is.
// Paths of an [Error] are relative to the reference, such as params.blocking.
func (s *Suite) Locate(ref MethodRef, err error) error {
	path := ref.path
	if inner, _ := pathOf(err); inner == "" && s.source.places[path+".name"].value != nil {
		path += ".name"
	}
	whole := error(&Error{Path: path, Err: err})
	if located := s.source.places.locate(whole); located != whole {
		return fmt.Errorf("%s: %w", s.source.name, located)
	}
	return err
}

// notePaths notes where in the text the references are, and in which folder the text is.
func (s *Suite) notePaths() {
	note := func(list []MethodRef, path string) {
		for i := range list {
			list[i].path, list[i].Folder = fmt.Sprintf("%s[%d]", path, i), filepath.Dir(s.source.name)
		}
	}
	note(s.Methods, "methods")
	note(s.References, "references")
	for i := range s.Instances {
		note(s.Instances[i].Methods, fmt.Sprintf("instances[%d].methods", i))
		note(s.Instances[i].References, fmt.Sprintf("instances[%d].references", i))
	}
}

// inherit gives the suite its default lists, and every source those of the suite
// that it has none of.
func (s *Suite) inherit() {
	if s.Objectives == nil {
		s.Objectives = []sched.Objective{DefaultObjective}
	}
	if s.References == nil {
		s.References = []MethodRef{{Name: "lb0"}, {Name: "srpt-ranked"}, {Name: "mean-busy-time"}}
	}
	for i := range s.Instances {
		src := &s.Instances[i]
		if src.Objectives == nil {
			src.Objectives = s.Objectives
		}
		if src.Methods == nil {
			src.Methods = s.Methods
		}
		if src.References == nil {
			src.References = s.References
		}
	}
}

// NewSource returns a source with the defaults of a suite file.
func NewSource(trace string) *Source {
	src := &Source{Trace: trace, given: []string{"trace"}}
	src.setDefaults()
	return src
}

// setDefaults fills in the keys that the source was not given. Those that it was
// keep their values, whatever these are.
func (src *Source) setDefaults() {
	if src.File != "" {
		unlessGiven(src, "name", &src.Name, src.File)
		return
	}
	unlessGiven(src, "trace", &src.Trace, "builtin:philly-like")
	unlessGiven(src, "name", &src.Name, src.Trace)
	unlessGiven(src, "slice.jobs", &src.Slice.Jobs, 8)
	unlessGiven(src, "slice.repeat", &src.Slice.Repeat, 1)
	unlessGiven(src, "cluster.servers", &src.Cluster.Servers, 2)
	unlessGiven(src, "cluster.gpusPerServer", &src.Cluster.GPUsPerServer, 4)
	unlessGiven(src, "cluster.inter", &src.Cluster.Inter, 1_250_000_000)
	unlessGiven(src, "cluster.intra", &src.Cluster.Intra, 300_000_000_000)
	unlessGiven(src, "model", &src.Model, defaultModel)
	unlessGiven(src, "tooLarge", &src.TooLarge, "error")
}

func unlessGiven[T any](src *Source, key string, p *T, v T) {
	if !src.has(key) {
		*p = v
	}
}

// noteKeys notes which keys the sources of a suite's text have.
func (s *Suite) noteKeys(data []byte) error {
	var text struct {
		Instances []map[string]any `yaml:"instances"`
	}
	if err := DecodeYAML(data, &text); err != nil {
		return err
	}
	for i := range text.Instances {
		s.Instances[i].given = givenKeys(reflect.TypeFor[Source](), text.Instances[i])
	}
	return nil
}
