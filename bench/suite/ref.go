package suite

import (
	"fmt"
	"slices"
	"strings"
)

// MethodRef names a method, with parameters: "fifo" or
// {name: fifo, params: {blocking: skip}}.
type MethodRef struct {
	Name   string            `yaml:"name" json:"name"`
	Params map[string]string `yaml:"params" json:"params,omitempty"`
	// As is what results call the method in place of its name and parameters; "" for these.
	As string `yaml:"as" json:"as,omitempty"`
	// Folder is that of the suite's file, for parameters that are paths; "" if it is not
	// from there.
	Folder string `yaml:"-" json:"-"`

	path string // in the suite's text; "" if it is not from there
}

// UnmarshalYAML accepts the short form, a bare name.
func (m *MethodRef) UnmarshalYAML(decode func(any) error) error {
	if err := decode(&m.Name); err == nil {
		return nil
	}
	type plain MethodRef // without this method
	if err := decode((*plain)(m)); err != nil {
		return err
	}
	if strings.Trim(m.As, asCharacters) != "" {
		return wrong("as", "as is %q: it must be made of letters, digits and -_.", m.As)
	}
	return nil
}

// asCharacters are those of names that suites give to methods.
const asCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// String returns the name, with the parameters sorted: "fifo(blocking=skip)"; or what
// the reference is to be called.
func (m MethodRef) String() string {
	if m.As != "" {
		return m.As
	}
	if len(m.Params) == 0 {
		return m.Name
	}
	parts := make([]string, 0, len(m.Params))
	for k, v := range m.Params {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	return m.Name + "(" + strings.Join(parts, ",") + ")"
}

// ParseRefs reads references as String writes them: fifo,sjf(blocking=skip).
func ParseRefs(text string) (refs []MethodRef, err error) {
	for _, part := range splitList(text) {
		name, params, long := strings.Cut(part, "(")
		ref := MethodRef{Name: name}
		if long {
			inner, ok := strings.CutSuffix(params, ")")
			ref.Params = map[string]string{}
			for _, param := range splitList(inner) {
				key, value, given := strings.Cut(param, "=")
				ref.Params[key] = value
				ok = ok && given && key != ""
			}
			if !ok {
				return nil, fmt.Errorf("%q: write a method as name or name(key=value,key=value)", part)
			}
		}
		if part != "" {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

// splitList splits at the commas that are not within brackets or braces, so that a
// method may have parameters: fifo,{name: fifo, params: {blocking: skip}}.
func splitList(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == ',' && depth == 0:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}
