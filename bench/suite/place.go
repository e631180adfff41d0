package suite

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/printer"
	"github.com/goccy/go-yaml/token"
)

// describeYAML says what is wrong in a suite's text, where, and what would be
// right: the nearest key, or what a value must be.
func describeYAML(err error, data []byte) error {
	var unknown *yaml.UnknownFieldError
	var mistyped *yaml.TypeError
	var refused *keyError
	switch {
	case errors.As(err, &refused):
		return at(refused.token, refused.Error())
	case errors.As(err, &unknown):
		_, rest, _ := strings.Cut(unknown.GetMessage(), `"`)
		key, _, _ := strings.Cut(rest, `"`)
		switch best := Nearest(key, suiteKeys()); best {
		case "":
			return err
		case key:
			return fmt.Errorf("%w\nthere is such a key, but not here: bench config schema says where", err)
		default:
			return fmt.Errorf("%w\nthe nearest key is %q", err, best)
		}
	case errors.As(err, &mistyped):
		return at(mistyped.Token, fmt.Sprintf("%q must be %s", mistyped.Token.Value, wanted(mistyped.DstType)))
	}
	if tk := mentioned(err, data); tk != nil { // a value that a type of ours refused
		return at(tk, err.Error())
	}
	return err
}

// at puts a message before the line that it is about.
func at(tk *token.Token, message string) error {
	var p printer.Printer
	return fmt.Errorf("[%d:%d] %s\n%s", tk.Position.Line, tk.Position.Column, message, p.PrintErrorToken(tk, false))
}

// Locate returns an error with the place of the value that it mentions in quotes,
// if the suite's text has it, after the file's name.
func (s *Suite) Locate(err error) error {
	if located := s.source.bare(err); located != err {
		return fmt.Errorf("%s: %w", s.source.name, located)
	}
	return err
}

// bare does so without the file's name.
func (s source) bare(err error) error {
	if tk := mentioned(err, s.data); tk != nil {
		return at(tk, err.Error())
	}
	return err
}

// mentioned finds the value in a suite's text that a message mentions in quotes:
// the last in the message, which is what the others lead to.
func mentioned(err error, data []byte) *token.Token {
	file, parseErr := parseYAML(data)
	if parseErr != nil {
		return nil
	}
	f := &finder{message: err.Error(), place: -1}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			ast.Walk(f, doc.Body)
		}
	}
	return f.found
}

func parseYAML(data []byte) (file *ast.File, err error) {
	defer panicked(&err)
	return parser.ParseBytes(data, 0)
}

type finder struct {
	message string
	found   *token.Token
	place   int // in the message
}

// Visit implements ast.Visitor.
func (f *finder) Visit(n ast.Node) ast.Visitor {
	if _, scalar := n.(ast.ScalarNode); scalar {
		tk := n.GetToken()
		if place := strings.LastIndex(f.message, strconv.Quote(tk.Value)); place > f.place {
			f.found, f.place = tk, place
		}
	}
	return f
}

// suiteKeys lists every key of a suite file, wherever it stands.
func suiteKeys() []string {
	var keys []string
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name != "" && name != "-" {
				keys = append(keys, name)
				walk(t.Field(i).Type)
			}
		}
	}
	walk(reflect.TypeFor[Suite]())
	return keys
}
