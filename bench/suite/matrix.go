package suite

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml"

	"yardstick/bench/record"
)

// Matrix sweeps parameters of the sources that build instances from a trace.
// Its keys are paths into a source, such as cluster.inter, and its values
// lists. Every combination of one value per key makes a copy of each source;
// those that match an entry of exclude are left out, those of include are
// added.
//
//	matrix:
//	  cluster.inter: [1Gbps, 10Gbps]
//	  slice.jobs: [4, 8]
//	  exclude: [{cluster.inter: 1Gbps, slice.jobs: 8}]
//	  include: [{cluster.inter: 50Gbps, slice.jobs: 4}]
type Matrix struct {
	Axes    []Axis    `json:"axes,omitempty"`
	Include []Setting `json:"include,omitempty"`
	Exclude []Setting `json:"exclude,omitempty"`
}

// Axis is one swept key with its values, in the suite's order.
type Axis struct {
	Key    string `json:"key"`
	Values []any  `json:"values"`
}

// Setting maps swept keys to values.
type Setting map[string]any

// keyType says that every swept key takes a list.
func (Matrix) keyType(key string) reflect.Type {
	if key == "include" || key == "exclude" {
		return nil
	}
	return reflect.TypeFor[[]any]()
}

// path is the path of one of the axis's values in the suite, or of the axis if it is
// not listed there.
func (a *Axis) path(value string) string {
	path := "matrix." + a.Key
	for i, v := range a.Values {
		if fmt.Sprint(v) == value {
			return fmt.Sprintf("%s[%d]", path, i)
		}
	}
	return path
}

// UnmarshalYAML reads the axes in the order of the file.
func (m *Matrix) UnmarshalYAML(decode func(any) error) error {
	var items yaml.MapSlice
	if err := decode(&items); err != nil {
		return err
	}
	var rest struct {
		Include []Setting `yaml:"include"`
		Exclude []Setting `yaml:"exclude"`
	}
	for _, item := range items {
		key := fmt.Sprint(item.Key)
		if key == "include" || key == "exclude" {
			continue
		}
		values, ok := item.Value.([]any)
		if !ok || len(values) == 0 {
			return &Error{Path: "matrix." + key, Err: fmt.Errorf("matrix.%s must be a list of values, such as [1, 2]", key)}
		}
		m.Axes = append(m.Axes, Axis{key, values})
	}
	if err := decodeLoosely(items, &rest); err != nil {
		return &Error{Path: "matrix", Err: fmt.Errorf("matrix: include and exclude are lists of settings, such as [{slice.jobs: 4}]: %w", err)}
	}
	m.Include, m.Exclude = rest.Include, rest.Exclude
	return m.validate()
}

// decodeLoosely reads the known keys of a mapping and ignores the others.
func decodeLoosely(items yaml.MapSlice, into any) error {
	data, err := yaml.Marshal(items)
	if err != nil {
		return err
	}
	return DecodeYAML(data, into)
}

func (m *Matrix) validate() error {
	if len(m.Axes) == 0 {
		return &Error{Path: "matrix", Err: errors.New("matrix has no keys to sweep, such as cluster.inter: [1Gbps, 10Gbps]")}
	}
	for i, s := range slices.Concat(m.Include, m.Exclude) {
		path := fmt.Sprintf("matrix.include[%d]", i)
		if i >= len(m.Include) {
			path = fmt.Sprintf("matrix.exclude[%d]", i-len(m.Include))
		}
		for _, key := range slices.Sorted(maps.Keys(s)) {
			if !slices.ContainsFunc(m.Axes, func(a Axis) bool { return a.Key == key }) {
				return &Error{Path: path + "." + key, OfKey: true, Err: fmt.Errorf("matrix: include and exclude mention %q, which is not one of the swept keys", key)}
			}
		}
		if i < len(m.Include) && len(s) != len(m.Axes) {
			return &Error{Path: path, Err: fmt.Errorf("matrix.include: %v must give every swept key a value", s)}
		}
	}
	return nil
}

// settings lists the combinations: products of the axes, the last key varying
// fastest, less the excluded ones, then the included ones.
func (m *Matrix) settings() []Setting {
	all := []Setting{{}}
	for _, axis := range m.Axes {
		var next []Setting
		for _, s := range all {
			for _, v := range axis.Values {
				with := maps.Clone(s)
				with[axis.Key] = v
				next = append(next, with)
			}
		}
		all = next
	}
	all = slices.DeleteFunc(all, func(s Setting) bool {
		return slices.ContainsFunc(m.Exclude, func(hole Setting) bool { return s.matches(hole) })
	})
	for _, s := range m.Include {
		if !slices.ContainsFunc(all, func(old Setting) bool { return old.matches(s) }) {
			all = append(all, s)
		}
	}
	return all
}

// matches reports whether s has every value of the pattern.
func (s Setting) matches(pattern Setting) bool {
	for key, v := range pattern {
		if fmt.Sprint(s[key]) != fmt.Sprint(v) {
			return false
		}
	}
	return true
}

// Params lists the swept parameters as columns of the result.
func (m *Matrix) Params() []record.Param {
	var out []record.Param
	for _, axis := range m.Axes {
		number := true
		for _, v := range axis.Values {
			switch v.(type) {
			case uint64, int64, float64:
			default:
				number = false
			}
		}
		out = append(out, record.Param{Name: axis.Key, Number: number})
	}
	return out
}
