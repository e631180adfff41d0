package suite

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"yardstick/sched"
)

// Parse reads a suite file and applies settings of the form key=value,value
// to it. Unknown keys, wrong types and missing values are errors that show line
// and column.
func Parse(name string, data []byte, settings ...string) (*Suite, error) {
	s := &Suite{APIVersion: APIVersion, Name: "suite", Seed: 1, Limits: Limits{Solve: time.Minute, Memory: 4 << 30}}
	if err := decodeStrictly(data, s); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return nil, fmt.Errorf("%s: %w", name, describeYAML(err, data))
	}
	s.source = source{name, data}
	if err := s.noteKeys(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i := range s.Instances {
		s.Instances[i].setDefaults()
	}
	if err := s.override(settings); err != nil {
		return nil, err
	}
	s.inherit()
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := s.sweep(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, s.source.bare(err))
	}
	return s, nil
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
	unlessGiven(src, "model", &src.Model, sched.ModelGang)
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
