package suite

import (
	"bytes"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// DecodeYAML decodes a text that is no suite: unknown keys are ignored.
//
// Errors: it is not YAML, or more than one document.
func DecodeYAML(data []byte, into any) (err error) {
	defer panicked(&err)
	if err := check(data, nil); err != nil {
		return err
	}
	return yaml.Unmarshal(data, into)
}

// decodeStrictly decodes (a part of) a suite. What the YAML reader would drop or
// make fit without a word is an error: unknown and repeated keys, all that the
// checker refuses.
func decodeStrictly(data []byte, into any) (err error) {
	defer panicked(&err)
	if err := check(data, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	return yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.UseJSONUnmarshaler()).Decode(into)
}

// panicked makes an error of a panic: the YAML reader has some on texts that are
// not YAML, which fuzzing finds.
func panicked(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("this is not YAML: the reader fails with %v", p)
	}
}

// keyError is a value that a key cannot have.
type keyError struct {
	path    string
	token   *token.Token
	message string
}

func (e *keyError) Error() string {
	if e.path == "" {
		return e.message
	}
	return e.path + ": " + e.message
}

// checker holds a document against the type that it is decoded into.
type checker struct {
	anchors map[string]ast.Node
	err     error
}

// deepest is how deep values may lie; an alias of what it is part of lies deeper.
const deepest = 50

// check finds what the YAML reader would take for something else: a second
// document; where the type is known, a number with a fraction or in quotes for a
// whole number, and texts, lists and numbers that are empty or no numbers. What is
// not YAML, and what is of another kind altogether, the reader says better.
func check(data []byte, t reflect.Type) error {
	file, err := parseYAML(data)
	if err != nil {
		return nil
	}
	if err := oneDocument(data); err != nil {
		return err
	}
	c := &checker{anchors: map[string]ast.Node{}}
	if t != nil && len(file.Docs) > 0 && file.Docs[0].Body != nil {
		c.value(file.Docs[0].Body, t, "", 0)
	}
	return c.err
}

// oneDocument looks at the tokens, because the reader drops whatever follows an
// empty document.
func oneDocument(data []byte) error {
	content, ended := false, false
	for _, tk := range lexer.Tokenize(string(data)) {
		switch {
		case tk.Type == token.DirectiveType:
			return &keyError{"", tk, "directives such as %YAML are not read: drop the line"}
		case tk.Type == token.CommentType:
		case tk.Type == token.DocumentHeaderType, tk.Type == token.DocumentEndType:
			ended = content
		case ended:
			return &keyError{"", tk, "a second YAML document begins here, and one is read: make it a file of its own"}
		default:
			content = true
		}
	}
	return nil
}

// refuse notes the first error.
func (c *checker) refuse(n ast.Node, path, format string, args ...any) {
	if c.err == nil {
		c.err = &keyError{path, n.GetToken(), fmt.Sprintf(format, args...)}
	}
}

// value checks a value of the given type; nil is any.
func (c *checker) value(n ast.Node, t reflect.Type, path string, depth int) {
	if depth > deepest {
		c.refuse(n, "", "values lie more than %d deep here: is an alias part of itself?", deepest)
		return
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		c.anchors[n.Name.GetToken().Value] = n.Value
		c.value(n.Value, t, path, depth+1)
	case *ast.AliasNode:
		if to := c.anchors[n.Value.GetToken().Value]; to != nil {
			c.value(to, t, path, depth+1)
		}
	case *ast.TagNode:
		c.refuse(n, path, "tags such as %s are not read: write the value alone", n.GetToken().Value)
	case *ast.MappingNode:
		for _, v := range n.Values {
			c.entry(v, t, path, depth)
		}
	case *ast.MappingValueNode:
		c.entry(n, t, path, depth)
	case *ast.SequenceNode:
		c.list(n, t, path, depth)
	default:
		c.scalar(n, t, path)
	}
}

// entry checks one key of a mapping and its value.
func (c *checker) entry(n *ast.MappingValueNode, t reflect.Type, path string, depth int) {
	if _, merge := n.Key.(*ast.MergeKeyNode); merge {
		c.value(n.Value, t, path, depth+1)
		return
	}
	key := n.Key.GetToken().Value
	if t == reflect.TypeFor[SharingRef]() && key == "load" {
		c.refuse(n.Key, strings.TrimPrefix(path+".load", "."), "it is called rate now, sharing.rate, as it says how often jobs come; offeredLoad sets an offered load")
	}
	inner := strings.TrimPrefix(path+"."+key, ".")
	c.value(n.Value, innerType(t, key), inner, depth+1)
}

// innerType returns the type of what a key leads to, or nil: then any value will do
// here, and the key's own reader judges it.
func innerType(t reflect.Type, key string) reflect.Type {
	switch {
	case t == nil:
		return nil
	case t == reflect.TypeFor[Matrix]():
		if key == "include" || key == "exclude" {
			return nil
		}
		return reflect.TypeFor[[]any]()
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name == key && name != "-" {
				return t.Field(i).Type
			}
		}
	}
	return nil
}

// list checks a list. An empty one says nothing, but for references: there it says
// that there are none.
func (c *checker) list(n *ast.SequenceNode, t reflect.Type, path string, depth int) {
	if len(n.Values) == 0 && path != "references" && !strings.HasSuffix(path, "].references") {
		c.refuse(n, path, "the list is empty: give it a value, or drop the key")
	}
	var element reflect.Type
	if t != nil && t.Kind() == reflect.Slice {
		element = t.Elem()
	}
	for i, v := range n.Values {
		c.value(v, element, fmt.Sprintf("%s[%d]", path, i), depth+1)
	}
}

// scalar checks a single value.
func (c *checker) scalar(n ast.Node, t reflect.Type, path string) {
	text := n.GetToken().Value
	switch n := n.(type) {
	case *ast.NullNode:
		c.refuse(n, path, "the key has no value: give it one, or drop it")
		return
	case *ast.NanNode, *ast.InfinityNode:
		c.refuse(n, path, "%q must be a number that is finite", text)
		return
	case *ast.FloatNode:
		if math.IsInf(n.Value, 0) || math.IsNaN(n.Value) {
			c.refuse(n, path, "%q must be a number that is finite", text)
			return
		}
	case *ast.StringNode:
		if strings.TrimSpace(n.Value) == "" {
			c.refuse(n, path, "the text is empty: give the key a value, or drop it")
			return
		}
	}
	if _, isText := n.(*ast.StringNode); t == reflect.TypeFor[time.Duration]() && !isText {
		c.refuse(n, path, "%q must be %s", text, wanted(t))
		return
	}
	if t == nil || pattern(t) != "" || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return // it reads itself
	}
	integer, isInteger := n.(*ast.IntegerNode)
	_, isFloat := n.(*ast.FloatNode)
	_, isBool := n.(*ast.BoolNode)
	switch kind := t.Kind(); {
	case kind >= reflect.Int && kind <= reflect.Uint64:
		if !isInteger || !fitsInto(integer.Value, t) {
			c.refuse(n, path, "%q must be %s", text, wanted(t))
		}
	case kind == reflect.Float64 && !isInteger && !isFloat, kind == reflect.Bool && !isBool:
		c.refuse(n, path, "%q must be %s", text, wanted(t))
	}
}

// fitsInto reports whether a whole number is one of the type.
func fitsInto(v any, t reflect.Type) bool {
	switch v := v.(type) {
	case int64:
		return t.Kind() < reflect.Uint || v >= 0
	case uint64:
		return t.Kind() >= reflect.Uint || v <= math.MaxInt64
	}
	return false // beyond 64 bits
}
