package suite

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"yardstick/internal/input"
)

// sweep replaces every source by the copies that the matrix makes of it.
func (s *Suite) sweep() error {
	if s.Matrix == nil {
		return nil
	}
	var out []Source
	swept := map[string]bool{}
	if err := s.Matrix.fits(len(s.Instances)); err != nil {
		return err
	}
	for i, src := range s.Instances {
		copies, err := s.Matrix.expand(src)
		if err != nil {
			return err
		}
		for _, c := range copies {
			if err := c.validate(); err != nil {
				return &Error{Path: s.Matrix.pathOf(&c, err, i), Err: fmt.Errorf("instances[%d] %q with %v: %v", i, src.Name, c.Swept, err)}
			}
			for key := range c.Swept {
				swept[key] = true
			}
		}
		out = append(out, copies...)
	}
	if len(out) == 0 {
		return errors.New("matrix: exclude leaves no combination")
	}
	for _, axis := range s.Matrix.Axes {
		if !swept[axis.Key] {
			return &Error{Path: "matrix." + axis.Key, OfKey: true,
				Err: fmt.Errorf("matrix: no source knows %q: the first %w", axis.Key, s.Instances[0].misplaced(axis.Key))}
		}
	}
	s.Instances = out
	return nil
}

// fits returns an error if the matrix has too many combinations to be listed for so many
// sources.
func (m *Matrix) fits(sources int) error {
	n := float64(1)
	for _, axis := range m.Axes {
		n *= float64(len(axis.Values))
	}
	n = (n + float64(len(m.Include))) * float64(sources)
	if err := input.Combinations.Check(int64(min(n, 1e18)), 0); err != nil {
		return &Error{Path: "matrix", OfKey: true, Err: fmt.Errorf("matrix: with %d sources it %w", sources, err)}
	}
	return nil
}

// pathOf returns the path of what is wrong with a copy of the i-th source: that of a
// swept value, or of the source's own.
func (m *Matrix) pathOf(c *Source, err error, i int) string {
	key, _ := pathOf(err)
	for k := range m.Axes {
		if value, ok := c.Swept[key]; ok && m.Axes[k].Key == key {
			return m.Axes[k].path(value)
		}
	}
	return fmt.Sprintf("instances[%d].%s", i, key)
}

// expand returns the copies of the source that the matrix makes. Keys that its
// model does not know, or its file, are not swept in it.
func (m *Matrix) expand(src Source) ([]Source, error) {
	var out []Source
	made := map[string]bool{}
	axes := slices.Clone(m.Axes)
	slices.SortStableFunc(axes, func(a, b Axis) int { return cmp.Compare(rank(a.Key), rank(b.Key)) })
	for _, s := range m.settings() {
		swept := src
		swept.Swept = map[string]string{}
		for _, axis := range axes {
			with, err := swept.with(axis.Key, s[axis.Key])
			if err != nil {
				path := axis.path(fmt.Sprint(s[axis.Key]))
				if _, ofKey := pathOf(err); ofKey {
					path = "matrix." + axis.Key
				}
				return nil, &Error{Path: path, Err: fmt.Errorf("matrix: %q: %w", axis.Key, err)}
			}
			if with.misplaced(axis.Key) == nil {
				swept = with
				swept.Swept[axis.Key] = fmt.Sprint(s[axis.Key])
			}
		}
		if name := fmt.Sprint(swept.Swept); !made[name] {
			made[name] = true
			out = append(out, swept)
		}
	}
	return out, nil
}

// rank puts the keys first that decide which others a source knows.
func rank(key string) int {
	if key == "model" || key == "profiles" {
		return 0
	}
	return 1
}

// with returns a copy of the source in which a key has another value. The two
// share nothing that decoding writes to.
func (src *Source) with(path string, value any) (Source, error) {
	c := *src
	c.Where = maps.Clone(src.Where)
	c.History, c.SingleShare = clone(src.History), clone(src.SingleShare)
	c.given = slices.Clone(src.given)
	return c, c.Set(path, value)
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// SetText sets a key to a value as a suite's file writes it.
//
// Errors: as for Set.
func (src *Source) SetText(key, text string) error {
	var v any
	if err := DecodeYAML([]byte(text), &v); err != nil || v == nil {
		v = text // such as >=2, which is text without quotes on a command line
	}
	return src.Set(key, v)
}

// Set decodes a value into the field that a path such as cluster.inter names.
//
// Errors: [Error] with no path if the key is wrong, and not its value.
func (src *Source) Set(path string, value any) error {
	if path == "name" || path == "file" {
		return &Error{OfKey: true, Err: fmt.Errorf("%s cannot be swept", path)}
	}
	nested := nest(path, value)
	data, err := yaml.Marshal(nested)
	if err != nil {
		return err
	}
	_, err = decodeStrictly(data, src)
	var refused *keyError
	switch {
	case errors.As(err, &refused) && refused.unknown:
		return &Error{OfKey: true, Err: fmt.Errorf("a source has no such key%s", suggestion(path))}
	case errors.As(err, &refused) && refused.path == path:
		return errors.New(refused.message) // the caller says of which key
	case err != nil:
		return err
	}
	for _, key := range givenKeys(reflect.TypeFor[Source](), nested) {
		if !src.has(key) {
			src.given = append(src.given, key)
		}
	}
	return nil
}

// suggestion names the nearest key that can be swept or set.
func suggestion(path string) string {
	best := Nearest(path, []string{"trace", "slice.jobs", "slice.at", "slice.repeat", "slice.load", "offeredLoad", "cluster.servers", "cluster.gpusPerServer",
		"cluster.inter", "cluster.intra", "round", "iteration", "params", "weights", "history", "model", "singleShare",
		"storage", "startup", "gpuMemory", "seed", "draw", "scale", "name", "methods", "objectives", "references",
		"limits.solve", "limits.nodes", "limits.memory", "limits.cell"})
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": the nearest is %q", best)
}

// nest returns the mapping in which a path such as limits.solve leads to the
// value.
func nest(path string, value any) map[string]any {
	keys := strings.Split(path, ".")
	for _, key := range slices.Backward(keys[1:]) {
		value = map[string]any{key: value}
	}
	return map[string]any{keys[0]: value}
}
