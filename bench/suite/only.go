package suite

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// choose notes a setting only=FAMILY,FAMILY or only.methods=METHOD,METHOD.
func (s *Suite) choose(key string, names []string) error {
	if slices.Contains(names, "") {
		return errors.New("a name in the list is empty")
	}
	switch key {
	case "only":
		s.choice.families = append(s.choice.families, names...)
	case "only.methods":
		s.choice.methods = append(s.choice.methods, names...)
	}
	return nil
}

// narrow leaves the chosen families and methods. References stay: ratios are over them.
// Families that have none of the methods are left out.
func (s *Suite) narrow() error {
	var families, methods []string
	for i := range s.Instances {
		families = append(families, s.Instances[i].Name)
		for _, m := range s.Instances[i].Methods {
			methods = append(methods, m.Name, m.String())
		}
	}
	if err := allKnown("family", s.choice.families, families); err != nil {
		return err
	}
	if err := allKnown("method", s.choice.methods, methods); err != nil {
		return err
	}
	if len(s.choice.families) > 0 {
		s.Instances = slices.DeleteFunc(s.Instances, func(src Source) bool { return !slices.Contains(s.choice.families, src.Name) })
	}
	if len(s.choice.methods) == 0 {
		return nil
	}
	chosen := func(list []MethodRef) (kept []MethodRef) {
		for _, m := range list {
			if slices.Contains(s.choice.methods, m.Name) || slices.Contains(s.choice.methods, m.String()) {
				kept = append(kept, m)
			}
		}
		return kept
	}
	s.Methods = chosen(s.Methods)
	for i := range s.Instances {
		s.Instances[i].Methods = chosen(s.Instances[i].Methods)
	}
	s.Instances = slices.DeleteFunc(s.Instances, func(src Source) bool { return len(src.Methods) == 0 })
	if len(s.Instances) == 0 {
		return fmt.Errorf("only: no family of %s has a method of %s", strings.Join(s.choice.families, ", "), strings.Join(s.choice.methods, ", "))
	}
	return nil
}

// allKnown returns an error about the first name that is not among those that there are.
func allKnown(what string, names, known []string) error {
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		slices.Sort(known)
		known = slices.Compact(known)
		if near := Nearest(name, known); near != "" {
			return fmt.Errorf("only: the suite has no %s %q: the nearest is %q", what, name, near)
		}
		return fmt.Errorf("only: the suite has no %s %q: it has %s", what, name, strings.Join(known, ", "))
	}
	return nil
}

// ofFamily splits a setting's key such as small.slice.jobs into the source of that
// name and the key of it. The first word of a key is never taken for a source's name.
func (s *Suite) ofFamily(key string) (src *Source, i int, rest string) {
	if top, _, _ := strings.Cut(key, "."); isKey(top) {
		return nil, 0, ""
	}
	for k := range s.Instances { // names may have dots too: the longest counts
		name := s.Instances[k].Name
		if inner, ok := strings.CutPrefix(key, name+"."); ok && (src == nil || len(name) > len(src.Name)) {
			src, i, rest = &s.Instances[k], k, inner
		}
	}
	return src, i, rest
}

// rank is that of a setting's key: all families before one alone.
func (s *Suite) rank(key string) int {
	if src, _, rest := s.ofFamily(key); src != nil {
		return 2 + rank(rest)
	}
	return rank(key)
}

// isKey reports whether a key of a suite or of its sources begins with the word.
func isKey(top string) bool {
	for _, t := range []reflect.Type{reflect.TypeFor[Suite](), reflect.TypeFor[Source]()} {
		if innerType(t, top) != nil {
			return true
		}
	}
	return slices.Contains([]string{"scale", "draw", "only"}, top)
}

// setOf sets a key of the i-th source alone.
func (s *Suite) setOf(src *Source, i int, key string, values []any) error {
	var value any = values
	switch key {
	case "methods":
		src.Methods = nil
	case "objectives":
		src.Objectives = nil
	case "references":
		src.References = nil
	default:
		if len(values) != 1 {
			return errors.New("a key of one family takes one value: a sweep is of all families that know the key")
		}
		value = values[0]
	}
	if s.Matrix != nil && slices.ContainsFunc(s.Matrix.Axes, func(a Axis) bool { return a.Key == key }) {
		return fmt.Errorf("the matrix sweeps %s: set it for all families, with --only %s for this one alone", key, src.Name)
	}
	with, err := src.with(key, value)
	if err != nil {
		return err
	}
	if err := with.misplaced(key); err != nil {
		return fmt.Errorf("%q %w", src.Name, err)
	}
	s.source.places.forget(fmt.Sprintf("instances[%d].%s", i, key))
	*src = with
	return nil
}

// unknownFamily says which family a key such as smal.slice.jobs may mean, if what follows
// the first dot is a key of sources.
func (s *Suite) unknownFamily(key string) error {
	name, rest, _ := strings.Cut(key, ".")
	top, _, _ := strings.Cut(rest, ".")
	if isKey(name) || innerType(reflect.TypeFor[Source](), top) == nil {
		return nil
	}
	var families []string
	for i := range s.Instances {
		families = append(families, s.Instances[i].Name)
	}
	if near := Nearest(name, families); near != "" {
		return fmt.Errorf("the suite has no family %q: the nearest is %q", name, near)
	}
	return fmt.Errorf("the suite has no family %q: it has %s", name, strings.Join(families, ", "))
}
