package suite

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// override applies settings of the form key=value or key=value,value to a suite
// that has been read, in order but for those that decide which others a source
// knows, which come first, and those of one source, which come last. A key of the suite, such as seed or limits.solve,
// replaces what the suite says; methods, objectives and references replace those
// of every source too. A key of a source, such as slice.jobs, with one value
// replaces it in every source that builds instances from a trace, and with
// several sweeps it as the matrix does; after a source's name, as in small.slice.jobs, it
// is set there alone. only and only.methods leave the families and methods that they
// name. scale multiplies the number of jobs of every slice. draw is another draw of
// everything random: the suite's seed, and that of every generated trace.
func (s *Suite) override(settings []string) error {
	settings = slices.Clone(settings)
	slices.SortStableFunc(settings, func(a, b string) int {
		keyA, _, _ := strings.Cut(a, "=")
		keyB, _, _ := strings.Cut(b, "=")
		return cmp.Compare(s.rank(keyA), s.rank(keyB))
	})
	s.typed = map[string]bool{}
	for _, setting := range settings {
		key, text, ok := strings.Cut(setting, "=")
		if !ok || key == "" || text == "" {
			return fmt.Errorf("--set %s: it must be key=value or key=value,value, such as slice.jobs=8,16", setting)
		}
		if key == "only" || key == "only.methods" {
			if err := s.choose(key, splitList(text)); err != nil {
				return fmt.Errorf("--set %s: %w", setting, err)
			}
			continue
		}
		var values []any
		for _, v := range splitList(text) {
			var value any
			if err := DecodeYAML([]byte(v), &value); err != nil {
				return fmt.Errorf("--set %s: %w", setting, err)
			}
			values = append(values, value)
		}
		if err := s.set(key, values); err != nil {
			return fmt.Errorf("--set %s: %w", setting, err)
		}
	}
	if s.Matrix != nil && len(s.Matrix.Axes) == 0 {
		s.Matrix = nil
	}
	return nil
}

func (s *Suite) set(key string, values []any) error {
	s.typed[key] = true
	if src, i, rest := s.ofFamily(key); src != nil {
		return s.setOf(src, i, rest, values)
	}
	if err := s.unknownFamily(key); err != nil {
		return err
	}
	s.source.places.forget(key)
	s.source.places.forget("matrix." + key)
	for i := range s.Instances {
		s.source.places.forget(fmt.Sprintf("instances[%d].%s", i, key))
	}
	switch top, _, _ := strings.Cut(key, "."); top {
	case "methods", "objectives", "references":
		for i := range s.Instances {
			s.Instances[i].Methods = unless(key == "methods", s.Instances[i].Methods)
			s.Instances[i].Objectives = unless(key == "objectives", s.Instances[i].Objectives)
			s.Instances[i].References = unless(key == "references", s.Instances[i].References)
		}
		return s.decode(key, values)
	case "name", "seed", "fresh", "limits":
		if len(values) != 1 {
			return errors.New("it takes one value")
		}
		return s.decode(key, values[0])
	case "scale":
		return s.scale(values)
	case "draw":
		return s.draw(values)
	case "apiVersion", "instances", "matrix":
		return errors.New("it can be changed in the suite's file alone")
	}
	if s.Matrix == nil {
		s.Matrix = &Matrix{}
	}
	for i := range s.Matrix.Axes {
		if s.Matrix.Axes[i].Key == key {
			s.Matrix.Axes[i].Values = values
			return nil
		}
	}
	if len(values) > 1 {
		s.Matrix.Axes = append(s.Matrix.Axes, Axis{key, values})
		return nil
	}
	// A source whose model does not know the key keeps what it has, if another does.
	var refused error
	known := false
	for i := range s.Instances {
		with, err := s.Instances[i].with(key, values[0])
		if err != nil {
			return err
		}
		if err := with.misplaced(key); err != nil {
			refused = cmp.Or(refused, fmt.Errorf("%q %w", s.Instances[i].Name, err))
			continue
		}
		s.Instances[i], known = with, true
	}
	if known {
		return nil
	}
	return refused
}

// draw sets the seeds of the suite and of its generated traces.
func (s *Suite) draw(values []any) error {
	seed, ok := values[0].(uint64)
	if !ok || len(values) != 1 {
		return errors.New("it takes one seed, a whole number")
	}
	for i := range s.Instances {
		src := &s.Instances[i]
		if _, _, ok, _ := generated(src.Trace); !ok {
			continue
		}
		name, query, _ := strings.Cut(src.Trace, "?")
		knobs := slices.DeleteFunc(strings.Split(query, "&"), func(knob string) bool { return strings.HasPrefix(knob, "seed=") })
		src.Trace = name + "?" + strings.Join(append(knobs, fmt.Sprint("seed=", seed)), "&")
	}
	return s.decode("seed", seed)
}

// scale multiplies the number of jobs of every slice, swept or not, and rounds it
// down to at least one. Servers that have a capacity together, a share of what the jobs
// ask for, become fewer alike, and keep their size.
func (s *Suite) scale(values []any) error {
	factor, err := strconv.ParseFloat(fmt.Sprint(values[0]), 64)
	if err != nil || len(values) != 1 || !(factor > 0) || math.IsInf(factor, 1) {
		return errors.New("it takes one positive number")
	}
	scaled := func(jobs int) int { return max(int(float64(jobs)*factor), 1) }
	for i := range s.Instances {
		if src := &s.Instances[i]; src.Slice.Jobs > 0 {
			src.Slice.Jobs = scaled(src.Slice.Jobs)
			if src.Capacity > 0 {
				src.Cluster.Servers = scaled(src.Cluster.Servers)
			}
		}
	}
	if s.Matrix == nil {
		return nil
	}
	for _, axis := range s.Matrix.Axes {
		for i, v := range axis.Values {
			if jobs, ok := v.(uint64); ok && axis.Key == "slice.jobs" {
				axis.Values[i] = uint64(scaled(int(jobs)))
			}
		}
	}
	for _, setting := range slices.Concat(s.Matrix.Include, s.Matrix.Exclude) {
		if jobs, ok := setting["slice.jobs"].(uint64); ok {
			setting["slice.jobs"] = uint64(scaled(int(jobs)))
		}
	}
	return nil
}

func unless[T any](condition bool, list []T) []T {
	if condition {
		return nil
	}
	return list
}

// decode decodes a value into the field that a path such as limits.solve names.
func (s *Suite) decode(path string, value any) error {
	if path == "methods" {
		s.Methods = nil
	}
	data, err := yaml.Marshal(nest(path, value))
	if err != nil {
		return err
	}
	_, err = decodeStrictly(data, s)
	return err
}
