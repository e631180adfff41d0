// Package strictjson reads JSON that results rest on. Package encoding/json takes
// the last of two equal keys and takes "Value" for "value", so that one document
// can say different things to different readers. Here a document has one meaning or
// none: a repeated key, a key in another case, an unknown key, text that is not
// UTF-8 and anything after the value are errors. Otherwise values decode as in
// package encoding/json, whose tags and methods count.
package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"yardstick/internal/input"
)

// options are those in which the decoder is to be as package encoding/json.
var options = jsonv1.FormatDurationAsNano(true)

// Unmarshal decodes the one JSON value in data into the value that v points to.
//
// Errors are an *Error.
func Unmarshal(data []byte, v any) error {
	if err := fits(data); err != nil {
		return err
	}
	if bytes.Contains(data, []byte("null")) {
		c := nullChecker{jsontext.NewDecoder(bytes.NewReader(data), options), map[reflect.Type]typeShape{}}
		if err := c.check(reflect.TypeOf(v)); err != nil {
			return explained(data, err)
		}
	}
	return explained(data, json.Unmarshal(data, v, options, json.RejectUnknownMembers(true)))
}

// errNull says why a document is refused in which a number, a text or a switch is null.
var errNull = errors.New("null is no value: leave the key out, or write one")

// nullChecker reads values and refuses null in the place of a number, a text or a switch,
// which decoders take for 0, "" or false.
type nullChecker struct {
	*jsontext.Decoder
	known map[reflect.Type]typeShape // a document has few types, and many values of each
}

// typeShape is what a type is to the decoder.
type typeShape struct {
	decodesItself bool
	fields        map[string]reflect.Type // of a struct
}

func (d *nullChecker) shape(t reflect.Type) typeShape {
	s, ok := d.known[t]
	if !ok {
		if s.decodesItself = decodesItself(t); t.Kind() == reflect.Struct {
			s.fields = fieldsOf(t)
		}
		d.known[t] = s
	}
	return s
}

// check reads a value of a type.
func (d *nullChecker) check(t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer && d.PeekKind() != 'n' {
		t = t.Elem()
	}
	if t == nil {
		return d.SkipValue()
	}
	shape := d.shape(t)
	if shape.decodesItself {
		return d.SkipValue()
	}
	switch kind := d.PeekKind(); {
	case kind == 'n' && (t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 || t.Kind() == reflect.String):
		if err := d.SkipValue(); err != nil {
			return err
		}
		return &json.SemanticError{JSONPointer: d.StackPointer(), ByteOffset: d.InputOffset() - int64(len("null")), Err: errNull}
	case kind == '{' && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map):
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return err
			}
			member := shape.fields[name.String()]
			if t.Kind() == reflect.Map {
				member = t.Elem()
			}
			if err := d.check(member); err != nil {
				return err
			}
		}
		_, err := d.ReadToken()
		return err
	case kind == '[' && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		for d.PeekKind() != ']' {
			if err := d.check(t.Elem()); err != nil {
				return err
			}
		}
		_, err := d.ReadToken()
		return err
	}
	return d.SkipValue()
}

var unmarshalers = []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[json.UnmarshalerFrom]()}

// decodesItself reports whether a type has a method that says what null means to it.
func decodesItself(t reflect.Type) bool {
	return slices.ContainsFunc(unmarshalers, func(u reflect.Type) bool { return t.Implements(u) || reflect.PointerTo(t).Implements(u) })
}

// fits returns an error about a document of more objects than a job each would take,
// which are empty ones: a value in memory is a hundred times as large as its two
// brackets.
func fits(data []byte) error {
	most, err := input.Jobs.Value(int64(len(data)))
	if err != nil {
		return &Error{Line: 1, Text: err.Error()}
	}
	if n := int64(bytes.Count(data, []byte("{"))); n > most {
		return &Error{Line: 1, Text: fmt.Sprintf("there are %d objects, more than the %d that are read; $%s raises that", n, most, input.Jobs.Variable)}
	}
	return nil
}

// Read is Unmarshal of all that r has.
func Read(r io.Reader, v any) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return Unmarshal(data, v)
}

// UnmarshalPart is Unmarshal for a document of which v has a part only, such as
// files of other programs: keys that v does not have are passed over, unless they
// are v's in another case.
//
// Errors are an *Error.
func UnmarshalPart(data []byte, v any) error {
	if err := fits(data); err != nil {
		return err
	}
	d := jsontext.NewDecoder(bytes.NewReader(data), options)
	if err := checkNames(d, reflect.TypeOf(v)); err != nil {
		return explained(data, err)
	}
	return explained(data, json.Unmarshal(data, v, options))
}

// checkNames reads a value and refuses keys that are those of type t in another
// case only.
func checkNames(d *jsontext.Decoder, t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch kind := d.PeekKind(); {
	case kind == '{' && t != nil && t.Kind() == reflect.Struct:
		return checkObject(d, fieldsOf(t), nil)
	case kind == '{' && t != nil && t.Kind() == reflect.Map:
		return checkObject(d, nil, t.Elem())
	case kind == '[' && t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		for d.PeekKind() != ']' {
			if err := checkNames(d, t.Elem()); err != nil {
				return err
			}
		}
		_, err := d.ReadToken()
		return err
	}
	return d.SkipValue()
}

// checkObject reads an object whose members have the types of the fields, or all of
// them the type of elements.
func checkObject(d *jsontext.Decoder, fields map[string]reflect.Type, element reflect.Type) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		t, known := fields[name]
		if element != nil {
			t, known = element, true
		}
		if !known {
			for field := range fields {
				if strings.EqualFold(field, name) {
					return &json.SemanticError{ByteOffset: d.InputOffset(), JSONPointer: d.StackPointer(), Err: json.ErrUnknownName}
				}
			}
		}
		if err := checkNames(d, t); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// fieldsOf returns the types of a struct's fields by their keys.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields[name] = f.Type
	}
	return fields
}

// explained words an error of the decoder for who wrote the text.
func explained(data []byte, err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	offset, what := int64(0), ""
	switch {
	case errors.As(err, &semantic):
		offset, what = semantic.ByteOffset, semanticText(semantic)
	case errors.As(err, &syntactic):
		offset, what = syntactic.ByteOffset, syntacticText(data, syntactic)
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		what = "the JSON ends too early"
	default:
		what = err.Error()
	}
	// Offsets are in front of the space before the value.
	offset = min(offset, int64(len(data)))
	offset += int64(len(data[offset:]) - len(bytes.TrimLeft(data[offset:], " \t\r\n,:")))
	if offset == int64(len(data)) {
		offset = int64(len(bytes.TrimRight(data, " \t\r\n")))
	}
	return &Error{Line: 1 + bytes.Count(data[:offset], []byte("\n")), Text: what}
}

// Error says what is wrong with a document.
type Error struct {
	Line int    // from 1
	Text string // one line, with the path of the value
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

func semanticText(e *json.SemanticError) string {
	at := path(e.JSONPointer)
	switch {
	case errors.Is(e.Err, json.ErrUnknownName):
		return fmt.Sprintf("unknown key %s", at)
	case e.Err != nil && !isKindError(e.Err):
		return fmt.Sprintf("%s: %v", at, e.Err)
	}
	kind := map[jsontext.Kind]string{'n': "null", 't': "true", 'f': "false", '"': "a text", '0': "a number", '{': "an object", '[': "a list"}[e.JSONKind]
	if kind == "" {
		return fmt.Sprintf("%s: %v", at, e.Err)
	}
	if len(e.JSONValue) > 0 && len(e.JSONValue) < 40 {
		kind += " " + string(e.JSONValue)
	}
	return fmt.Sprintf("%s cannot be %s", at, kind)
}

// isKindError reports whether a value is of the wrong kind or beyond the range, about
// which the decoder's own words add nothing.
func isKindError(err error) bool {
	return errors.Is(err, strconv.ErrRange) || errors.Is(err, strconv.ErrSyntax) || strings.HasSuffix(err.Error(), "must be string type")
}

func syntacticText(data []byte, e *jsontext.SyntacticError) string {
	switch {
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("the key %s is there twice", path(e.JSONPointer))
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		return "the JSON ends too early"
	case strings.Contains(e.Err.Error(), "after top-level value"):
		return "there is more after the JSON value"
	}
	return fmt.Sprintf("no JSON: %v", e.Err)
}

// path writes a JSON pointer as in jobs[3].weight.
func path(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 32); err == nil && b.Len() > 0 {
			fmt.Fprintf(&b, "[%s]", token)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strings.ToValidUTF8(strings.Map(printable, token), "?"))
	}
	if b.Len() == 0 {
		return "the value"
	}
	return b.String()
}

func printable(r rune) rune {
	if strconv.IsPrint(r) {
		return r
	}
	return '?'
}
